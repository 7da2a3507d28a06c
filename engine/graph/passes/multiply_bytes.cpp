// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/multiply_bytes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "engine/graph/passes/constants.h"
#include "engine/graph/passes/quantised.h"
#include "engine/graph/rewrite.h"
#include "engine/target/cpu_table.h"

namespace tw::graph {

namespace {

using target::kBytesTogether;
/// Columns of the widest and the shortest vectors.
constexpr int64_t kColumns = 16, kFewestColumns = 4;
constexpr double kLargest = 255;  // byte

const Value& value(const Graph& g, int v) { return g.values[static_cast<size_t>(v)]; }
const std::vector<int64_t>& shape(const Graph& g, int v) { return value(g, v).type.shape; }

/// Numbers that were bytes.
struct Bytes {
  int matrix = -1;   ///< of uint8, in any shape, or of numbers, the bytes with `added` already
  double added = 0;  ///< whole number that was added to each
  int unknown = -1;  ///< one int32 that was added besides, or with `subtracted` taken off; -1: none
  bool subtracted = false;
  double factor = 1;  ///< that they were multiplied with in the end
};

/// A byte holds every number of the range, less the least.
bool fits_byte(const WholeRange& r) { return r.high - r.low <= kLargest; }

std::optional<Bytes> bytes_behind(const Graph& g, int v) {
  const auto behind = [&](const char* op) {
    const Node* n = made_by(g, v, op);
    if (n) v = n->inputs[0];
    return n;
  };
  while (behind("reshape")) {}
  Bytes out;
  if (value(g, v).type.dtype == kFloat32) {
    if (const Node* n = made_by(g, v, "mul"))
      if (const auto& by = value(g, n->inputs[1]).constant; by && by->num_elements() == 1) {
        out.factor = by->get(0);
        v = n->inputs[0];
        while (behind("reshape")) {}
      }
    if (const auto range = quantised_range(g, v); range && fits_byte(*range)) {
      out.matrix = v, out.added = range->low;
      return out;
    }
    if (!behind("cast")) return {};
    while (behind("reshape")) {}
  }
  if (value(g, v).type.dtype == kInt32) {
    for (const char* op : {"add", "sub"})
      if (const Node* n = made_by(g, v, op); out.unknown < 0 && n && value(g, n->inputs[1]).type.num_elements() == 1) out.unknown = n->inputs[1], out.subtracted = n->op == "sub", v = n->inputs[0];
    if (!behind("cast")) return {};
    while (behind("reshape")) {}
  }
  if (value(g, v).type.dtype != kUInt8) return {};
  out.matrix = v;
  if (const auto known = out.unknown < 0 ? nullptr : value(g, out.unknown).constant) out.added = out.subtracted ? -known->get(0) : known->get(0), out.unknown = -1;
  return out;
}

/// Weights as bytes, to which a whole number of each row is added, times another number of each row; with the sum of each row of those whole numbers. A row has all
/// weights of an output.
struct Weights {
  HostArray bytes, offsets, sums, scales;
  bool have_offsets = false;
};

/// Weights of a row as whole numbers times one number.
struct Multiples {
  double scale, least;  ///< least: of the whole numbers, which span no more than a byte
};
/// What was dequantised is such, up to its rounding.
std::optional<Multiples> multiples_of(std::span<const double> row) {
  constexpr double kRounding = 0x1p-20;
  double most = 0;
  for (const double v : row) most = std::max(most, std::abs(v));
  const auto with = [&](double scale) -> std::optional<Multiples> {
    double least = kLargest, largest = -kLargest;
    for (const double v : row) {
      const double q = v / scale, whole = std::round(q);
      if (!(std::abs(whole) <= kLargest) || std::abs(q - whole) > kRounding * std::abs(whole)) return {};
      least = std::min(least, whole), largest = std::max(largest, whole);
    }
    return largest - least <= kLargest ? std::optional(Multiples{scale, least}) : std::nullopt;
  };
  if (auto whole = with(1)) return whole;
  for (double q = 1; q <= kLargest; ++q)  // the largest number, so that the whole ones are small
    if (auto found = with(most / q)) return found;
  return {};
}

std::optional<Weights> weights_of(const HostArray& w, int64_t columns) {
  const int64_t depth = w.num_elements() / w.shape[0];
  constexpr int64_t kDeepest = int64_t{1} << 14;  // sums of products of bytes and offsets fit int32
  if (depth > kDeepest) return {};
  std::vector<int64_t> shape = w.shape, by_row(w.shape.size() - 1, 1);  // those apply to results of one image
  shape[0] = columns;
  by_row[0] = w.shape[0];
  Weights out{HostArray::make(kInt8, shape), HostArray::make(kInt32, by_row), HostArray::make(kInt32, by_row), HostArray::make(kFloat32, by_row)};
  std::vector<double> row(static_cast<size_t>(depth));
  for (int64_t c = 0; c < w.shape[0]; ++c) {
    for (int64_t k = 0; k < depth; ++k) row[static_cast<size_t>(k)] = w.get(c * depth + k);
    const auto found = multiples_of(row);
    if (!found || !(found->scale > 0) || !std::isfinite(found->scale)) return {};
    const bool fits = found->least >= -128 && std::all_of(row.begin(), row.end(), [&](double v) { return std::round(v / found->scale) <= 127; });
    const double offset = fits ? 0 : found->least + 128;
    out.have_offsets = out.have_offsets || offset != 0;
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const double q = std::round(row[static_cast<size_t>(k)] / found->scale);
      out.bytes.set(c * depth + k, q - offset);
      sum += static_cast<int64_t>(q);
    }
    out.offsets.set(c, offset);
    out.sums.set_int(c, sum);
    out.scales.set(c, found->scale);
  }
  return out;
}

/// Weights [O, C, ...] with zeros for further channels.
HostArray with_channels(HostArray w, int64_t channels) {
  if (w.shape[1] == channels) return w;
  std::vector<int64_t> shape = w.shape;
  shape[1] = channels;
  HostArray out = HostArray::make(w.dtype, shape);
  const int64_t taps = w.num_elements() / (w.shape[0] * w.shape[1]), from = w.shape[1] * taps, to = channels * taps;
  for (int64_t o = 0; o < w.shape[0]; ++o)
    for (int64_t i = 0; i < from; ++i) out.set(o * to + i, w.get(o * from + i));
  return out;
}

int64_t rounded_up(int64_t n, int64_t by) { return (n + by - 1) / by * by; }

/// A layer that can compute with bytes.
struct Layer {
  Bytes bytes;
  Weights weights;
  int64_t pad_value = 0;  ///< byte around an image that stands for zero
};

std::optional<Layer> layer_of(const Graph& g, const Node& n) {
  const bool dense = n.op == "dense", conv = n.op == "conv2d";
  const int64_t groups = n.attrs.integer("groups", 1);
  const DType type = value(g, n.outputs[0]).type.dtype;
  if ((!dense && !conv) || (type != kFloat32 && (type != kInt32 || n.inputs.size() > 2))) return {};
  const HostArray* w = value(g, n.inputs[1]).constant.get();
  const auto bytes = w ? bytes_behind(g, n.inputs[0]) : std::nullopt;
  if (!bytes || std::abs(bytes->added) > kLargest) return {};  // zero points are bytes; the sums of others might not fit int32
  // A channel less than the four that are multiplied anyway is made up for by their speed.
  if (dense || groups > 1 ? w->shape[1] % kBytesTogether != 0 : w->shape[1] < kBytesTogether - 1) return {};
  if (groups > 1 && w->shape[0] / groups % kFewestColumns != 0) return {};
  Layer out{*bytes, {}};
  if (conv) {
    const std::vector<int64_t> pads = n.attrs.integers("pads", {});
    const bool padded = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p > 0; });
    if (padded && (bytes->unknown >= 0 || bytes->added > 0)) return {};  // no byte stands for zero
    out.pad_value = padded ? static_cast<int64_t>(-bytes->added) : 0;
  }
  auto weights = weights_of(*w, dense ? rounded_up(w->shape[0], kColumns) : w->shape[0]);  // rows of zeros fill a matrix's last vector up
  if (!weights || (conv && weights->have_offsets)) return {};
  for (int64_t c = 0; type == kInt32 && c < weights->scales.num_elements(); ++c)
    if (weights->scales.get(c) != 1) return {};
  out.weights = std::move(*weights);
  return out;
}

/// One walk over a graph.
class Multiplier {
 public:
  explicit Multiplier(const Graph& g) : g_(g), rewrite_(g), b_(rewrite_.builder()) {}

  Expected<Graph> run() && {
    std::vector<std::optional<Layer>> layers;
    std::set<int> numbers;  // that layers read as bytes
    for (const Node& n : g_.nodes) {
      layers.push_back(layer_of(g_, n));
      if (const auto& l = layers.back(); l && value(g_, l->bytes.matrix).type.dtype == kFloat32) numbers.insert(l->bytes.matrix);
    }
    for (size_t k = 0; k < g_.nodes.size(); ++k) {
      const Node& n = g_.nodes[k];
      rewrite_.at(n);
      if (layers[k]) {
        TW_CHECK(multiply(n, *std::exchange(layers[k], {})));
        continue;
      }
      TW_CHECK(rewrite_.copy(n));
      if (numbers.count(n.outputs[0]) > 0) TW_CHECK(keep_as_bytes(n));
    }
    return std::move(rewrite_).finish();
  }

 private:
  Expected<int> add(const Node& n, const char* op, std::vector<int> inputs, const char* suffix, Attrs attrs = {}) {
    TW_TRY(const std::vector<int> out, b_.node(op, std::move(inputs), std::move(attrs), n.name + suffix));
    return out[0];
  }
  int constant(const Node& n, const char* suffix, HostArray a) { return b_.constant(n.name + suffix, std::move(a)); }
  static Attrs to(const char* type) { return Attrs{{{"to", std::string(type)}}}; }

  /// Numbers become bytes where they are made, so that memory holds those; who wants numbers has them again.
  Expected<void> keep_as_bytes(const Node& n) {
    const double low = quantised_range(g_, n.outputs[0])->low;
    int v = rewrite_.value(n.outputs[0]);
    if (low != 0) {
      TW_TRY(v, add(n, "add", {v, constant(n, ".least", full(kFloat32, -low))}, ".moved"));
    }
    TW_TRY(v, add(n, "cast", {v}, ".byte", to("uint8")));
    bytes_of_[n.outputs[0]] = v;
    TW_TRY(v, add(n, "cast", {v}, ".number", to("float32")));
    if (low != 0) {
      TW_TRY(v, add(n, "add", {v, constant(n, ".low", full(kFloat32, low))}, ".again"));
    }
    rewrite_.replace(n.outputs[0], v);
    return {};
  }

  Expected<int> in_shape(const Node& n, int v, const std::vector<int64_t>& wanted) {
    if (shape(b_.graph(), v) == wanted) return v;
    return add(n, "reshape", {v}, ".bytes", Attrs{{{"shape", wanted}}});
  }

  /// The products' sums in int32.
  Expected<int> products(const Node& n, Layer& l, int x) {
    HostArray& w = l.weights.bytes;
    const int64_t channels = rounded_up(w.shape[1], kBytesTogether);
    const bool dense = n.op == "dense";
    if (channels != w.shape[1]) {
      std::vector<int64_t> pads(2 * w.shape.size(), 0);
      pads[w.shape.size() + 1] = channels - w.shape[1];
      TW_TRY(x, add(n, "pad", {x}, ".channels", Attrs{{{"pads", pads}}}));
    }
    Attrs attrs = n.attrs;
    if (l.pad_value != 0) attrs.values["pad_value"] = l.pad_value;
    TW_TRY(const int sum, add(n, dense ? "dense_bytes" : "conv2d_bytes", {x, constant(n, ".weight", with_channels(std::move(w), channels))}, ".products", std::move(attrs)));
    const std::vector<int64_t>& result = shape(g_, n.outputs[0]);
    if (shape(b_.graph(), sum) == result) return sum;
    return add(n, "slice", {sum}, ".columns", Attrs{{{"starts", std::vector<int64_t>{0, 0}}, {"steps", std::vector<int64_t>{1, 1}}, {"sizes", result}}});
  }

  /// (x + a) (w + o) is x w, plus o times the sums of x's rows, plus a times the sums of the rows of w + o. Factors of both are the result's.
  Expected<void> multiply(const Node& n, Layer l) {
    const auto known_bytes = bytes_of_.find(l.bytes.matrix);
    TW_TRY(const int x, in_shape(n, known_bytes != bytes_of_.end() ? known_bytes->second : rewrite_.value(l.bytes.matrix), shape(g_, n.inputs[0])));
    TW_TRY(int sum, products(n, l, x));
    Weights& w = l.weights;
    if (w.have_offsets) {
      const auto [known, fresh] = sums_of_rows_.try_emplace({l.bytes.matrix, shape(g_, n.inputs[0])[1]}, -1);
      if (fresh) {
        TW_TRY(const int wide, add(n, "cast", {x}, ".wide", to("int32")));
        TW_TRY(known->second, add(n, "reduce_sum", {wide}, ".rows", Attrs{{{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{1}}}}));
      }
      TW_TRY(const int offset, add(n, "mul", {known->second, constant(n, ".offsets", std::move(w.offsets))}, ".offset"));
      TW_TRY(sum, add(n, "add", {sum, offset}, ".moved"));
    }
    if (l.bytes.unknown >= 0) {
      // In the result's shape, so that it is elementwise work after the product.
      TW_TRY(const int spread, add(n, "broadcast_to", {constant(n, ".sums", w.sums)}, ".spread", Attrs{{{"shape", shape(g_, n.outputs[0])}}}));
      TW_TRY(const int flat, add(n, "reshape", {rewrite_.value(l.bytes.unknown)}, ".shift", Attrs{{{"shape", std::vector<int64_t>{1}}}}));
      TW_TRY(const int shifts, add(n, "mul", {spread, flat}, ".shifts"));
      TW_TRY(sum, add(n, l.bytes.subtracted ? "sub" : "add", {sum, shifts}, ".sum"));
    }
    if (l.bytes.added != 0) {
      for (int64_t c = 0; c < w.sums.num_elements(); ++c) w.sums.set(c, w.sums.get(c) * l.bytes.added);
      TW_TRY(sum, add(n, "add", {sum, constant(n, ".shifts", std::move(w.sums))}, ".sum"));
    }
    if (value(g_, n.outputs[0]).type.dtype == kInt32) return finish(n, sum);
    bool scaled = false;
    for (int64_t c = 0; c < w.scales.num_elements(); ++c) {
      w.scales.set(c, w.scales.get(c) * l.bytes.factor);
      scaled = scaled || w.scales.get(c) != 1;
    }
    const bool biased = n.inputs.size() > 2 && n.inputs[2] >= 0;
    TW_TRY(int number, add(n, "cast", {sum}, scaled || biased ? ".number" : "", to("float32")));
    if (scaled) {
      TW_TRY(number, add(n, "mul", {number, constant(n, ".scales", w.scales)}, biased ? ".scaled" : ""));
    }
    if (biased) {
      int bias = rewrite_.value(n.inputs[2]);
      if (const auto& c = value(g_, n.inputs[2]).constant; c && c->shape != w.scales.shape) {
        HostArray by_row = *c;
        by_row.shape = w.scales.shape;
        bias = constant(n, ".bias", std::move(by_row));
      } else if (!c) {
        TW_TRY(bias, in_shape(n, bias, w.scales.shape));
      }
      TW_TRY(number, add(n, "add", {number, bias}, ""));
    }
    return finish(n, number);
  }

  Expected<void> finish(const Node& n, int result) {
    b_.rename(result, value(g_, n.outputs[0]).name);
    rewrite_.replace(n.outputs[0], result);
    return {};
  }

  const Graph& g_;
  Rewriter rewrite_;
  GraphBuilder& b_;
  std::map<int, int> bytes_of_;                         ///< of the numbers that became bytes, by value of the old graph
  std::map<std::pair<int, int64_t>, int> sums_of_rows_;  ///< by value of the old graph and length of its rows
};

}  // namespace

Expected<Graph> multiply_bytes(const Graph& g, const Target& target) {
  if (!target::has_byte_dots(target)) return g;
  return Multiplier(g).run();
}

}  // namespace tw::graph
