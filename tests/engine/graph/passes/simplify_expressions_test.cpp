// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/simplify_expressions.h"

#include <QtTest>

#include "engine/graph/passes/constants.h"
#include "engine/graph/passes/remove_dead_nodes.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace tw::graph;
using tw::graph::testing::Net;

namespace {

using Dims = std::vector<int64_t>;

struct Case {
  const char* name;
  int (*build)(Net& n, int x);  ///< from an input [2, 3, 4] to the output
  const char* operators;        ///< what is left
};

Attrs attr(const std::string& name, AttrValue v) { return Attrs{{{name, std::move(v)}}}; }
int transpose(Net& n, int x, Dims perm) { return n.op("transpose", {x}, attr("perm", std::move(perm))); }
int reshape(Net& n, int x, Dims shape) { return n.op("reshape", {x}, attr("shape", std::move(shape))); }
int slice(Net& n, int x, Dims starts, Dims sizes, Dims steps = {1, 1, 1}) {
  return n.op("slice", {x}, Attrs{{{"starts", std::move(starts)}, {"sizes", std::move(sizes)}, {"steps", std::move(steps)}}});
}
int cast(Net& n, int x, const char* to) { return n.op("cast", {x}, attr("to", std::string(to))); }
int scalar(Net& n, double v) { return n.b.constant("c", full(kFloat32, v)); }
int neg(Net& n, int x) { return n.op("neg", {x}); }
int indices(Net& n, const Dims& shape, const Dims& v) {
  HostArray a = HostArray::make(kInt64, shape);
  for (size_t i = 0; i < v.size(); ++i) a.set_int(static_cast<int64_t>(i), v[i]);
  return n.b.constant("i", a);
}
int whole(Net& n, const Dims& shape, const Dims& v) {
  HostArray a = HostArray::make(kInt32, shape);
  for (size_t i = 0; i < v.size(); ++i) a.set_int(static_cast<int64_t>(i), v[i]);
  return n.b.constant("k", a);
}
int clip(Net& n, int x, double low, double high) { return n.op("clip", {x}, Attrs{{{"min", low}, {"max", high}}}); }

int mean(Net& n, int x, Dims axes, int64_t keep = 1) { return n.op("reduce_mean", {x}, Attrs{{{"axes", std::move(axes)}, {"keepdims", keep}}}); }
int root(Net& n, int x, Dims axes) { return n.op("sqrt", {n.op("add", {mean(n, n.op("square", {x}), std::move(axes)), scalar(n, 0.01)})}); }
int normed(Net& n, int x, Dims axes) {
  const int d = n.op("sub", {x, mean(n, x, axes)});
  return n.op("div", {d, root(n, d, std::move(axes))});
}

/// As frameworks write a norm of groups of channels: they are joined before and taken apart afterwards.
int group_normed(Net& n, int x, Dims joined) {
  const int64_t groups = joined[1];
  return reshape(n, n.op("instance_norm", {reshape(n, x, std::move(joined)), n.weight({groups}), n.weight({groups})}), {2, 3, 4});
}

/// As QuantizeLinear and DequantizeLinear of uint8 are read.
int quantised(Net& n, int x, int zero_point, double scale, double low = 0, double high = 255) {
  const int moved = n.op("add", {n.op("round", {n.op("mul", {x, scalar(n, 1 / scale)})}), scalar(n, zero_point)});
  HostArray zero = HostArray::make(kInt32, {});
  zero.set_int(0, zero_point);
  const int whole = n.op("sub", {cast(n, cast(n, clip(n, moved, low, high), "uint8"), "int32"), n.b.constant("z", zero)});
  return n.op("mul", {cast(n, whole, "float32"), scalar(n, scale)});
}

const Case kCases[] = {
    // Quantisation.
    {"quantised and back", [](Net& n, int x) { return quantised(n, x, 3, 0.0078125); }, "mul round clip mul"},
    {"wrapped around in between", [](Net& n, int x) { return quantised(n, x, 100, 0.0078125, -20, 300); }, "mul round add clip cast cast sub cast mul"},
    {"not whole limits", [](Net& n, int x) { return quantised(n, x, 3, 0.0078125, 0.5, 255); }, "mul round add clip cast cast sub cast mul"},
    {"kept as integers",
     [](Net& n, int x) {
       return cast(n, clip(n, n.op("round", {n.op("mul", {x, scalar(n, 100)})}), -128, 127), "int8");
     },
     "mul round clip cast"},
    {"integers that are read as they are",
     [](Net& n, int x) {
       return neg(n, cast(n, cast(n, clip(n, n.op("round", {n.op("mul", {x, scalar(n, 100)})}), -128, 127), "int8"), "float32"));
     },
     "mul round clip neg"},
    {"product of integers of 8 bits",
     [](Net& n, int x) {
       const int a = n.op("sub", {cast(n, cast(n, clip(n, n.op("round", {n.op("mul", {x, scalar(n, 100)})}), 0, 255), "uint8"), "int32"), whole(n, {}, {7})});
       return n.op("mul", {cast(n, n.op("add", {n.op("matmul", {a, whole(n, {4, 2}, {1, -128, 3, 4, 127, 6, -7, 8})}), whole(n, {2}, {1000, -3})}), "float32"), scalar(n, 0.01)});
     },
     "mul round clip sub matmul add mul"},
    {"product of integers that were quantised with a zero point",
     [](Net& n, int x) {
       const int moved = n.op("add", {n.op("round", {n.op("mul", {x, scalar(n, 100)})}), scalar(n, 7)});
       const int a = n.op("sub", {cast(n, cast(n, clip(n, moved, 0, 255), "uint8"), "int32"), whole(n, {}, {7})});
       return cast(n, n.op("matmul", {a, whole(n, {4, 2}, {1, -128, 3, 4, 127, 6, -7, 8})}), "float32");
     },
     "mul round clip matmul"},
    {"product of integers that may be large",
     [](Net& n, int x) {
       const int a = cast(n, clip(n, n.op("round", {n.op("mul", {x, scalar(n, 100)})}), -30000, 30000), "int32");
       return cast(n, n.op("matmul", {a, whole(n, {4, 2}, {1, -128, 3, 4, 127, 6, -7, 8})}), "float32");
     },
     "mul round clip cast matmul cast"},
    // Data movement.
    {"transpositions",
     [](Net& n, int x) {
       return transpose(n, transpose(n, x, {1, 2, 0}), {1, 0, 2});
     },
     "transpose"},
    {"inverse transpositions",
     [](Net& n, int x) {
       return neg(n, transpose(n, transpose(n, x, {1, 2, 0}), {2, 0, 1}));
     },
     "neg"},
    {"transposition of ones",
     [](Net& n, int x) {
       return transpose(n, reshape(n, x, {1, 24, 1}), {1, 0, 2});
     },
     "reshape"},
    {"reshapes",
     [](Net& n, int x) {
       return reshape(n, reshape(n, x, {24}), {4, 6});
     },
     "reshape"},
    {"reshape back",
     [](Net& n, int x) {
       return neg(n, reshape(n, reshape(n, x, {24}), {2, 3, 4}));
     },
     "neg"},
    {"slices",
     [](Net& n, int x) {
       return slice(n, slice(n, x, {0, 1, 3}, {2, 2, 3}, {1, 1, -1}), {1, 0, 0}, {1, 2, 2}, {1, 1, 2});
     },
     "slice"},
    {"whole slice",
     [](Net& n, int x) {
       return neg(n, slice(n, x, {0, 0, 0}, {2, 3, 4}));
     },
     "neg"},
    {"reversal stays",
     [](Net& n, int x) {
       return neg(n, slice(n, x, {1, 0, 0}, {2, 3, 4}, {-1, 1, 1}));
     },
     "slice neg"},
    {"convolution of single pixels with computed weights",
     [](Net& n, int x) {
       return n.op("conv1d", {x, reshape(n, slice(n, x, {1, 0, 0}, {1, 3, 4}), {4, 3, 1}), n.weight({4})});
     },
     "slice reshape reshape matmul reshape add"},
    {"depthwise convolution with three results of each channel",
     [](Net& n, int x) {
       return n.op("conv1d", {x, n.weight({9, 1, 2}), n.weight({9})}, attr("groups", int64_t{3}));
     },
     "reshape broadcast_to reshape conv1d"},
    {"transposed convolution in groups",
     [](Net& n, int x) {
       const Attrs a{{{"groups", int64_t{2}}, {"strides", Dims{3}}, {"pads", Dims{1, 2}}, {"output_padding", Dims{1}}}};
       return n.op("conv1d_transpose", {reshape(n, x, {1, 4, 6}), n.weight({4, 3, 5}), n.weight({6})}, a);
     },
     "reshape conv1d reshape transpose reshape slice"},
    {"transposed convolution with dilated windows",
     [](Net& n, int x) { return n.op("conv1d_transpose", {reshape(n, x, {1, 4, 6}), n.weight({4, 3, 5})}, Attrs{{{"dilations", Dims{2}}, {"pads", Dims{3, 2}}}}); },
     "reshape conv1d"},
    {"transposed convolution with strides and dilated windows",
     [](Net& n, int x) {
       const Attrs a{{{"groups", int64_t{2}}, {"strides", Dims{3}}, {"dilations", Dims{2}}, {"pads", Dims{1, 2}}, {"output_padding", Dims{1}}}};
       return n.op("conv1d_transpose", {reshape(n, x, {1, 8, 3}), n.weight({8, 3, 5}), n.weight({6})}, a);
     },
     "reshape reshape matmul reshape columns_to_image reshape add"},
    {"transposed convolution of single taps, whatever their dilation",
     [](Net& n, int x) {
       const Attrs a{{{"groups", int64_t{2}}, {"strides", Dims{3}}, {"dilations", Dims{2}}}};
       return n.op("conv1d_transpose", {reshape(n, x, {1, 4, 6}), n.weight({4, 3, 1})}, a);
     },
     "reshape conv1d reshape transpose reshape slice"},
    {"depthwise transposed convolution with strides and dilated windows",
     [](Net& n, int x) {
       const Attrs a{{{"groups", int64_t{8}}, {"strides", Dims{3}}, {"dilations", Dims{2}}}};
       return n.op("conv1d_transpose", {reshape(n, x, {1, 8, 3}), n.weight({8, 1, 5})}, a);
     },
     "reshape reshape mul reshape columns_to_image"},
    {"transposed convolution whose padding has room for another window",
     [](Net& n, int x) {
       const Attrs a{{{"strides", Dims{2}}, {"dilations", Dims{3}}, {"output_padding", Dims{2}}}};
       return n.op("conv1d_transpose", {reshape(n, x, {1, 4, 6}), n.weight({4, 3, 5})}, a);
     },
     "reshape conv1d_transpose"},
    {"other convolutions with computed weights stay",
     [](Net& n, int x) {
       return n.op("conv1d", {x, reshape(n, slice(n, x, {1, 0, 0}, {1, 3, 4}), {2, 3, 2})});
     },
     "slice reshape conv1d"},
    {"slice of one operand",
     [](Net& n, int x) {
       return slice(n, n.op("concat", {x, neg(n, x)}, attr("axis", int64_t{1})), {0, 3, 0}, {2, 2, 4});
     },
     "neg slice"},
    {"slice of two operands",
     [](Net& n, int x) {
       return slice(n, n.op("concat", {x, neg(n, x)}, attr("axis", int64_t{1})), {0, 2, 0}, {2, 2, 4});
     },
     "neg concat slice"},
    {"split and joined",
     [](Net& n, int x) {
       return neg(n, n.op("concat", {slice(n, x, {0, 0, 0}, {2, 1, 4}), slice(n, x, {0, 1, 0}, {2, 2, 4})}, attr("axis", int64_t{1})));
     },
     "neg"},
    {"joined the other way round",
     [](Net& n, int x) {
       return n.op("concat", {slice(n, x, {0, 1, 0}, {2, 2, 4}), slice(n, x, {0, 0, 0}, {2, 1, 4})}, attr("axis", int64_t{1}));
     },
     "slice slice concat"},
    {"one operand", [](Net& n, int x) { return neg(n, n.op("concat", {x}, attr("axis", int64_t{1}))); }, "neg"},
    {"no padding", [](Net& n, int x) { return neg(n, n.op("pad", {x}, attr("pads", Dims(6, 0)))); }, "neg"},
    {"zeros before a convolution",
     [](Net& n, int x) {
       return n.op("conv1d", {n.op("pad", {x}, attr("pads", Dims{0, 0, 1, 0, 0, 2})), n.weight({5, 3, 3})});
     },
     "conv1d"},
    {"ones before a convolution",
     [](Net& n, int x) {
       return n.op("conv1d", {n.op("pad", {x}, Attrs{{{"pads", Dims{0, 0, 1, 0, 0, 2}}, {"value", 1.0}}}), n.weight({5, 3, 3})});
     },
     "pad conv1d"},
    {"more channels before a convolution",
     [](Net& n, int x) {
       return n.op("conv1d", {n.op("pad", {x}, attr("pads", Dims{0, 1, 0, 0, 0, 0})), n.weight({5, 4, 3})});
     },
     "pad conv1d"},
    {"broadcast ahead",
     [](Net& n, int x) {
       return n.op("add", {x, n.op("broadcast_to", {slice(n, x, {0, 0, 0}, {2, 1, 4})}, attr("shape", Dims{2, 3, 4}))});
     },
     "slice add"},
    {"broadcast that is needed",
     [](Net& n, int x) {
       return n.op("add", {n.op("broadcast_to", {x}, attr("shape", Dims{2, 2, 3, 4})), x});
     },
     "broadcast_to add"},
    {"gather of a run",
     [](Net& n, int x) {
       return n.op("gather", {x, indices(n, {2}, {-1, 2})}, attr("axis", int64_t{2}));
     },
     "slice"},
    {"gather of one",
     [](Net& n, int x) {
       return n.op("gather", {x, indices(n, {}, {1})}, attr("axis", int64_t{0}));
     },
     "slice reshape"},
    {"gather of any",
     [](Net& n, int x) {
       return n.op("gather", {x, indices(n, {3}, {0, 2, 1})}, attr("axis", int64_t{1}));
     },
     "gather"},
    {"assignment to a part",
     [](Net& n, int x) {
       return n.op("scatter_nd", {x, indices(n, {1, 2, 2, 3}, {1, 1, 1, 1, 1, 2, 1, 2, 1, 1, 2, 2}), slice(n, neg(n, x), {0, 0, 0}, {1, 2, 2})});
     },
     "neg slice slice slice concat slice concat slice concat"},
    {"rows that are added to",
     [](Net& n, int x) {
       return n.op("scatter_nd", {x, indices(n, {1, 1}, {1}), slice(n, neg(n, x), {0, 0, 0}, {1, 3, 4})}, attr("reduction", std::string("add")));
     },
     "neg slice slice add slice concat"},
    {"rows in any order, one of them twice",
     [](Net& n, int x) {
       return n.op("scatter_nd", {x, indices(n, {3, 2}, {1, 2, 0, 1, 1, 2}), reshape(n, slice(n, neg(n, x), {0, 0, 0}, {1, 3, 4}), {3, 4})});
     },
     "neg slice reshape gather reshape where"},
    {"maxima in any order",
     [](Net& n, int x) {
       return n.op("scatter_nd", {x, indices(n, {2, 2}, {1, 2, 0, 1}), reshape(n, slice(n, neg(n, x), {0, 0, 0}, {1, 2, 4}), {2, 4})},
                   attr("reduction", std::string("max")));
     },
     "neg slice reshape gather reshape max where"},
    {"sums where two updates meet",
     [](Net& n, int x) {
       return n.op("scatter_nd", {x, indices(n, {2, 2}, {1, 2, 1, 2}), reshape(n, slice(n, neg(n, x), {0, 0, 0}, {1, 2, 4}), {2, 4})},
                   attr("reduction", std::string("add")));
     },
     "neg slice reshape scatter_nd"},
    {"elements at a run along an axis",
     [](Net& n, int x) {
       return n.op("scatter_elements", {x, indices(n, {2, 3, 2}, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}), slice(n, neg(n, x), {0, 0, 0}, {2, 3, 2})},
                   attr("axis", int64_t{-1}));
     },
     "neg slice slice slice concat"},
    {"elements anywhere",
     [](Net& n, int x) {
       return n.op("scatter_elements", {x, indices(n, {1, 2, 2}, {2, 0, 0, -1}), slice(n, neg(n, x), {0, 0, 0}, {1, 2, 2})}, attr("axis", int64_t{1}));
     },
     "neg slice reshape gather reshape where"},
    {"reduction of ones",
     [](Net& n, int x) {
       return n.op("reduce_mean", {reshape(n, neg(n, x), {2, 1, 12})}, Attrs{{{"axes", Dims{1}}, {"keepdims", int64_t{0}}}});
     },
     "neg reshape"},
    {"choice between equals",
     [](Net& n, int x) {
       return neg(n, n.op("where", {n.op("less", {x, scalar(n, 0)}), x, x}));
     },
     "neg"},
    {"wider and back", [](Net& n, int x) { return neg(n, cast(n, cast(n, x, "float64"), "float32")); }, "neg"},
    {"narrower and back", [](Net& n, int x) { return cast(n, cast(n, x, "float16"), "float32"); }, "cast cast"},
    {"through a wide integer", [](Net& n, int x) { return cast(n, cast(n, cast(n, x, "int8"), "int32"), "float32"); }, "cast cast"},
    // Arithmetic.
    {"neutral operands",
     [](Net& n, int x) {
       return neg(n, n.op("add", {n.op("mul", {n.op("sub", {x, scalar(n, 0)}), scalar(n, 1)}), scalar(n, 0)}));
     },
     "neg"},
    {"neutral but larger",
     [](Net& n, int x) {
       return n.op("mul", {x, n.weight({2, 2, 3, 4}, 1, 1)});
     },
     "mul"},
    {"difference from zero",
     [](Net& n, int x) {
       return n.op("sub", {scalar(n, 0), x});
     },
     "sub"},
    {"sums with constants",
     [](Net& n, int x) {
       return n.op("add", {n.weight({4}), n.op("add", {x, n.weight({3, 4})})});
     },
     "add"},
    {"products with constants",
     [](Net& n, int x) {
       return n.op("mul", {n.op("mul", {x, scalar(n, 3)}), n.weight({4})});
     },
     "mul"},
    {"products that overflow",
     [](Net& n, int x) {
       return n.op("mul", {n.op("mul", {x, scalar(n, 1e30)}), scalar(n, 1e30)});
     },
     "mul mul"},
    {"products that underflow",
     [](Net& n, int x) {
       return n.op("mul", {n.op("mul", {x, scalar(n, 1e-30)}), scalar(n, 1e-30)});
     },
     "mul mul"},
    {"constants that would grow",
     [](Net& n, int x) {
       return n.op("add", {n.op("add", {x, n.weight({3, 1})}), n.weight({4})});
     },
     "add add"},
    {"a - x + b",
     [](Net& n, int x) {
       return n.op("add", {n.op("sub", {n.weight({4}), x}), n.weight({4})});
     },
     "sub"},
    {"a - (x + b)",
     [](Net& n, int x) {
       return n.op("sub", {n.weight({4}), n.op("add", {x, n.weight({4})})});
     },
     "sub"},
    {"a - (b - x)",
     [](Net& n, int x) {
       return n.op("sub", {n.weight({4}), n.op("sub", {n.weight({4}), x})});
     },
     "add"},
    {"negated twice", [](Net& n, int x) { return n.op("exp", {neg(n, neg(n, x))}); }, "exp"},
    {"negated difference",
     [](Net& n, int x) {
       return neg(n, n.op("sub", {n.op("exp", {x}), x}));
     },
     "exp sub"},
    {"negated product",
     [](Net& n, int x) {
       return neg(n, n.op("mul", {x, n.weight({4})}));
     },
     "mul"},
    {"product of a negation",
     [](Net& n, int x) {
       return n.op("mul", {neg(n, x), n.weight({4})});
     },
     "mul"},
    {"sum with a negation",
     [](Net& n, int x) {
       return n.op("add", {neg(n, x), n.op("exp", {x})});
     },
     "exp sub"},
    {"absolute value of a negation", [](Net& n, int x) { return n.op("abs", {n.op("abs", {neg(n, x)})}); }, "abs"},
    {"rounded twice", [](Net& n, int x) { return n.op("floor", {n.op("ceil", {x})}); }, "ceil"},
    {"rounded up after down", [](Net& n, int x) { return n.op("ceil", {n.op("floor", {x})}); }, "floor"},
    {"absolute value of a whole number", [](Net& n, int x) { return n.op("abs", {n.op("floor", {x})}); }, "floor abs"},
    {"limits", [](Net& n, int x) { return clip(n, n.op("relu", {x}), -1, 0.5); }, "clip"},
    {"limits apart", [](Net& n, int x) { return clip(n, clip(n, x, 0.5, 0.75), -1, 0); }, "clip"},
    // Normalisations in steps.
    {"layer norm",
     [](Net& n, int x) {
       return n.op("add", {n.op("mul", {normed(n, x, {2}), n.weight({4})}), n.weight({4})});
     },
     "layer_norm"},
    {"layer norm over two dimensions",
     [](Net& n, int x) {
       return n.op("add", {n.weight({1, 3, 1}), n.op("mul", {n.weight({3, 4}), normed(n, x, {-1, -2})})});
     },
     "layer_norm"},
    {"layer norm, scaled twice",
     [](Net& n, int x) {
       const int y = n.op("add", {n.op("mul", {normed(n, x, {2}), n.weight({4})}), n.weight({1})});
       return n.op("add", {n.op("mul", {y, n.weight({4})}), n.weight({4})});
     },
     "layer_norm"},
    {"layer norm with a bias of data",
     [](Net& n, int x) {
       return n.op("add", {normed(n, x, {2}), x});
     },
     "layer_norm add"},
    {"layer norm with a scale of rows",
     [](Net& n, int x) {
       return n.op("mul", {normed(n, x, {2}), n.weight({3, 1})});
     },
     "layer_norm mul"},
    {"norm over other dimensions", [](Net& n, int x) { return normed(n, x, {1}); }, "reduce_mean sub square reduce_mean add sqrt div"},
    {"norm of another difference",
     [](Net& n, int x) {
       const int d = n.op("sub", {x, mean(n, x, {1, 2})});
       return n.op("div", {d, root(n, d, {2})});
     },
     "reduce_mean sub rms_norm"},
    {"root mean square",
     [](Net& n, int x) {
       return n.op("mul", {n.op("div", {x, root(n, x, {2})}), n.weight({4})});
     },
     "rms_norm"},
    {"root mean square as a factor",
     [](Net& n, int x) {
       return n.op("mul", {n.weight({4}), n.op("mul", {x, n.op("reciprocal", {root(n, x, {2})})})});
     },
     "rms_norm"},
    {"root mean square plus a constant",
     [](Net& n, int x) {
       return n.op("add", {n.op("div", {x, root(n, x, {2})}), n.weight({4})});
     },
     "rms_norm add"},
    {"another's root mean square",
     [](Net& n, int x) {
       return n.op("div", {x, root(n, n.op("exp", {x}), {2})});
     },
     "exp square reduce_mean add sqrt div"},
    {"norm of groups, scaled and moved by channel",
     [](Net& n, int x) {
       return n.op("add", {n.op("mul", {group_normed(n, x, {2, 1, 12}), n.weight({3, 1})}), n.weight({1, 3, 1})});
     },
     "instance_norm"},
    {"norm of groups of one channel", [](Net& n, int x) { return group_normed(n, x, {2, 3, 4}); }, "instance_norm"},
    {"norm of channels of joined images", [](Net& n, int x) { return group_normed(n, x, {1, 6, 4}); }, "reshape instance_norm reshape"},
    {"instance norm, scaled by place",
     [](Net& n, int x) {
       return n.op("mul", {n.op("instance_norm", {x, n.weight({3}), n.weight({3})}), n.weight({4})});
     },
     "instance_norm mul"},
    {"limit that is a rectifier", [](Net& n, int x) { return n.op("relu", {n.op("clip", {x}, attr("min", -0.5))}); }, "relu"},
};

}  // namespace

/// What the rules make of small graphs, always with the same results.
class SimplifyExpressionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(kCases); ++i) QTest::newRow(kCases[i].name) << static_cast<int>(i);
  }
  void rules() {
    QFETCH(int, index);
    const Case& c = kCases[index];
    Net n;
    const int x = n.input({2, 3, 4});
    const Graph g = n.finish({c.build(n, x)});
    const Graph s = remove_dead_nodes(simplify_expressions(g, Target{}).value(), Target{}).value();
    QCOMPARE(QString::fromStdString(tw::graph::testing::operators_of(s)), QString(c.operators));
    QCOMPARE(tw::graph::testing::what_differs(g, s, 1e-6), std::string());
  }

  /// Norms over several channels add up channels first, on processors; on GPUs long rows stay rows.
  void groupsOfChannels() {
    Net n;
    const int x = n.input({2, 3, 4});
    const auto norm = [&](int64_t groups) { return n.op("instance_norm", {x, n.weight({3}), n.weight({3})}, attr("groups", groups)); };
    const Graph g = n.finish({norm(1), norm(3), group_normed(n, x, {2, 1, 12})});
    const Graph s = simplify_expressions(g, Target{}).value(), gpu = simplify_expressions(g, parse_target("cuda:a100").value()).value();
    const auto by_channel = [](const Graph& from) {
      std::string all;
      for (const Node& node : from.nodes) all += node.op == "instance_norm" ? std::to_string(node.attrs.integer("by_channel", 0)) : "";
      return all;
    };
    QCOMPARE(by_channel(s), std::string("1001"));  // the third is what the fourth was made of
    QCOMPARE(by_channel(gpu), std::string("000"));
    for (const Graph& after : {s, gpu}) QCOMPARE(tw::graph::testing::what_differs(g, after, 1e-6), std::string());
  }

  /// Orders of many elements come of sorting on processors, of comparing all with all on GPUs.
  void ordersAreSorted() {
    Net n;
    const int x = n.input({2, 300});
    const Graph g = n.finish({n.op("top_k_indices", {x}, Attrs{{{"axis", int64_t{1}}, {"k", int64_t{300}}}})});
    const Graph s = simplify_expressions(g, Target{}).value(), gpu = simplify_expressions(g, parse_target("cuda:a100").value()).value();
    const auto sorted = [](const Graph& from) { return from.nodes.back().attrs.integer("sorted", 0); };
    QCOMPARE(sorted(s), 1);
    QCOMPARE(sorted(gpu), 0);
    QCOMPARE(tw::graph::testing::what_differs(g, s, 0), std::string());
  }

  /// Dimensions behind the one that is put in order are one.
  void orderedLinesAreJoined() {
    const auto operators = [](Dims shape, const char* target, const char* op = "top_k_indices") {
      Net n;
      const int x = n.input(std::move(shape));
      const Graph g = n.finish({n.op(op, {x}, Attrs{{{"axis", int64_t{1}}, {"k", int64_t{3}}}})});
      const Graph s = remove_dead_nodes(simplify_expressions(g, parse_target(target).value()).value(), Target{}).value();
      return tw::graph::testing::what_differs(g, s, 0) + tw::graph::testing::operators_of(s);
    };
    QCOMPARE(operators({2, 7, 5, 2}, "llvm"), std::string("reshape top_k_indices reshape"));
    QCOMPARE(operators({2, 7, 5, 2}, "llvm", "cumsum"), std::string("reshape cumsum reshape"));
    QCOMPARE(operators({2, 7, 5, 1}, "llvm"), std::string("top_k_indices"));
    QCOMPARE(operators({2, 7, 5, 2}, "cuda:a100"), std::string("top_k_indices"));
  }

  /// Few rows meet rows, and one column is a row, on processors; more rows, and GPUs, have a transposed copy.
  void productsOfFewRows() {
    const auto operators = [](const Dims& a, const Dims& b, Dims perm, const char* target) {
      Net n;
      const int x = n.input(a), y = n.input(b);
      const Graph g = n.finish({n.op("matmul", {x, perm.empty() ? y : transpose(n, y, std::move(perm))})});
      const Graph s = remove_dead_nodes(simplify_expressions(g, parse_target(target).value()).value(), Target{}).value();
      std::string text = tw::graph::testing::operators_of(s);
      for (const Node& node : s.nodes)
        if (node.attrs.integer("transpose_b", 0) != 0) text += " by rows";
      const std::string different = tw::graph::testing::what_differs(g, s, 1e-6);
      return different.empty() ? text : different;
    };
    const char *cpu = "skylake-avx512", *gpu = "cuda:a100";
    QCOMPARE(operators({2, 1, 8}, {2, 5, 8}, {0, 2, 1}, cpu), std::string("matmul by rows"));
    QCOMPARE(operators({2, 1, 8}, {2, 5, 8}, {0, 2, 1}, gpu), std::string("transpose matmul"));
    QCOMPARE(operators({2, 9, 8}, {2, 5, 8}, {0, 2, 1}, cpu), std::string("transpose matmul"));
    QCOMPARE(operators({3, 1, 8}, {5, 3, 8}, {1, 2, 0}, cpu), std::string("transpose matmul by rows"));  // [3, 5, 8] first
    QCOMPARE(operators({2, 1, 5}, {2, 5, 8}, {}, cpu), std::string("matmul"));
    QCOMPARE(operators({2, 5, 8}, {2, 8, 1}, {}, cpu), std::string("reshape matmul reshape by rows"));
    QCOMPARE(operators({5, 8}, {2, 8, 1}, {}, cpu), std::string("reshape matmul reshape by rows"));
    QCOMPARE(operators({2, 5, 8}, {2, 8, 1}, {}, gpu), std::string("matmul"));
    Net n;  // what lies transposed already is no copy either
    const int x = n.input({2, 8, 5}), y = n.input({2, 8, 1});
    const Graph g = n.finish({n.op("matmul", {transpose(n, x, {0, 2, 1}), y})});
    const Graph s = remove_dead_nodes(simplify_expressions(g, parse_target(cpu).value()).value(), Target{}).value();
    QCOMPARE(tw::graph::testing::operators_of(s), std::string("reshape matmul reshape"));
    QCOMPARE(tw::graph::testing::what_differs(g, s, 1e-6), std::string());
  }

  /// Large windows slide along one dimension after the other, on processors; small and coarse ones stay.
  void largeWindows() {
    const auto operators = [](const char* op, Dims in, Attrs attrs, const char* target = "skylake-avx512") {
      Net n;
      const Graph g = n.finish({n.op(op, {n.input(std::move(in))}, std::move(attrs))});
      const Graph s = remove_dead_nodes(simplify_expressions(g, parse_target(target).value()).value(), Target{}).value();
      const std::string different = tw::graph::testing::what_differs(g, s, 1e-6);
      return different.empty() ? tw::graph::testing::operators_of(s) : different;
    };
    const auto window = [](Dims kernel, Dims strides, Dims pads) { return Attrs{{{"kernel", std::move(kernel)}, {"strides", std::move(strides)}, {"pads", std::move(pads)}}}; };
    const auto with = [](Attrs a, const char* name, int64_t v) {
      a.values[name] = v;
      return a;
    };
    const Attrs large = window({5, 7}, {1, 1}, {2, 3, 1, 0});
    QCOMPARE(operators("max_pool2d", {2, 3, 13, 11}, large), std::string("max_pool2d max_pool2d"));
    QCOMPARE(operators("max_pool2d", {2, 3, 13, 11}, large, "cuda:a100"), std::string("max_pool2d"));
    QCOMPARE(operators("avg_pool2d", {2, 3, 13, 11}, large), std::string("avg_pool2d avg_pool2d"));
    QCOMPARE(operators("avg_pool2d", {2, 3, 13, 11}, with(large, "count_include_pad", 1)), std::string("avg_pool2d avg_pool2d"));
    QCOMPARE(operators("avg_pool2d", {1, 2, 24, 25}, with(window({6, 6}, {2, 2}, {2, 2, 2, 2}), "ceil_mode", 1)), std::string("avg_pool2d avg_pool2d"));
    QCOMPARE(operators("max_pool2d", {1, 2, 30, 30}, Attrs{{{"kernel", Dims{5, 5}}, {"dilations", Dims{2, 3}}}}), std::string("max_pool2d max_pool2d"));
    QCOMPARE(operators("max_pool3d", {1, 2, 9, 9, 9}, window({5, 5, 5}, {1, 1, 1}, {2, 2, 2, 2, 2, 2})), std::string("max_pool3d max_pool3d max_pool3d"));
    QCOMPARE(operators("max_pool2d", {2, 3, 13, 11}, window({3, 3}, {1, 1}, {1, 1, 1, 1})), std::string("max_pool2d"));
    QCOMPARE(operators("max_pool2d", {2, 3, 12, 12}, window({3, 3}, {3, 3}, {0, 0, 0, 0})), std::string("max_pool2d"));
    QCOMPARE(operators("avg_pool2d", {2, 3, 7, 7}, window({7, 7}, {1, 1}, {0, 0, 0, 0})), std::string("avg_pool2d"));
  }

  void mishSpelledOut() {
    Net n;
    const int x = n.input({2, 3, 40}), y = n.input({2, 3, 40});
    const auto gate = [&](int v) { return n.op("tanh", {n.op("softplus", {v})}); };
    const Graph g = n.finish({n.op("mul", {x, gate(x)}), n.op("mul", {gate(y), y}), n.op("mul", {x, gate(y)})});
    const Graph s = remove_dead_nodes(simplify_expressions(g, Target{}).value(), Target{}).value();
    QCOMPARE(tw::graph::testing::operators_of(s), std::string("mish mish softplus tanh mul"));
    QCOMPARE(tw::graph::testing::what_differs(g, s, 1e-6), std::string());
  }

  void outputsKeepNodes() {
    Net n;
    const int x = n.input({2, 3, 4}), y = n.op("exp", {x});
    const Graph g = n.finish({y, neg(n, neg(n, y)), neg(n, neg(n, x))});
    const Graph s = remove_dead_nodes(simplify_expressions(g, Target{}).value(), Target{}).value();
    QCOMPARE(tw::graph::testing::operators_of(s), std::string("exp identity identity"));
    QCOMPARE(tw::graph::testing::what_differs(g, s, 0), std::string());
  }
};

QTEST_APPLESS_MAIN(SimplifyExpressionsTest)
#include "simplify_expressions_test.moc"
