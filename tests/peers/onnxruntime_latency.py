# SPDX-License-Identifier: Apache-2.0
"""Prints the least latency in seconds of an ONNX file under ONNX Runtime: onnxruntime_latency.py MODEL THREADS [RUNS].

Exit code 3 if the package `onnxruntime` is not installed, so that a caller can leave the comparison out.
"""
import sys
import time

try:
    import numpy
    import onnxruntime
except ImportError:
    sys.exit(3)


def main() -> None:
    path, threads, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 50
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    generator = numpy.random.default_rng(1)
    feeds = {}
    for value in session.get_inputs():
        if value.type == "tensor(float)":
            feeds[value.name] = generator.uniform(-1, 1, value.shape).astype(numpy.float32)
        elif value.type == "tensor(int64)":
            feeds[value.name] = generator.integers(0, 2, value.shape, dtype=numpy.int64)
        else:
            sys.exit(f"Expected float32 or int64 inputs, found '{value.name}' of type {value.type}")
    for _ in range(5):
        session.run(None, feeds)
    best = float("inf")
    for _ in range(runs):
        begin = time.perf_counter()
        session.run(None, feeds)
        best = min(best, time.perf_counter() - begin)
    print(best)


main()
