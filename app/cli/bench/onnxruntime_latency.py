# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as a peer of `tw bench`, which holds this text and runs it: MODEL THREADS.

On descriptor 3 it writes its version, or "missing" without the package; then, for each number of seconds read from standard input, the median time of
the runs of so long, at least one.
"""
import os
import statistics
import sys
import time


def random_feeds(session):
    import numpy

    generator = numpy.random.default_rng(1)
    feeds = {}
    for value in session.get_inputs():
        if value.type == "tensor(float)":
            feeds[value.name] = generator.uniform(-1, 1, value.shape).astype(numpy.float32)
        elif value.type == "tensor(int64)":
            feeds[value.name] = generator.integers(0, 2, value.shape, dtype=numpy.int64)
        else:
            raise ValueError(f"Expected float32 or int64 inputs, found '{value.name}' of type {value.type}")
    return feeds


def main(path, threads):
    answers = os.fdopen(3, "w", buffering=1)
    try:
        import onnxruntime
    except ImportError:
        print("missing", file=answers)
        return
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    try:
        feeds = random_feeds(session)
    except ValueError as problem:
        sys.exit(str(problem))
    for _ in range(5):
        session.run(None, feeds)
    print(onnxruntime.__version__, file=answers)
    for line in sys.stdin:
        end = time.perf_counter() + float(line)
        times = []
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            session.run(None, feeds)
            times.append(time.perf_counter() - begin)
        print(statistics.median_low(times), file=answers)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
