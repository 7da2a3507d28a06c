# SPDX-License-Identifier: Apache-2.0
"""OpenVINO as a peer of `tw bench`, which holds this text behind network_latency.py and runs both: MODEL THREADS. In float32, whatever the processor likes better.

On descriptor 3 it writes its version, or "missing" without the package; then it answers as network_latency.py says.
"""


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
    for i, value in enumerate(compiled.inputs):
        request.set_input_tensor(i, openvino.Tensor(random_array(value.any_name, list(value.shape), value.element_type.to_dtype())))
    answer(answers, openvino.__version__, request.infer)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
