# SPDX-License-Identifier: Apache-2.0
"""Writes the cases of ONNX Runtime's own operators that the tests of the ONNX reader keep: onnxruntime_fixtures.py FOLDER

Each is a folder as ONNX's own cases are: a model of one node, random inputs, and the outputs that ONNX Runtime computes without optimising. Exit code 3 if the packages `onnx` or `onnxruntime`
are not installed.
"""
import os
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper
except ImportError:
    sys.exit(3)

random = np.random.default_rng(7)
DOMAIN = "com.microsoft"


def real(*shape):
    return random.standard_normal(shape).astype(np.float32)


def bytes_of(*shape):
    return random.integers(0, 256, shape).astype(np.uint8)


def signed(*shape):
    return random.integers(-128, 128, shape).astype(np.int8)


def f(v):
    return np.asarray(v, np.float32)


def u8(v):
    return np.asarray(v, np.uint8)


def i8(v):
    return np.asarray(v, np.int8)


def ints(v):
    return np.asarray(v, np.int32)


X = (real(2, 6, 8), )
GROUPED = {"num_heads": 4, "kv_num_heads": 2}
# name, operator, operands (None: absent; a tuple: an input of the model, else a constant), number of outputs or the ones wanted, attributes
CASES = [
    ("bias_gelu", "BiasGelu", [X, real(8)], 1, {}),
    ("fast_gelu", "FastGelu", [X], 1, {}),
    ("fast_gelu_bias", "FastGelu", [X, real(8)], 1, {}),
    ("quick_gelu", "QuickGelu", [X], 1, {"alpha": 1.5}),
    ("gelu", "Gelu", [X], 1, {}),
    ("fused_matmul", "FusedMatMul", [(real(2, 8, 6), ), (real(2, 5, 8), )], 1, {"transA": 1, "transB": 1, "alpha": 0.5}),
    ("fused_gemm", "FusedGemm", [(real(3, 8), ), real(5, 8), real(5)], 1, {"transB": 1, "alpha": 0.5, "activation": "Tanh"}),
    ("fused_gemm_leaky", "FusedGemm", [(real(3, 8), ), real(8, 5)], 1, {"activation": "LeakyRelu", "activation_alpha": 0.2}),
    ("fused_conv_relu", "FusedConv", [(real(1, 4, 6, 7), ), real(8, 4, 3, 3), real(8)], 1, {"activation": "Relu", "pads": [1, 1, 1, 1]}),
    ("fused_conv_leaky", "FusedConv", [(real(1, 4, 6, 7), ), real(8, 2, 3, 3), real(8)], 1,
     {"activation": "LeakyRelu", "activation_params": [0.2], "group": 2, "strides": [2, 2]}),
    ("fused_conv_clip", "FusedConv", [(real(1, 4, 6, 7), ), real(8, 4, 1, 1)], 1, {"activation": "Clip", "activation_params": [-0.5, 0.75]}),
    ("fused_conv_hard_sigmoid", "FusedConv", [(real(1, 4, 6, 7), ), real(8, 4, 1, 1)], 1, {"activation": "HardSigmoid", "activation_params": [0.25, 0.5]}),
    ("fused_conv_sum", "FusedConv", [(real(1, 4, 6, 7), ), real(8, 4, 1, 1), real(8), (real(1, 8, 6, 7), )], 1, {"activation": "Relu"}),
    ("skip_layer_norm", "SkipLayerNormalization", [X, (real(2, 6, 8), ), real(8), real(8), real(8)], (0, 3), {"epsilon": 1e-5}),
    ("skip_layer_norm_bare", "SkipLayerNormalization", [X, (real(6, 8), ), real(8)], 1, {}),
    ("skip_rms_norm", "SkipSimplifiedLayerNormalization", [X, (real(2, 6, 8), ), real(8), real(8)], (0, 3), {"epsilon": 1e-6}),
    ("rms_norm", ":SimplifiedLayerNormalization", [X, real(8)], 1, {"epsilon": 1e-6, "axis": -1}),
    ("embed", "EmbedLayerNormalization",
     [(random.integers(0, 11, (2, 5)).astype(np.int32), ), (random.integers(0, 2, (2, 5)).astype(np.int32), ), real(11, 8), real(9, 8), real(2, 8), real(8), real(8),
      (ints([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]), )], 3, {"epsilon": 1e-5}),
    ("embed_bare", "EmbedLayerNormalization", [(random.integers(0, 11, (2, 5)).astype(np.int32), ), None, real(11, 8), real(9, 8), None, real(8), real(8)], 2, {}),
    ("attention", "Attention", [X, real(8, 24), real(24)], 1, {"num_heads": 2}),
    ("attention_lengths", "Attention", [X, real(8, 24), real(24), (ints([6, 3]), )], 1, {"num_heads": 2}),
    ("attention_mask", "Attention", [X, real(8, 24), real(24), (ints([[1, 1, 1, 1, 0, 0], [1, 0, 1, 1, 1, 1]]), )], 1, {"num_heads": 4, "unidirectional": 1}),
    ("attention_mask3d", "Attention", [X, real(8, 24), real(24), (random.integers(0, 2, (2, 6, 6)).astype(np.int32), )], 1, {"num_heads": 2}),
    ("attention_past", "Attention", [X, real(8, 24), real(24), None, (real(2, 2, 2, 3, 4), )], 2, {"num_heads": 2, "unidirectional": 1}),
    ("attention_bias", "Attention", [X, real(8, 24), real(24), None, None, (real(2, 2, 6, 6), )], 1, {"num_heads": 2, "scale": 0.3}),
    ("attention_sizes", "Attention", [X, real(8, 20), real(20)], 1, {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}),
    ("multi_head", "MultiHeadAttention", [X, (real(2, 5, 8), ), (real(2, 5, 8), ), real(24)], 1, {"num_heads": 2}),
    ("multi_head_cross", "MultiHeadAttention", [X, (real(2, 2, 5, 4), ), (real(2, 2, 5, 4), )], 1, {"num_heads": 2}),
    ("multi_head_mask", "MultiHeadAttention", [X, (real(2, 6, 8), ), (real(2, 6, 8), ), None, (ints([[1, 1, 1, 1, 0, 0], [1, 0, 1, 1, 1, 1]]), )], 1,
     {"num_heads": 2, "mask_filter_value": -1000.0}),
    ("multi_head_lengths", "MultiHeadAttention", [X, (real(2, 6, 8), ), (real(2, 6, 8), ), None, (ints([4, 6]), )], 1, {"num_heads": 2}),
    ("multi_head_past", "MultiHeadAttention",
     [X, (real(2, 6, 8), ), (real(2, 6, 8), ), None, None, (real(1, 2, 6, 9), ), (real(2, 2, 3, 4), ), (real(2, 2, 3, 4), )], 3, {"num_heads": 2, "scale": 0.4}),
    ("rotary", "RotaryEmbedding", [(real(2, 5, 16), ), (np.asarray([[0, 1, 2, 3, 4], [2, 3, 4, 5, 6]], np.int64), ), real(9, 4), real(9, 4)], 1, {}),
    ("rotary_offset", "RotaryEmbedding", [(real(2, 2, 5, 8), ), (np.asarray([3], np.int64), ), real(9, 4), real(9, 4)], 1, {"interleaved": 1}),
    ("rotary_part", "RotaryEmbedding", [(real(2, 5, 16), ), (np.asarray([1], np.int64), ), real(9, 2), real(9, 2)], 1, {"num_heads": 2, "rotary_embedding_dim": 4}),
    ("qlinear_add", "QLinearAdd", [(bytes_of(2, 3, 4), ), f(0.02), u8(120), (bytes_of(2, 1, 4), ), f(0.03), u8(3), f(0.05), u8(90)], 1, {}),
    ("qlinear_add_signed", "QLinearAdd", [(signed(2, 3, 4), ), f(0.02), i8(-7), signed(3, 4), f(0.03), i8(3), f(0.043), i8(0)], 1, {}),
    ("qlinear_mul", "QLinearMul", [(bytes_of(2, 3, 4), ), f(0.02), u8(120), (bytes_of(2, 3, 4), ), f(0.03), u8(128), f(0.08), u8(90)], 1, {}),
    ("qlinear_sigmoid", "QLinearSigmoid", [(bytes_of(2, 3, 4), ), f(0.04), u8(120), f(1 / 256), u8(0)], 1, {}),
    ("qlinear_leaky_relu", "QLinearLeakyRelu", [(bytes_of(2, 3, 4), ), f(0.04), u8(120), f(0.03), u8(60)], 1, {"alpha": 0.1}),
    ("qlinear_softmax", "QLinearSoftmax", [(bytes_of(3, 7), ), f(0.03), u8(120), f(1 / 256), u8(0)], 1, {"axis": -1, "opset": 13}),
    ("qlinear_average_pool", "QLinearAveragePool", [(bytes_of(1, 3, 7, 6), ), f(0.04), u8(120), f(0.03), u8(60)], 1,
     {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("qlinear_global_pool", "QLinearGlobalAveragePool", [(bytes_of(2, 3, 5, 4), ), f(0.04), u8(120), f(0.02), u8(100)], 1, {"channels_last": 0}),
    ("qlinear_concat", "QLinearConcat", [f(0.05), u8(100), (bytes_of(2, 3, 4), ), f(0.04), u8(120), (bytes_of(2, 2, 4), ), f(0.05), u8(90)], 1, {"axis": 1}),
    ("qlinear_conv", "QLinearConv", [(bytes_of(1, 4, 6, 5), ), f(0.02), u8(128), signed(6, 4, 3, 3), f([0.01, 0.02, 0.03, 0.01, 0.02, 0.005]), i8([0] * 6), f(0.2), u8(100)], 1,
     {"pads": [1, 1, 1, 1]}),
    ("qgemm", "QGemm", [(bytes_of(3, 7), ), f(0.02), u8(120), signed(5, 7), f([0.01, 0.02, 0.03, 0.01, 0.02]), i8([0] * 5), ints([10, -300, 20, 1, 4000]), f(0.1), u8(128)], 1,
     {"transB": 1}),
    ("qgemm_float", "QGemm", [(bytes_of(3, 7), ), f(0.02), u8(120), signed(7, 5), f(0.01), i8(3)], 1, {"alpha": 0.5}),
    ("dynamic_matmul", "DynamicQuantizeMatMul", [(real(3, 7), ), bytes_of(7, 5), f(0.01), u8(128), real(5)], 1, {}),
    ("dynamic_matmul_columns", "DynamicQuantizeMatMul", [(real(2, 3, 7), ), signed(7, 5), f([0.01, 0.02, 0.03, 0.01, 0.02])], 1, {}),
    ("matmul_integer_float", "MatMulIntegerToFloat", [(bytes_of(3, 7), ), signed(7, 5), f(0.02), f([0.01, 0.02, 0.03, 0.01, 0.02]), u8(120), i8([0] * 5), real(5)], 1, {}),
    ("matmul_4bits", "MatMulNBits", [(real(2, 3, 48), ), bytes_of(5, 3, 8), np.abs(real(15))], 1, {"K": 48, "N": 5, "bits": 4, "block_size": 16}),
    ("matmul_4bits_zeros", "MatMulNBits", [(real(3, 40), ), bytes_of(5, 3, 8), np.abs(real(15)), bytes_of(10)], 1, {"K": 40, "N": 5, "bits": 4, "block_size": 16}),
    ("matmul_8bits", "MatMulNBits", [(real(3, 32), ), bytes_of(6, 2, 16), np.abs(real(12)), bytes_of(12)], 1, {"K": 32, "N": 6, "bits": 8, "block_size": 16}),
    ("grouped_first", "GroupQueryAttention",
     [(real(2, 5, 64), ), (real(2, 5, 32), ), (real(2, 5, 32), ), None, None, (ints([4, 4]), ), ints(5), real(9, 8), real(9, 8)], 3, {**GROUPED, "do_rotary": 1}),
    ("grouped_first_memory", "GroupQueryAttention",
     [(real(1, 3, 64), ), (real(1, 3, 32), ), (real(1, 3, 32), ), (real(1, 2, 3, 16), ), (real(1, 2, 3, 16), ), (ints([2]), ), ints(3), real(9, 8), real(9, 8)], 3,
     {**GROUPED, "do_rotary": 1, "scale": 0.3}),
    ("grouped_next", "GroupQueryAttention",
     [(real(1, 1, 64), ), (real(1, 1, 32), ), (real(1, 1, 32), ), (real(1, 2, 6, 16), ), (real(1, 2, 6, 16), ), (ints([6]), ), ints(7), real(9, 8), real(9, 8)], 3,
     {**GROUPED, "do_rotary": 1, "rotary_interleaved": 1}),
    ("grouped_packed", "GroupQueryAttention",
     [(real(1, 2, 256), ), None, None, (real(1, 2, 4, 32), ), (real(1, 2, 4, 32), ), (ints([5]), ), ints(6), real(9, 8), real(9, 8)], 3, {**GROUPED, "do_rotary": 1}),
    ("grouped_window", "GroupQueryAttention",
     [(real(1, 6, 64), ), (real(1, 6, 32), ), (real(1, 6, 32), ), None, None, (ints([5]), ), ints(6)], 3, {**GROUPED, "local_window_size": 3, "softcap": 0.7}),
    ("grouped_bias", "GroupQueryAttention",
     [(real(2, 1, 64), ), (real(2, 1, 32), ), (real(2, 1, 32), ), (real(2, 2, 4, 16), ), (real(2, 2, 4, 16), ), (ints([4, 4]), ), ints(5), real(9, 8), real(9, 8),
      (np.asarray([[4], [7]], np.int64), ), (real(1, 4, 1, 5), )], 3, {**GROUPED, "do_rotary": 1}),
    ("grouped_sink", "GroupQueryAttention",
     [(real(1, 4, 64), ), (real(1, 4, 32), ), (real(1, 4, 32), ), None, None, (ints([3]), ), ints(4), None, None, None, None, real(4)], 1, GROUPED),
    ("grouped_smooth", "GroupQueryAttention",
     [(real(1, 4, 64), ), (real(1, 4, 32), ), (real(1, 4, 32), ), None, None, (ints([3]), ), ints(4)], 1, {**GROUPED, "smooth_softmax": 1}),
    ("gather_blocks", "GatherBlockQuantized", [bytes_of(6, 24), (ints([[5, 0, 2], [2, 2, 1]]), ), real(6, 3), bytes_of(6, 2)], 1, {"block_size": 16}),
    ("gather_blocks_plain", "GatherBlockQuantized", [bytes_of(6, 16), (ints([1, 4]), ), real(6, 2)], 1, {"block_size": 16}),
    ("gather_blocks_bytes", "GatherBlockQuantized", [bytes_of(6, 40), (ints([1, -1]), ), real(6, 3), bytes_of(6, 3)], 1, {"block_size": 16, "bits": 8}),
]


def write(folder, name, operator, operands, outputs, attributes):
    inputs, constants, names, feeds = [], [], [], {}
    for i, v in enumerate(operands):
        if v is None:
            names.append("")
            continue
        names.append(f"x{i}")
        if isinstance(v, tuple):
            feeds[names[-1]] = v[0]
            inputs.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(v[0].dtype), v[0].shape))
        else:
            constants.append(numpy_helper.from_array(v, names[-1]))
    wanted = range(outputs) if isinstance(outputs, int) else outputs
    results = [f"y{k}" if k in wanted else "" for k in range(max(wanted) + 1)]
    domain, operator = ("", operator[1:]) if operator.startswith(":") else (DOMAIN, operator)
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    declared = [onnx.ValueInfoProto(name=r) for r in results if r]  # ONNX Runtime finds the types
    model = helper.make_model(helper.make_graph([node], name, inputs, declared, constants), opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)], ir_version=8,
                              producer_name="")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = session.run(None, feeds)
    for info, v in zip(model.graph.output, values, strict=True):
        info.CopyFrom(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape))
    data = os.path.join(folder, name, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    onnx.save(model, os.path.join(folder, name, "model.onnx"))
    for kind, arrays in (("input", [(k, feeds[k]) for k in feeds]), ("output", [(o.name, v) for o, v in zip(model.graph.output, values)])):
        for i, (key, array) in enumerate(arrays):
            with open(os.path.join(data, f"{kind}_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(array, key).SerializeToString())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    onnxruntime.set_default_logger_severity(3)
    for case in CASES:
        write(sys.argv[1], *case)


main()
