# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as a peer of `tw bench`, which holds this text behind network_latency.py."""

KINDS = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(double)": "float64", "tensor(bool)": "bool_"}


def feeds_of(session, shapes):
    """Inputs of a session, which names its types in its own way."""
    import numpy

    return {v.name: make_input(shapes[v.name], v.shape, getattr(numpy, KINDS.get(v.type, v.type[len("tensor("):-1]))) for v in session.get_inputs()}


def start(path, threads, shapes):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = feeds_of(session, shapes)
    return onnxruntime.__version__, lambda: session.run(None, feeds)


if __name__ == "__main__":
    serve(start)
