# SPDX-License-Identifier: Apache-2.0
"""Networks of a few random operators in a row, some of which read earlier results, over tensors of any sizes: `network(seed, large)`. Of a single one, which may be rarer: `single(seed, large)`. `large` is 0 for up to 150,000 elements, 1 for up to 1,200,000, 2 for up to 6,000,000.
Imported by random_networks.py."""
import math
import random

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

UNARY = ("Relu LeakyRelu Elu Selu Celu Sigmoid Tanh Erf Softplus Softsign HardSigmoid HardSwish Mish Abs Neg Floor Ceil Sign ThresholdedRelu Sin Cos Atan "
         "Identity").split()
REDUCTIONS = "ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp".split()
PROCESSORS = ["", "-mcpu=haswell", "-mcpu=x86-64-v2", "-mcpu=znver4"]
OPSET, TRIES = 18, 40
USUAL = [16, 24, 28, 32, 48, 56, 64, 96, 112, 128, 160, 192, 197, 256, 384, 512, 768]


class Misfit(Exception):
    """The operator takes no tensor of this shape."""


class Net:
    """A network that grows by one operator at a time. Values are known by name, with their shapes."""

    def __init__(self, seed, large):
        self.random, self.numbers, self.large = random.Random(seed), numpy.random.RandomState(seed), large
        self.nodes, self.constants, self.shapes, self.count = [], [], {}, 0
        shape = self.first_shape(self.random.choice([3, 3, 4, 4, 4, 4, 5] if large else [2, 3, 3, 4, 4, 4, 4, 5]))
        self.inputs = ["x"] + (["y"] if self.random.random() < 0.25 else [])
        for name in self.inputs:
            self.shapes[name] = list(shape)

    def first_shape(self, rank):
        pick = self.random
        least, most = [(1, 150_000), (30_000, 1_200_000), (1_500_000, 6_000_000)][self.large]
        widest, usual = [(9, []), (128, USUAL), (512, USUAL + [1024, 2048, 4096])][self.large]
        while True:
            sizes = [pick.randint(8, widest), pick.choice(usual)] if self.large else [pick.randint(1, widest), pick.randint(1, 70)]
            shape = [pick.choice([1, 1, 1, 2, 4])] + [pick.choice(sizes + [pick.randint(1, 70)]) if rank < 5 else pick.randint(1, [14, 32, 90][self.large]) for _ in range(rank - 1)]
            if least <= math.prod(shape) <= most:
                return shape

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def constant(self, array):
        name = self.name()
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(array), name))
        return name

    def weights(self, *shape, scale=0.1, mean=0.0):
        return self.constant(numpy.float32(self.numbers.standard_normal(shape) * scale + mean))

    def integers(self, values):
        return self.constant(numpy.array(values, numpy.int64))

    def node(self, op, inputs, results=1, **attributes):
        names = [self.name() for _ in range(results)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names

    def like(self, shape):
        """An earlier value of this shape."""
        return self.random.choice([v for v, s in self.shapes.items() if s == shape])

    def infer(self):
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info(v, TensorProto.FLOAT, self.shapes[v]) for v in self.inputs], [], self.constants)
        inferred = onnx.shape_inference.infer_shapes(self.model_of(graph), strict_mode=True, data_prop=True)
        return {v.name: (v.type.tensor_type.elem_type, [d.dim_value for d in v.type.tensor_type.shape.dim]) for v in inferred.graph.value_info}

    @staticmethod
    def model_of(graph):
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)

    def grow(self, operators):
        """One more operator of these, or none if it does not fit."""
        values = list(self.shapes)
        x = values[-1] if self.random.random() < 0.8 else self.random.choice(values)
        nodes, constants = len(self.nodes), len(self.constants)
        try:
            results = self.random.choice(operators)(self, x, self.shapes[x])
            inferred = self.infer()
            for v in results:
                kind, shape = inferred[v]
                if kind != TensorProto.FLOAT or min(shape, default=1) < 1 or math.prod(shape) > [400_000, 3_000_000, 25_000_000][self.large]:
                    raise Misfit
            for v in results:
                self.shapes[v] = inferred[v][1]
            return True
        except (Misfit, KeyError, onnx.shape_inference.InferenceError):
            del self.nodes[nodes:], self.constants[constants:]
            return False

    def finish(self):
        """The model: its last three results that nothing reads are outputs, what they do not need is left out."""
        read = {v for n in self.nodes for v in n.input}
        outputs = [v for n in self.nodes for v in n.output if v in self.shapes and v not in read][-3:]
        needed, nodes = set(outputs), []
        for n in reversed(self.nodes):
            if needed.intersection(n.output):
                nodes.insert(0, n)
                needed.update(n.input)
        info = lambda v: helper.make_tensor_value_info(v, TensorProto.FLOAT, self.shapes[v])
        return self.model_of(helper.make_graph(nodes, "g", [info(v) for v in self.inputs if v in needed], [info(v) for v in outputs], [c for c in self.constants if c.name in needed]))


OPERATORS, RARE = [], []


def operator(weight=1):
    def add(make):
        OPERATORS.extend([make] * weight)
        return make
    return add


def rare(make):
    """Drawn as single operators only: networks of earlier seeds stay what they were."""
    RARE.append(make)
    return make


def needs(condition):
    if not condition:
        raise Misfit


def divisor(net, n):
    return net.random.choice([d for d in range(1, n + 1) if n % d == 0])


def axis_of(net, shape):
    needs(shape)
    return net.random.randrange(len(shape))


@operator(2)
def unary(net, x, shape):
    return net.node(net.random.choice(UNARY), [x])


@operator()
def unary_of_positive(net, x, shape):
    positive = net.node("Add", [net.node("Tanh", [x])[0], net.constant(numpy.float32(1.5))])
    return net.node(net.random.choice(["Exp", "Sqrt", "Log", "Reciprocal"]), positive)


@operator(2)
def binary(net, x, shape):
    other = net.like(shape) if net.random.random() < 0.5 else net.weights(*[d if net.random.random() < 0.6 else 1 for d in shape], scale=0.5, mean=0.3)
    operands = [x, other] if net.random.random() < 0.7 else [other, x]
    return net.node(net.random.choice(["Add", "Mul", "Sub", "Max", "Min"]), operands)


@operator()
def broadcast(net, x, shape):
    return net.node(net.random.choice(["Add", "Mul", "Div", "PRelu"]), [x, net.weights(*shape[axis_of(net, shape):], mean=1)])


@operator()
def clip(net, x, shape):
    return net.node("Clip", [x, net.constant(numpy.float32(-0.5)), net.constant(numpy.float32(0.7))])


@operator()
def where(net, x, shape):
    above = net.node("Greater", [x, net.constant(numpy.float32(0.1))])
    return net.node("Where", above + [x, net.weights(*[d if net.random.random() < 0.5 else 1 for d in shape])])


def windows(net, shape):
    kernel = [net.random.randint(1, min(net.random.choice([1, 3, 3, 5, 9]), d)) for d in shape[2:]]
    strides = [net.random.choice([1, 1, 1, 2, 2, 3]) for _ in kernel]
    return kernel, strides, [net.random.randint(0, k // 2) for k in kernel * 2]


@operator(2)
def convolution(net, x, shape):
    needs(3 <= len(shape) <= 5)
    channels, groups = shape[1], divisor(net, shape[1]) if net.random.random() < 0.35 else 1
    outputs = groups * max(1, net.random.choice([net.random.randint(1, 8), net.random.randint(1, 90), 16 * net.random.randint(1, 5)]) // groups)
    kernel, strides, pads = windows(net, shape)
    terms = channels // groups * math.prod(kernel)
    needs(math.prod(shape) // channels * outputs * terms < 1.5e9)
    attributes = {"strides": strides, "pads": pads, "group": groups}
    if net.random.random() < 0.2 and all(2 * k - 1 <= d for k, d in zip(kernel, shape[2:])):
        attributes["dilations"] = [2] * len(kernel)
    bias = [net.weights(outputs)] if net.random.random() < 0.6 else []
    return net.node("Conv", [x, net.weights(outputs, channels // groups, *kernel, scale=terms ** -0.5)] + bias, **attributes)


@operator()
def transposed_convolution(net, x, shape):
    needs(3 <= len(shape) <= 5)
    channels, groups = shape[1], divisor(net, shape[1]) if net.random.random() < 0.35 else 1
    each = max(1, net.random.randint(1, 90) // groups)
    kernel, strides, pads = windows(net, shape)
    needs(all((d - 1) * s + k - a - b >= 1 for d, s, k, a, b in zip(shape[2:], strides, kernel, pads, pads[len(kernel):])))
    terms = channels // groups * math.prod(kernel)
    needs(math.prod(shape) * each * math.prod(kernel) < 1.5e9)
    extra = {"output_padding": [net.random.randint(0, s - 1) for s in strides]} if net.random.random() < 0.3 else {}
    return net.node("ConvTranspose", [x, net.weights(channels, each, *kernel, scale=terms ** -0.5)], strides=strides, pads=pads, group=groups, **extra)


@operator()
def pool(net, x, shape):
    needs(3 <= len(shape) <= 5)
    kernel, strides, pads = windows(net, shape)
    op = net.random.choice(["MaxPool", "AveragePool"])
    counts = {"count_include_pad": net.random.randint(0, 1)} if op == "AveragePool" else {}
    return net.node(op, [x], kernel_shape=kernel, strides=strides, pads=pads, **counts)


@operator()
def global_pool(net, x, shape):
    needs(len(shape) >= 3)
    return net.node(net.random.choice(["GlobalAveragePool", "GlobalMaxPool"]), [x])


@operator()
def squeeze_and_excite(net, x, shape):
    needs(len(shape) == 4)
    few = max(1, shape[1] // 4)
    mean = net.node("GlobalAveragePool", [x])
    hidden = net.node("Relu", net.node("Conv", mean + [net.weights(few, shape[1], 1, 1), net.weights(few)]))
    return net.node("Mul", [x] + net.node("Sigmoid", net.node("Conv", hidden + [net.weights(shape[1], few, 1, 1), net.weights(shape[1])])))


@operator()
def batch_norm(net, x, shape):
    needs(len(shape) >= 2)
    variance = net.constant(numpy.float32(numpy.abs(net.numbers.standard_normal(shape[1])) + 0.5))
    return net.node("BatchNormalization", [x, net.weights(shape[1], mean=1), net.weights(shape[1]), net.weights(shape[1]), variance])


@operator()
def group_norm(net, x, shape):
    needs(len(shape) >= 3)
    groups = divisor(net, shape[1])
    needs(shape[1] // groups * math.prod(shape[2:]) >= 8)
    normalised = net.node("InstanceNormalization", net.node("Reshape", [x, net.integers([shape[0], groups, -1])]) + [net.weights(groups, mean=1), net.weights(groups)])
    return net.node("Reshape", normalised + [net.integers(shape)])


@operator()
def layer_norm(net, x, shape):
    axis = axis_of(net, shape)
    needs(math.prod(shape[axis:]) >= 8)
    return net.node("LayerNormalization", [x, net.weights(*shape[axis:], mean=1), net.weights(*shape[axis:])], axis=axis)


@operator()
def softmax(net, x, shape):
    return net.node(net.random.choice(["Softmax", "LogSoftmax"]), [x], axis=axis_of(net, shape))


@operator()
def reduction(net, x, shape):
    needs(shape)
    axes = sorted(net.random.sample(range(len(shape)), net.random.randint(1, len(shape))))
    return net.node(net.random.choice(REDUCTIONS), [x, net.integers(axes)], keepdims=net.random.randint(0, 1))


@operator()
def place_of_best(net, x, shape):
    return net.node("Cast", net.node(net.random.choice(["ArgMax", "ArgMin"]), [x], axis=axis_of(net, shape), keepdims=net.random.randint(0, 1)), to=TensorProto.FLOAT)


@operator()
def top_k(net, x, shape):
    axis = axis_of(net, shape)
    return net.node("TopK", [x, net.integers([net.random.randint(1, min(20, shape[axis]))])], 2, axis=axis)[:1]


@operator()
def running_sum(net, x, shape):
    return net.node("CumSum", [x, net.constant(numpy.int64(axis_of(net, shape)))], exclusive=net.random.randint(0, 1), reverse=net.random.randint(0, 1))


@operator()
def product(net, x, shape):
    needs(shape)
    if net.random.random() < 0.3 and len(shape) >= 2:
        order = list(range(len(shape)))
        order[-2:] = order[:-3:-1]
        return net.node("MatMul", [x] + net.node("Transpose", [x], perm=order))
    return net.node("MatMul", [x, net.weights(shape[-1], net.random.choice([net.random.randint(1, 9), net.random.randint(1, 200)]), scale=shape[-1] ** -0.5)])


@operator()
def dense(net, x, shape):
    needs(len(shape) >= 2)
    axis = net.random.randint(1, len(shape) - 1)
    terms, columns, transposed = math.prod(shape[axis:]), net.random.randint(1, 130), net.random.randint(0, 1)
    needs(terms * columns < (20_000_000 if net.large else 3_000_000))
    weights = net.weights(*((columns, terms) if transposed else (terms, columns)), scale=terms ** -0.5)
    return net.node("Gemm", net.node("Flatten", [x], axis=axis) + [weights, net.weights(columns)], transB=transposed, alpha=net.random.choice([1.0, 0.5]))


@operator()
def attention(net, x, shape):
    needs(len(shape) == 3 and shape[1] <= 300)
    width, heads = shape[2], net.random.choice([h for h in (1, 2, 3, 4, 6, 8) if shape[2] % h == 0])
    split = net.integers([shape[0], shape[1], heads, width // heads])
    parts = [net.node("Transpose", net.node("Reshape", net.node("MatMul", [x, net.weights(width, width, scale=width ** -0.5)]) + [split]), perm=order)[0]
             for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])]
    scores = net.node("Mul", net.node("MatMul", parts[:2]) + [net.constant(numpy.float32((width // heads) ** -0.5))])
    mixed = net.node("MatMul", net.node("Softmax", scores, axis=-1) + parts[2:])
    return net.node("Reshape", net.node("Transpose", mixed, perm=[0, 2, 1, 3]) + [net.integers(shape)])


@operator()
def recurrent(net, x, shape):
    needs(len(shape) == 3 and shape[0] * shape[1] <= 400)
    op, gates = net.random.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    hidden, ways = net.random.randint(1, 64), net.random.choice([1, 1, 2])
    weights = [net.weights(ways, gates * hidden, shape[2]), net.weights(ways, gates * hidden, hidden), net.weights(ways, 2 * gates * hidden)]
    direction = "bidirectional" if ways == 2 else net.random.choice(["forward", "reverse"])
    states = net.node(op, [x] + weights, hidden_size=hidden, direction=direction)
    return net.node("Reshape", net.node("Transpose", states, perm=[0, 2, 1, 3]) + [net.integers([0, 0, -1])])


@operator()
def einsum(net, x, shape):
    needs(len(shape) == 3)
    a, b, c = shape
    equation, other = net.random.choice([("abc,cd->abd", (c, 17)), ("abc,dc->dab", (21, c)), ("abc,abd->acd", (a, b, 13)), ("abc,ac->ab", (a, c))])
    return net.node("Einsum", [x, net.weights(*other)], equation=equation)


@operator()
def reshape(net, x, shape):
    left, to = math.prod(shape), []
    for _ in range(net.random.randint(1, 4)):
        to.append(divisor(net, left) if left <= 100_000 else net.random.choice([d for d in range(1, 200) if left % d == 0]))
        left //= to[-1]
    return net.node("Reshape", [x, net.integers(to + [left])])


@operator()
def transpose(net, x, shape):
    needs(shape)
    order = list(range(len(shape)))
    net.random.shuffle(order)
    return net.node("Transpose", [x], perm=order)


@operator()
def shuffle(net, x, shape):
    needs(len(shape) == 4)
    groups = divisor(net, shape[1])
    apart = net.node("Reshape", [x, net.integers([shape[0], groups, shape[1] // groups] + shape[2:])])
    return net.node("Reshape", net.node("Transpose", apart, perm=[0, 2, 1, 3, 4]) + [net.integers(shape)])


@operator()
def slice_of(net, x, shape):
    axis = axis_of(net, shape)
    begin, end = sorted(net.random.randint(0, shape[axis]) for _ in range(2))
    needs(begin < end)
    if net.random.random() < 0.2:
        return net.node("Slice", [x] + [net.integers([v]) for v in (end - 1, begin - 1 if begin > 0 else -(10 ** 9), axis, -1)])
    return net.node("Slice", [x] + [net.integers([v]) for v in (begin, end, axis, net.random.randint(1, 3))])


@operator()
def concatenation(net, x, shape):
    axis = axis_of(net, shape)
    fits = [v for v, s in net.shapes.items() if len(s) == len(shape) and all(i == axis or a == b for i, (a, b) in enumerate(zip(s, shape)))]
    parts = [x] + [net.random.choice(fits) for _ in range(net.random.randint(1, 2))]
    net.random.shuffle(parts)
    return net.node("Concat", parts, axis=axis)


@operator()
def split(net, x, shape):
    axis = axis_of(net, shape)
    needs(shape[axis] > 1)
    first = net.random.randint(1, shape[axis] - 1)
    return net.node("Split", [x, net.integers([first, shape[axis] - first])], 2, axis=axis)


@operator()
def padding(net, x, shape):
    mode = net.random.choice(["constant", "constant", "reflect", "edge"])
    pads = [net.random.randint(0, min(3, d - 1)) if mode != "constant" else net.random.randint(-min(1, d - 1), 3) for d in shape] * 2
    needs(all(d + a + b >= 1 for d, a, b in zip(shape, pads, pads[len(shape):])))
    return net.node("Pad", [x, net.integers(pads)] + ([net.constant(numpy.float32(1.5))] if mode == "constant" else []), mode=mode)


@operator()
def resize(net, x, shape):
    needs(len(shape) == 4)
    sizes = net.integers(shape[:2] + [net.random.randint(1, 60), net.random.randint(1, 60)])
    return net.node("Resize", [x, "", "", sizes], mode=net.random.choice(["linear", "cubic"]), coordinate_transformation_mode=net.random.choice(["half_pixel", "align_corners"]))


@operator()
def expand(net, x, shape):
    return net.node("Expand", [x, net.integers(([net.random.randint(1, 3)] if net.random.random() < 0.3 else []) + [d if d > 1 else net.random.randint(1, 4) for d in shape])])


@operator()
def tile(net, x, shape):
    needs(shape)
    return net.node("Tile", [x, net.integers([net.random.randint(1, 2) for _ in shape])])


@operator()
def gather(net, x, shape):
    axis = axis_of(net, shape)
    size = net.random.choice([(), (3,), (2, 4)])
    return net.node("Gather", [x, net.constant(numpy.array(net.numbers.randint(-shape[axis], shape[axis], size=size), numpy.int64))], axis=axis)


@operator()
def gather_elements(net, x, shape):
    axis = axis_of(net, shape)
    places = net.numbers.randint(0, shape[axis], size=[net.random.randint(1, 6) if k == axis else d for k, d in enumerate(shape)])
    return net.node("GatherElements", [x, net.constant(numpy.array(places, numpy.int64))], axis=axis)


@operator()
def scatter(net, x, shape):
    needs(shape)
    rows = net.numbers.permutation(shape[0])[:net.random.randint(1, 3)]
    return net.node("ScatterND", [x, net.constant(numpy.array(rows, numpy.int64).reshape(-1, 1)), net.weights(len(rows), *shape[1:])])


@operator()
def depth_and_space(net, x, shape):
    needs(len(shape) == 4)
    if shape[1] % 4 == 0:
        return net.node("DepthToSpace", [x], blocksize=2, mode=net.random.choice(["DCR", "CRD"]))
    needs(shape[2] % 2 == 0 and shape[3] % 2 == 0)
    return net.node("SpaceToDepth", [x], blocksize=2)


@operator()
def triangle(net, x, shape):
    needs(len(shape) >= 2)
    return net.node("Trilu", [x, net.constant(numpy.int64(net.random.randint(-2, 2)))], upper=net.random.randint(0, 1))


@rare
def dilated_transposed_convolution(net, x, shape):
    needs(3 <= len(shape) <= 5)
    channels, groups = shape[1], divisor(net, shape[1]) if net.random.random() < 0.3 else 1
    each = max(1, net.random.randint(1, 64) // groups)
    kernel, strides, _ = windows(net, shape)
    terms = channels // groups * math.prod(kernel)
    needs(math.prod(shape) * each * math.prod(kernel) < 5e8)
    return net.node("ConvTranspose", [x, net.weights(channels, each, *kernel, scale=terms ** -0.5)], strides=strides, dilations=[net.random.randint(1, 2) for _ in kernel], group=groups)


@rare
def columns_to_image(net, x, shape):
    needs(len(shape) == 4)
    kernel, strides = [net.random.randint(1, 5) for _ in range(2)], [net.random.randint(1, 3) for _ in range(2)]
    dilations, pads = [net.random.choice([1, 1, 2]) for _ in range(2)], [net.random.randint(0, 2) for _ in range(4)]
    room = [d + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilations[i] - 1 for i, d in enumerate(shape[2:])]
    needs(min(room) >= 0 and shape[1] % math.prod(kernel) == 0)
    counts = [r // s + 1 for r, s in zip(room, strides)]
    needs(math.prod(counts) <= math.prod(shape[2:]))
    columns = net.node("Reshape", net.node("Slice", net.node("Reshape", [x, net.integers([shape[0], shape[1], -1])]) + [net.integers([v]) for v in (0, math.prod(counts), 2)]) + [net.integers([shape[0], shape[1], math.prod(counts)])])
    return net.node("Col2Im", columns + [net.integers(shape[2:]), net.integers(kernel)], strides=strides, dilations=dilations, pads=pads)


@rare
def resize_of_any_kind(net, x, shape):
    needs(len(shape) == 4)
    sizes = net.integers(shape[:2] + [max(1, int(d * net.random.uniform(0.3, 2.5))) for d in shape[2:]])
    mode, places = net.random.choice(["nearest", "linear", "cubic"]), net.random.choice(["half_pixel", "align_corners", "asymmetric"])
    rounding = {"nearest_mode": net.random.choice(["round_prefer_floor", "floor", "ceil"])} if mode == "nearest" else {}
    return net.node("Resize", [x, "", "", sizes], mode=mode, coordinate_transformation_mode=places, **rounding)


@rare
def norm_pool(net, x, shape):
    needs(3 <= len(shape) <= 5)
    if net.random.random() < 0.3:
        return net.node("GlobalLpPool", [x], p=net.random.choice([1, 2]))
    kernel, strides, pads = windows(net, shape)
    return net.node("LpPool", [x], kernel_shape=kernel, strides=strides, pads=pads, p=net.random.choice([1, 2, 3]))


@rare
def norms_of_neighbours(net, x, shape):
    needs(len(shape) == 4)
    op, attributes = net.random.choice([("LRN", {"size": 5}), ("LpNormalization", {"axis": axis_of(net, shape), "p": 2}), ("MeanVarianceNormalization", {"axes": [0, 2, 3]})])
    return net.node(op, [x], **attributes)


@rare
def best_as_one(net, x, shape):
    return net.node("Hardmax", [x], axis=axis_of(net, shape))


@rare
def rare_reduction(net, x, shape):
    needs(shape)
    positive = net.node("Add", [net.node("Tanh", [x])[0], net.constant(numpy.float32(1.5))])
    return net.node(net.random.choice(["ReduceLogSum", "ReduceProd"]), positive + [net.integers([axis_of(net, shape)])], keepdims=net.random.randint(0, 1))


@rare
def rows_gathered_at_pairs(net, x, shape):
    needs(len(shape) >= 3)
    places = numpy.stack([net.numbers.randint(0, d, size=200) for d in shape[:2]], 1)
    return net.node("GatherND", [x, net.constant(numpy.array(places, numpy.int64))])


@rare
def elements_scattered(net, x, shape):
    axis = axis_of(net, shape)
    sizes = [net.random.randint(1, d) if k == axis else d for k, d in enumerate(shape)]
    lines = [net.numbers.permutation(shape[axis])[:sizes[axis]] for _ in range(math.prod(sizes) // sizes[axis])]  # no two of a line at one place
    places = numpy.moveaxis(numpy.array(lines, numpy.int64).reshape([d for k, d in enumerate(sizes) if k != axis] + [sizes[axis]]), -1, axis)
    return net.node("ScatterElements", [x, net.constant(numpy.ascontiguousarray(places)), net.weights(*sizes)], axis=axis, reduction=net.random.choice(["none", "add"]))


@rare
def samples(net, x, shape):
    needs(len(shape) == 4)
    grid = net.constant(numpy.float32(net.numbers.uniform(-1.2, 1.2, size=[shape[0], net.random.randint(1, 50), net.random.randint(1, 50), 2])))
    return net.node("GridSample", [x, grid], mode=net.random.choice(["bilinear", "nearest"]), padding_mode=net.random.choice(["zeros", "border"]), align_corners=net.random.randint(0, 1))


@rare
def turned_around(net, x, shape):
    needs(len(shape) >= 2)
    lengths = net.constant(numpy.array(net.numbers.randint(1, shape[0] + 1, size=shape[1]), numpy.int64))
    return net.node("ReverseSequence", [x, lengths], time_axis=0, batch_axis=1)


@rare
def powers(net, x, shape):
    positive = net.node("Add", [net.node("Tanh", [x])[0], net.constant(numpy.float32(1.5))])
    return net.node("Pow", positive + [net.constant(numpy.float32(net.random.choice([2, 3, 0.5, -1, 1.7])))])


@rare
def rare_function(net, x, shape):
    limited = net.node("Tanh", [x])
    return net.node(net.random.choice(["Round", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Shrink"]), limited)


def network(seed, large):
    net = Net(seed, large)
    steps = net.random.randint(1, 4) if large else net.random.randint(2, 7)
    for _ in range(TRIES):
        steps -= net.grow(OPERATORS)
        if steps == 0:
            break
    return net.finish()


def single(seed, large):
    net = Net(seed, large)
    operators = net.random.choice([list(dict.fromkeys(OPERATORS)), RARE])
    for _ in range(TRIES):
        if net.grow(operators):
            break
    return net.finish()
