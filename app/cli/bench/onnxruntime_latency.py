# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime as a peer of `tw bench`, which holds this text behind network_latency.py and runs both: MODEL THREADS.

On descriptor 3 it writes its version, or "missing" without the package; then it answers as network_latency.py says.
"""


def main(path, threads):
    answers = os.fdopen(3, "w", buffering=1)
    try:
        import numpy
        import onnxruntime
    except ImportError:
        print("missing", file=answers)
        return
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    kinds = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64}
    feeds = {value.name: random_array(value.name, value.shape, kinds.get(value.type, value.type)) for value in session.get_inputs()}
    answer(answers, onnxruntime.__version__, lambda: session.run(None, feeds))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
