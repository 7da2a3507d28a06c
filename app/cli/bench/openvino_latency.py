# SPDX-License-Identifier: Apache-2.0
"""OpenVINO as a peer of `tw bench`, which holds this text and runs it: MODEL THREADS.

On descriptor 3 it writes its version, or "missing" without the package; then, for each number of seconds read from standard input, the median time of
the runs of so long, at least one. In float32, whatever the processor likes better.
"""
import os
import statistics
import sys
import time


def set_random_inputs(request, inputs):
    import numpy
    import openvino

    generator = numpy.random.default_rng(1)
    for i, value in enumerate(inputs):
        shape, kind = list(value.shape), value.element_type.to_dtype()
        if kind == numpy.float32:
            data = generator.uniform(-1, 1, shape).astype(kind)
        elif kind == numpy.int64:
            data = generator.integers(0, 2, shape, dtype=kind)
        else:
            raise ValueError(f"Expected float32 or int64 inputs, found '{value.any_name}' of type {kind}")
        request.set_input_tensor(i, openvino.Tensor(data))


def main(path, threads):
    answers = os.fdopen(3, "w", buffering=1)
    try:
        import openvino
    except ImportError:
        print("missing", file=answers)
        return
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
    compiled = openvino.Core().compile_model(path, "CPU", settings)
    request = compiled.create_infer_request()
    try:
        set_random_inputs(request, compiled.inputs)
    except ValueError as problem:
        sys.exit(str(problem))
    for _ in range(5):
        request.infer()
    print(openvino.__version__, file=answers)
    for line in sys.stdin:
        end = time.perf_counter() + float(line)
        times = []
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            request.infer()
            times.append(time.perf_counter() - begin)
        print(statistics.median_low(times), file=answers)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
