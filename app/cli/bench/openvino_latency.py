# SPDX-License-Identifier: Apache-2.0
"""OpenVINO as a peer of `tw bench`, which holds this text behind network_latency.py. In float32, whatever the processor likes better."""


def start(path, threads, shapes):
    import openvino

    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({v.any_name: shapes[v.any_name] for v in model.inputs if isinstance(shapes[v.any_name], list)})
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
    compiled = core.compile_model(model, "CPU", settings)
    request = compiled.create_infer_request()
    for i, value in enumerate(compiled.inputs):
        request.set_input_tensor(i, openvino.Tensor(make_input(shapes[value.any_name], list(value.shape), value.element_type.to_dtype().type)))
    return openvino.__version__, request.infer


if __name__ == "__main__":
    serve(start)
