// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>

#include "tests/engine/graph/graphs.h"

/// Small random networks for property tests.
namespace tw::graph::testing {

/// Grows a legal graph node by node: elementwise chains and their inverses, broadcasts, data movement, reductions, products, convolutions, branches that
/// share an operand, and constants of all the shapes that passes look for (zeros, ones, one value, one a channel). The same seed gives the same graph.
///
/// Values are kept apart by how exactly any correct rewriting must reproduce them: a pass may round differently, so functions with jumps (comparisons,
/// rounding, casts to narrower types) are applied only to values that are moved, compared or negated copies of inputs.
class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : rng_(seed), b_("random") {}

  Graph make() {
    const int inputs = static_cast<int>(rng_.range(1, 3));
    for (int i = 0; i < inputs; ++i) add(b_.input("x" + std::to_string(i), {pick_dtype(), pick_shape()}), true);
    if (chance(30)) add(constant(pick_dtype(), pick_shape()), true);
    const int nodes = static_cast<int>(rng_.range(2, 14));
    for (int tries = 0; tries < 20 * nodes && static_cast<int>(b_.graph().nodes.size()) < nodes; ++tries) grow();
    mark_outputs();
    return std::move(b_).finish();
  }

 private:
  using Dims = std::vector<int64_t>;

  struct Known {
    int value;
    bool exact;
  };

  const TensorType& type(int v) const { return b_.graph().values[static_cast<size_t>(v)].type; }
  bool chance(int percent) { return rng_.range(1, 100) <= percent; }
  template <class T>
  const T& any(const std::vector<T>& list) {
    return list[rng_.uniform(list.size())];
  }
  void add(int v, bool exact) { known_.push_back({v, exact}); }

  DType pick_dtype() {
    if (chance(75)) return kFloat32;
    return any(std::vector<DType>{kFloat64, kInt32, kInt64, kInt8, kUInt8, kBool, kFloat16});
  }
  Dims pick_shape() {
    static const std::vector<Dims> kShapes = {{2, 3},    {4},       {1, 4, 3, 3}, {2, 4, 4, 2}, {1, 2, 5, 5}, {3, 4},
                                              {2, 1, 3}, {2, 3, 4}, {1},          {},           {1, 4, 4},    {2, 2, 2, 2}};
    return any(kShapes);
  }
  /// Values made last are taken more often, so that chains form.
  const Known& pick() {
    const size_t n = known_.size();
    return known_[chance(60) ? n - 1 - rng_.uniform(std::min<size_t>(n, 3)) : rng_.uniform(n)];
  }

  int constant(DType t, const Dims& shape, double low = -1.5, double high = 1.5) {
    HostArray a = HostArray::make(t, shape);
    const int kind = static_cast<int>(rng_.range(0, 5));
    const double same = kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? any(std::vector<double>{2, -1, 0.5, 3}) : 0;
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const double random = t.is_float() ? low + (high - low) * rng_.uniform_real() : static_cast<double>(rng_.range(0, t.is_bool() ? 1 : 3));
      a.set(i, kind < 3 ? same : random);
    }
    return b_.constant("c", std::move(a));
  }
  int weight(DType t, const Dims& shape) {
    HostArray a = HostArray::make(t, shape);
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, t.is_float() ? rng_.uniform_real() - 0.5 : static_cast<double>(rng_.range(0, 2)));
    return b_.constant("w", std::move(a));
  }
  /// A shape that broadcasts to `shape`: some dimensions 1, some leading ones missing.
  Dims smaller_shape(const Dims& shape) {
    if (chance(15)) return {};
    Dims s = shape;
    if (s.size() > 1 && chance(50)) {  // one value a channel
      for (size_t d = 0; d < s.size(); ++d)
        if (d != 1) s[d] = 1;
    } else {
      for (int64_t& d : s)
        if (chance(30)) d = 1;
    }
    if (!s.empty() && chance(50)) s.erase(s.begin());
    return s;
  }
  /// Another value of the same type whose shape broadcasts with `v`.
  std::optional<Known> partner(int v) {
    std::vector<Known> fit;
    for (const Known& k : known_) {
      const Dims &a = type(v).shape, &b = type(k.value).shape;
      bool ok = type(k.value).dtype == type(v).dtype;
      for (size_t d = 0; ok && d < std::min(a.size(), b.size()); ++d) {
        const int64_t x = a[a.size() - 1 - d], y = b[b.size() - 1 - d];
        ok = x == y || x == 1 || y == 1;
      }
      if (ok) fit.push_back(k);
    }
    if (fit.empty()) return {};
    return any(fit);
  }

  bool apply(const std::string& op, std::vector<int> inputs, bool exact, Attrs attrs = {}) {
    auto out = b_.node(op, std::move(inputs), std::move(attrs));
    if (!out) return false;
    if (type((*out)[0]).num_elements() > 4096) return false;  // stays behind as a dead node
    add((*out)[0], exact);
    return true;
  }
  static Attrs with(std::map<std::string, AttrValue> values) { return Attrs{std::move(values)}; }

  void grow() {
    const Known x = pick();
    switch (rng_.range(0, 19)) {
      case 0:
      case 1:
      case 2:
        unary(x);
        break;
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
        binary(x);
        break;
      case 8:
      case 9:
        move(x);
        break;
      case 10:
        reshape(x);
        break;
      case 11:
        reduce(x);
        break;
      case 12:
        products(x);
        break;
      case 13:
      case 14:
        convolution(x);
        break;
      case 15:
        join(x);
        break;
      case 16:
        cast(x);
        break;
      case 17:
        compare_and_choose(x);
        break;
      case 18:
        normalise(x);
        break;
      case 19:
        branches(x);
        break;
    }
  }

  void unary(const Known& x) {
    const DType t = type(x.value).dtype;
    if (t.is_bool()) {
      apply("not", {x.value}, true);
    } else if (t.is_float()) {
      static const std::vector<std::string> kSmooth = {"tanh", "sigmoid", "silu", "square", "leaky_relu", "softplus", "gelu"};
      static const std::vector<std::string> kExactly = {"relu", "neg", "abs", "identity", "neg", "relu"};
      static const std::vector<std::string> kJumps = {"floor", "ceil", "round", "trunc", "sign"};
      if (x.exact && chance(15))
        apply(any(kJumps), {x.value}, true);
      else if (chance(50))
        apply(any(kSmooth), {x.value}, false);
      else if (chance(20))
        apply("clip", {x.value}, x.exact, with({{"min", -0.5 + rng_.uniform_real()}, {"max", 0.7}}));
      else
        apply(any(kExactly), {x.value}, x.exact);
    } else {
      apply(t.is_signed() ? any(std::vector<std::string>{"neg", "abs", "bitwise_not", "relu", "identity"}) : std::string("bitwise_not"), {x.value}, true);
    }
  }

  void binary(const Known& x) {
    const TensorType t = type(x.value);
    const bool integer = !t.dtype.is_float();
    int other = -1;
    bool exact = x.exact;
    if (const auto p = partner(x.value); p && chance(40)) {
      other = p->value;
      exact = exact && p->exact;
    } else {
      other = constant(t.dtype, chance(70) ? smaller_shape(t.shape) : t.shape);
    }
    if (t.dtype.is_bool()) {
      apply(any(std::vector<std::string>{"and", "or", "xor", "equal"}), {x.value, other}, true);
      return;
    }
    static const std::vector<std::string> kOps = {"add", "add", "sub", "mul", "mul", "max", "min"};
    std::string op = any(kOps);
    const bool constant_operand = b_.graph().values[static_cast<size_t>(other)].constant != nullptr;
    if (constant_operand && chance(10)) {
      other = b_.constant("d", random_array({t.dtype, smaller_shape(t.shape)}, rng_.next(), 0.5, 2));
      op = integer ? "div" : any(std::vector<std::string>{"div", "div", "pow"});
      if (op == "pow") other = b_.constant("p", random_array({t.dtype, {}}, rng_.next(), 0, 0));
      if (op == "pow") {
        HostArray a = HostArray::make(t.dtype, {});
        a.set(0, static_cast<double>(rng_.range(1, 3)));
        other = b_.constant("p", std::move(a));
      }
    }
    const bool keeps = integer || op == "max" || op == "min";
    const bool swap = op != "div" && op != "pow" && chance(35);
    apply(op, swap ? std::vector{other, x.value} : std::vector{x.value, other}, keeps && exact);
  }

  void move(const Known& x) {
    const TensorType t = type(x.value);
    const auto rank = static_cast<int64_t>(t.shape.size());
    switch (rng_.range(0, 7)) {
      case 7:
        channels_last(x);
        break;
      case 0: {  // transpose
        Dims perm(static_cast<size_t>(rank));
        for (int64_t d = 0; d < rank; ++d) perm[static_cast<size_t>(d)] = d;
        for (size_t d = perm.size(); d > 1; --d) std::swap(perm[d - 1], perm[rng_.uniform(d)]);
        apply("transpose", {x.value}, x.exact, with({{"perm", perm}}));
        break;
      }
      case 1: {  // slice
        Dims starts, steps, sizes;
        for (const int64_t d : t.shape) {
          if (chance(50)) {
            starts.push_back(0);
            steps.push_back(1);
            sizes.push_back(d);
            continue;
          }
          const int64_t step = chance(70) ? 1 : chance(50) ? 2 : -1, from = rng_.range(0, d - 1);
          starts.push_back(from);
          steps.push_back(step);
          sizes.push_back(rng_.range(1, step < 0 ? from + 1 : (d - 1 - from) / step + 1));
        }
        apply("slice", {x.value}, x.exact, with({{"starts", starts}, {"steps", steps}, {"sizes", sizes}}));
        break;
      }
      case 2: {  // pad
        Dims pads(static_cast<size_t>(2 * rank), 0);
        for (int64_t& p : pads) p = chance(25) ? 1 : 0;
        const bool constant_mode = chance(70);
        apply("pad", {x.value}, x.exact, with({{"pads", pads}, {"mode", std::string(constant_mode ? "constant" : "edge")}, {"value", chance(70) ? 0.0 : 1.0}}));
        break;
      }
      case 3: {  // broadcast
        Dims shape = t.shape;
        for (int64_t& d : shape)
          if (d == 1 && chance(60)) d = 2;
        if (rank < 4 && chance(30)) shape.insert(shape.begin(), 2);
        apply("broadcast_to", {x.value}, x.exact, with({{"shape", shape}}));
        break;
      }
      case 4: {  // gather
        if (rank == 0) return;
        const int64_t axis = rng_.range(-rank, rank - 1), extent = t.shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
        HostArray indices = HostArray::make(kInt64, chance(30) ? Dims{} : Dims{rng_.range(1, 3)});
        const bool run = chance(50);
        const int64_t from = rng_.range(0, extent - 1);
        for (int64_t i = 0; i < indices.num_elements(); ++i) indices.set_int(i, run ? std::min(from + i, extent - 1) : rng_.range(-extent, extent - 1));
        apply("gather", {x.value, b_.constant("i", std::move(indices))}, x.exact, with({{"axis", axis}}));
        break;
      }
      case 5:
        if (rank > 0) apply("tile", {x.value}, x.exact, with({{"repeats", Dims(static_cast<size_t>(rank), chance(50) ? 1 : 2)}}));
        break;
      case 6:
        if (rank > 1) apply("trilu", {x.value}, x.exact, with({{"upper", rng_.range(0, 1)}, {"k", rng_.range(-1, 1)}}));
        break;
    }
  }

  /// A convolution between transpositions, as frameworks with channels last write it, sometimes with what follows in their order.
  void channels_last(const Known& x) {
    const TensorType t = type(x.value);
    if (!t.dtype.is_float() || t.shape.size() != 4) return;
    const auto turned = [&](int v, const Dims& perm) { return b_.node("transpose", {v}, with({{"perm", perm}})).value()[0]; };
    const int64_t out = rng_.range(1, 4);
    int y = b_.node("conv2d", {turned(x.value, {0, 3, 1, 2}), weight(t.dtype, {out, t.shape[3], 1, 1})}).value()[0];
    y = turned(y, {0, 2, 3, 1});
    if (chance(50)) y = b_.node("add", {y, weight(t.dtype, {out})}).value()[0];
    if (chance(50)) y = b_.node("relu", {y}).value()[0];
    add(y, false);
    if (chance(30)) add(turned(y, {0, 3, 1, 2}), false);
  }

  void reshape(const Known& x) {
    const TensorType t = type(x.value);
    const int64_t n = t.num_elements();
    std::vector<Dims> shapes = {t.shape, {n}, {1, n}, {n, 1}};
    for (int64_t d = 2; d <= 4; ++d)
      if (n % d == 0) shapes.insert(shapes.end(), {{d, n / d}, {1, n / d, d}, {n / d, 1, d}});
    if (n % 4 == 0) shapes.push_back({2, n / 4, 2});
    if (t.shape.size() > 2) shapes.push_back({n / t.shape.back(), t.shape.back()});
    apply("reshape", {x.value}, x.exact, with({{"shape", any(shapes)}}));
  }

  void reduce(const Known& x) {
    const TensorType t = type(x.value);
    if (t.dtype.is_bool() || t.shape.empty()) return;
    const auto rank = static_cast<int64_t>(t.shape.size());
    Dims axes;
    for (int64_t d = 0; d < rank; ++d)
      if (chance(50)) axes.push_back(chance(30) ? d - rank : d);
    static const std::vector<std::string> kOps = {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min"};
    const std::string op = any(kOps);
    if (op == "reduce_mean" && !t.dtype.is_float()) return;
    const bool exact = !t.dtype.is_float() || op == "reduce_max" || op == "reduce_min";
    apply(op, {x.value}, exact && x.exact, with({{"axes", axes}, {"keepdims", rng_.range(0, 1)}}));
  }

  void products(const Known& x) {
    const TensorType t = type(x.value);
    if (!t.dtype.is_float() || t.shape.size() < 2) return;
    const int64_t k = t.shape.back(), n = rng_.range(1, 5);
    if (x.exact && t.dtype == kFloat32 && k % 4 == 0 && chance(30)) return quantised_product(x, k, n);
    if (t.shape.size() == 2 && chance(50)) {
      std::vector<int> inputs = {x.value, weight(t.dtype, {n, k})};
      if (chance(40)) inputs.push_back(weight(t.dtype, {n}));
      apply("dense", inputs, false);
    } else if (chance(60)) {
      apply("matmul", {x.value, weight(t.dtype, chance(80) ? Dims{k, n} : Dims{t.shape.size() > 2 ? t.shape[0] : 1, k, n})}, false);
    } else {
      Dims swapped(t.shape.size());
      for (size_t d = 0; d < swapped.size(); ++d) swapped[d] = static_cast<int64_t>(d);
      std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
      auto y = b_.node("transpose", {x.value}, with({{"perm", swapped}}));
      if (chance(30))
        einstein_sum(x);
      else if (y && chance(50))
        attention(x, (*y)[0]);
      else if (y)
        apply("matmul", {chance(70) ? rows_again(x) : x.value, (*y)[0]}, false);
    }
  }

  /// Five times as many rows: few are products of their own kind.
  int rows_again(const Known& x) {
    const auto rows = static_cast<int64_t>(type(x.value).shape.size()) - 2;
    return b_.node("concat", std::vector<int>(5, x.value), with({{"axis", rows}})).value()[0];
  }

  /// Of whole numbers that fit a byte with a matrix of such numbers, both times a number.
  void quantised_product(const Known& x, int64_t k, int64_t n) {
    const auto times = [&](int v, double by) {
      HostArray factor = HostArray::make(kFloat32, {});
      factor.set(0, by);
      return b_.node("mul", {v, b_.constant("factor", std::move(factor))}).value()[0];
    };
    const double low = chance(50) ? 0 : -128;
    const int whole = b_.node("clip", {b_.node("round", {times(x.value, 40)}).value()[0]}, with({{"min", low}, {"max", low + 255}})).value()[0];
    HostArray w = HostArray::make(kFloat32, {k, n});
    for (int64_t i = 0; i < w.num_elements(); ++i) w.set(i, static_cast<double>(rng_.range(-128, 127)) * 0.0078125);
    apply("matmul", {times(whole, 0.025), b_.constant("quantised", std::move(w))}, false);
  }

  /// A value times itself as an equation, whose result may have its dimensions in any order.
  void einstein_sum(const Known& x) {
    const std::string batch = std::string("abcdefgh").substr(0, type(x.value).shape.size() - 2);
    std::string output = batch + "mn";
    for (size_t k = output.size(); k-- > 1 && chance(50);) std::swap(output[k], output[static_cast<size_t>(rng_.range(0, static_cast<int64_t>(k)))]);
    apply("einsum", {x.value, x.value}, false, with({{"equation", batch + "mk," + batch + "nk" + "->" + output}}));
  }

  /// Of a value to itself, perhaps scaled and masked.
  void attention(const Known& x, int keys) {
    const DType t = type(x.value).dtype;
    int scores = b_.node("matmul", {x.value, keys}).value()[0];
    if (chance(50)) scores = b_.node("mul", {scores, weight(t, {1})}).value()[0];
    if (chance(50)) scores = b_.node("add", {scores, weight(t, smaller_shape(type(scores).shape))}).value()[0];
    if (chance(20)) add(scores, false);
    apply("matmul", {b_.node("softmax", {scores}).value()[0], x.value}, false);
  }

  void convolution(const Known& x) {
    const TensorType t = type(x.value);
    if (!t.dtype.is_float() || t.shape.size() != 4) return;
    const int64_t channels = t.shape[1], kernel = chance(50) ? 1 : std::min<int64_t>({3, t.shape[2], t.shape[3]});
    if (chance(20)) {
      const std::string op = chance(50) ? "max_pool2d" : "avg_pool2d";
      apply(op, {x.value}, x.exact && op == "max_pool2d", with({{"kernel", Dims{kernel, kernel}}, {"strides", Dims{1, rng_.range(1, 2)}}}));
      return;
    }
    const int64_t groups = chance(70) ? 1 : channels, out = groups == 1 ? rng_.range(1, 4) : channels * rng_.range(1, 2);
    std::vector<int> inputs = {x.value, weight(t.dtype, {out, channels / groups, kernel, kernel})};
    if (chance(30)) inputs.push_back(weight(t.dtype, {out}));
    const int64_t pad = chance(50) ? kernel / 2 : 0;
    if (chance(20)) {
      const Dims strides{rng_.range(1, 3), rng_.range(1, 2)}, extra{rng_.range(0, strides[0] - 1), rng_.range(0, strides[1] - 1)};
      const int64_t parts = groups > 1 && channels % 2 == 0 ? channels / rng_.range(1, 2) : groups;
      inputs[1] = weight(t.dtype, {channels, rng_.range(1, 3), kernel, kernel});
      if (inputs.size() > 2) inputs[2] = weight(t.dtype, {parts * type(inputs[1]).shape[1]});
      apply("conv2d_transpose", inputs, false, with({{"strides", strides}, {"output_padding", extra}, {"pads", Dims{pad, 0, 0, pad}}, {"groups", parts}}));
      return;
    }
    const int64_t dilation =
        kernel > 1 && pad > 0 && chance(80) ? rng_.range(t.shape[2] - 1, t.shape[2] + 1) : 1;  // whose outer taps meet little or nothing but padding
    apply("conv2d", inputs, false,
          with({{"pads", Dims(4, pad * dilation)}, {"strides", Dims(2, rng_.range(1, 2))}, {"dilations", Dims(2, dilation)}, {"groups", groups}}));
  }

  void join(const Known& x) {
    const TensorType t = type(x.value);
    if (t.shape.empty()) return;
    std::vector<int> parts = {x.value};
    bool exact = x.exact;
    const auto rank = static_cast<int64_t>(t.shape.size()), axis = rng_.range(-rank, rank - 1);
    for (const Known& k : known_) {
      const TensorType& o = type(k.value);
      bool fits = o.dtype == t.dtype && o.shape.size() == t.shape.size() && parts.size() < 4 && chance(60);
      for (int64_t d = 0; fits && d < rank; ++d) fits = d == (axis + rank) % rank || o.shape[static_cast<size_t>(d)] == t.shape[static_cast<size_t>(d)];
      if (!fits) continue;
      parts.insert(chance(50) ? parts.begin() : parts.end(), k.value);
      exact = exact && k.exact;
    }
    apply("concat", parts, exact, with({{"axis", axis}}));
  }

  void cast(const Known& x) {
    static const std::vector<DType> kTypes = {kFloat32, kFloat32, kFloat64, kInt32, kInt64, kInt8, kBool, kFloat16};
    const DType from = type(x.value).dtype, to = any(kTypes);
    if (x.exact && from == kFloat32 && chance(25)) return quantised(x);
    const bool widens = from.is_float() && to.is_float() && to.bits >= from.bits;
    if (x.exact || widens) apply("cast", {x.value}, x.exact, with({{"to", to.name()}}));
  }

  /// Rounded to whole numbers of eight bits and back, with a zero point that may stay.
  void quantised(const Known& x) {
    const auto node = [&](const std::string& op, std::vector<int> in, Attrs a = {}) { return b_.node(op, std::move(in), std::move(a)).value()[0]; };
    const auto number = [&](DType t, double v) {
      HostArray a = HostArray::make(t, {});
      a.set(0, v);
      return b_.constant("q", std::move(a));
    };
    const auto to = [&](int v, const char* t) { return node("cast", {v}, with({{"to", std::string(t)}})); };
    const double zero = static_cast<double>(rng_.range(-3, 3)), low = chance(80) ? -128 : -200;
    int v = node("round", {node("mul", {x.value, number(kFloat32, 16)})});
    if (chance(70)) v = node("add", {v, number(kFloat32, zero)});
    v = to(to(node("clip", {v}, with({{"min", low}, {"max", low + 255}})), "int8"), "int32");
    if (chance(70)) v = node("sub", {v, number(kInt32, chance(80) ? zero : 5)});
    apply("mul", {to(v, "float32"), number(kFloat32, 0.0625)}, true);
  }

  void compare_and_choose(const Known& x) {
    const auto y = partner(x.value);
    if (!y || !x.exact || !y->exact || type(x.value).dtype.is_bool()) return;
    static const std::vector<std::string> kOps = {"less", "greater", "less_equal", "greater_equal", "equal", "not_equal"};
    auto condition = b_.node(any(kOps), {x.value, y->value});
    if (!condition) return;
    add((*condition)[0], true);
    if (chance(60)) apply("where", {(*condition)[0], x.value, y->value}, true);
  }

  void normalise(const Known& x) {
    const TensorType t = type(x.value);
    if (!t.dtype.is_float() || t.shape.size() < 2) return;
    const auto rank = static_cast<int64_t>(t.shape.size());
    if (chance(40)) {
      const auto channel = [&](double low, double high) { return b_.constant("s", random_array({t.dtype, {t.shape[1]}}, rng_.next(), low, high)); };
      apply("batch_norm", {x.value, channel(0.5, 1.5), channel(-1, 1), channel(-1, 1), channel(0.5, 1.5)}, false);
    } else if (chance(50)) {
      apply("softmax", {x.value}, false, with({{"axis", rng_.range(-rank, rank - 1)}}));
    } else if (chance(50)) {
      norm_in_steps(x);
    } else {
      apply("layer_norm", {x.value, weight(t.dtype, {t.shape.back()}), weight(t.dtype, {t.shape.back()})}, false,
            with({{"axis", int64_t{-1}}, {"epsilon", 0.1}}));
    }
  }

  /// A layer_norm or an rms_norm as models spell it out, sometimes with a scale or a bias.
  void norm_in_steps(const Known& x) {
    const DType t = type(x.value).dtype;
    const auto node = [&](const std::string& op, std::vector<int> inputs, Attrs attrs = {}) {
      return b_.node(op, std::move(inputs), std::move(attrs)).value()[0];
    };
    const auto mean = [&](int v) { return node("reduce_mean", {v}, with({{"axes", Dims{-1}}})); };
    const int d = chance(50) ? node("sub", {x.value, mean(x.value)}) : x.value;
    const int root = node(
        "sqrt", {node("add", {mean(chance(50) ? node("square", {d}) : node("mul", {d, d})), b_.constant("e", random_array({t, {1}}, rng_.next(), 0.1, 0.2))})});
    int y = chance(50) ? node("div", {d, root}) : node("mul", {d, node("reciprocal", {root})});
    const int64_t width = type(x.value).shape.back();
    if (chance(50)) y = node("mul", {y, weight(t, {width})});
    apply("add", {y, weight(t, {chance(50) ? width : 1})}, false);
  }

  /// Equal layers on one operand with followers: what the combining passes look for.
  void branches(const Known& x) {
    const TensorType t = type(x.value);
    if (!t.dtype.is_float() || t.shape.size() < 2) return;
    const bool image = t.shape.size() == 4 && chance(60), follow = chance(60);
    const int64_t kernel = chance(70) ? 1 : std::min<int64_t>({3, t.shape[2 % t.shape.size()], t.shape.back()});
    const bool stacked = !image && t.shape.size() == 3 && chance(40);
    const int64_t count = rng_.range(2, 4);
    std::vector<int> ends;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t out = rng_.range(1, 4), in = t.shape.back();
      int y = -1;
      if (image)
        y = b_.node("conv2d", {x.value, weight(t.dtype, {out, t.shape[1], kernel, kernel})}, with({{"pads", Dims(4, kernel / 2)}})).value()[0];
      else
        y = b_.node("matmul", {x.value, weight(t.dtype, stacked ? Dims{t.shape[0], in, out} : Dims{in, out})}).value()[0];
      if (follow) {
        y = b_.node("add", {y, weight(t.dtype, image ? Dims{out, 1, 1} : Dims{out})}).value()[0];
        if (chance(70)) y = b_.node("relu", {y}).value()[0];
      }
      ends.push_back(y);
    }
    if (chance(40)) {
      apply("concat", ends, false, with({{"axis", image ? int64_t{1} : int64_t{-1}}}));
      return;
    }
    for (const int y : ends) add(y, false);
    if (chance(60))
      for (const int y : ends) move({y, false});
  }

  /// The last value and some others; every output is made by a node, and by none twice.
  void mark_outputs() {
    std::vector<int> made;
    for (const Known& k : known_)
      if (b_.graph().values[static_cast<size_t>(k.value)].producer >= 0) made.push_back(k.value);
    if (made.empty()) made.push_back(b_.node("identity", {known_[0].value}).value()[0]);
    std::vector<int> outputs = {made.back()};
    for (const int v : made)
      if (v != made.back() && chance(20)) outputs.push_back(v);
    for (const int v : outputs) b_.output(v);
  }

  Rng rng_;
  GraphBuilder b_;
  std::vector<Known> known_;
};

}  // namespace tw::graph::testing
