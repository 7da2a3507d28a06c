// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/multiply_bytes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/graph/passes/constants.h"
#include "engine/graph/passes/quantised.h"
#include "engine/graph/rewrite.h"
#include "engine/target/cpu_table.h"

namespace tw::graph {

namespace {

/// Products that a processor adds up at once, and columns of the widest vectors.
constexpr int64_t kTogether = 4, kColumns = 16;

const Value& value(const Graph& g, int v) { return g.values[static_cast<size_t>(v)]; }

/// A matrix of bytes that became numbers.
struct Bytes {
  int matrix = -1;  ///< of uint8, in any shape, or of numbers, see `low`
  int shift = -1;   ///< one int32 that was added to each, or with `subtracted` taken off; -1: none
  bool subtracted = false;
  double low = 0;     ///< of numbers, which are whole and at most 255 above it
  double factor = 1;  ///< that they were multiplied with in the end
};

/// A byte holds every number of the range, less the least.
bool fits_byte(const WholeRange& r) { return r.high - r.low <= 255 && std::abs(r.low) < 1 << 23; }

std::optional<Bytes> bytes_behind(const Graph& g, int v) {
  const auto behind = [&](const char* op) {
    const Node* n = made_by(g, v, op);
    if (n) v = n->inputs[0];
    return n;
  };
  while (behind("reshape")) {}
  if (value(g, v).type.dtype != kFloat32) return {};
  Bytes out;
  if (const Node* n = made_by(g, v, "mul"))
    if (const auto& by = value(g, n->inputs[1]).constant; by && by->num_elements() == 1) {
      out.factor = by->get(0);
      v = n->inputs[0];
      while (behind("reshape")) {}
    }
  if (const auto range = quantised_range(g, v); range && fits_byte(*range)) {
    out.matrix = v, out.low = range->low;
    return out;
  }
  if (!behind("cast")) return {};
  while (behind("reshape")) {}
  if (value(g, v).type.dtype == kInt32) {
    for (const char* op : {"add", "sub"})
      if (const Node* n = made_by(g, v, op); out.shift < 0 && n && value(g, n->inputs[1]).type.num_elements() == 1) out.shift = n->inputs[1], out.subtracted = n->op == "sub", v = n->inputs[0];
    if (!behind("cast")) return {};
    while (behind("reshape")) {}
  }
  if (value(g, v).type.dtype != kUInt8) return {};
  out.matrix = v;
  return out;
}

/// Weights as bytes, to which a whole number of each row is added, times another number of each row; with the sum of each row of those whole numbers.
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
  constexpr double kMost = 255, kRounding = 0x1p-20;
  double most = 0;
  for (const double v : row) most = std::max(most, std::abs(v));
  const auto with = [&](double scale) -> std::optional<Multiples> {
    double least = kMost, largest = -kMost;
    for (const double v : row) {
      const double q = v / scale, whole = std::round(q);
      if (!(std::abs(whole) <= kMost) || std::abs(q - whole) > kRounding * std::abs(whole)) return {};
      least = std::min(least, whole), largest = std::max(largest, whole);
    }
    return largest - least <= kMost ? std::optional(Multiples{scale, least}) : std::nullopt;
  };
  if (auto whole = with(1)) return whole;
  for (double q = 1; q <= kMost; ++q)  // the largest number, so that the whole ones are small
    if (auto found = with(most / q)) return found;
  return {};
}

std::optional<Weights> weights_of(const HostArray& w) {
  const int64_t columns = w.shape[0], depth = w.shape[1];
  constexpr int64_t kDeepest = int64_t{1} << 14;  // sums of products of bytes and offsets fit int32
  if (depth % kTogether != 0 || depth > kDeepest) return {};
  const int64_t whole = (columns + kColumns - 1) / kColumns * kColumns;  // rows of zeros fill the last vector up
  Weights out{HostArray::make(kInt8, {whole, depth}), HostArray::make(kInt32, {columns}), HostArray::make(kInt32, {columns}), HostArray::make(kFloat32, {columns})};
  std::vector<double> row(static_cast<size_t>(depth));
  for (int64_t c = 0; c < columns; ++c) {
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

}  // namespace

/// (x + shift) (w + offset) is x w, plus offset times the sums of x's rows, plus shift times the sums of the rows of w + offset. Factors of both are the result's.
Expected<Graph> multiply_bytes(const Graph& g, const Target& target) {
  if (!target::has_byte_dots(target)) return g;
  Rewriter rewrite(g);
  GraphBuilder& b = rewrite.builder();
  std::map<std::pair<int, int64_t>, int> sums_of_rows;  ///< by value of the old graph and length of its rows
  for (const Node& n : g.nodes) {
    rewrite.at(n);
    const auto add_node = [&](const char* op, std::vector<int> inputs, const char* suffix, Attrs attrs = {}) -> Expected<int> {
      TW_TRY(const std::vector<int> out, b.node(op, std::move(inputs), std::move(attrs), n.name + suffix));
      return out[0];
    };
    const bool layer = n.op == "dense" && value(g, n.outputs[0]).type.dtype == kFloat32 && value(g, n.inputs[1]).constant;
    const auto bytes = layer ? bytes_behind(g, n.inputs[0]) : std::nullopt;
    auto weights = bytes ? weights_of(*value(g, n.inputs[1]).constant) : std::nullopt;
    if (!weights) {
      TW_CHECK(rewrite.copy(n));
      continue;
    }
    int matrix = rewrite.value(bytes->matrix), shift = bytes->shift < 0 ? -1 : rewrite.value(bytes->shift);
    if (value(g, bytes->matrix).type.dtype == kFloat32) {
      if (bytes->low != 0) {
        TW_TRY(matrix, add_node("add", {matrix, b.constant(n.name + ".least", full(kFloat32, -bytes->low))}, ".moved"));
        shift = b.constant(n.name + ".low", full(kInt32, bytes->low));
      }
      TW_TRY(matrix, add_node("cast", {matrix}, ".byte", Attrs{{{"to", std::string("uint8")}}}));
    }
    TW_TRY(const int x, add_node("reshape", {matrix}, ".bytes", Attrs{{{"shape", value(g, n.inputs[0]).type.shape}}}));
    TW_TRY(int sum, add_node("dense_bytes", {x, b.constant(n.name + ".weight", std::move(weights->bytes))}, ".products"));
    if (const TensorType& result = value(g, n.outputs[0]).type; b.graph().values[static_cast<size_t>(sum)].type.shape != result.shape) {
      TW_TRY(sum, add_node("slice", {sum}, ".columns", Attrs{{{"starts", std::vector<int64_t>{0, 0}}, {"steps", std::vector<int64_t>{1, 1}}, {"sizes", result.shape}}}));
    }
    if (weights->have_offsets) {
      const auto [known, fresh] = sums_of_rows.try_emplace({bytes->matrix, value(g, n.inputs[0]).type.shape[1]}, -1);
      if (fresh) {
        TW_TRY(const int wide, add_node("cast", {x}, ".wide", Attrs{{{"to", std::string("int32")}}}));
        TW_TRY(known->second, add_node("reduce_sum", {wide}, ".rows", Attrs{{{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{1}}}}));
      }
      TW_TRY(const int offset, add_node("mul", {known->second, b.constant(n.name + ".offsets", std::move(weights->offsets))}, ".offset"));
      TW_TRY(sum, add_node("add", {sum, offset}, ".moved"));
    }
    if (shift >= 0) {
      // In the result's shape, so that it is elementwise work after the product.
      const int sums = b.constant(n.name + ".sums", std::move(weights->sums));
      TW_TRY(const int spread, add_node("broadcast_to", {sums}, ".spread", Attrs{{{"shape", value(g, n.outputs[0]).type.shape}}}));
      TW_TRY(const int flat, add_node("reshape", {shift}, ".shift", Attrs{{{"shape", std::vector<int64_t>{1}}}}));
      TW_TRY(const int shifts, add_node("mul", {spread, flat}, ".shifts"));
      TW_TRY(sum, add_node(bytes->subtracted ? "sub" : "add", {sum, shifts}, ".sum"));
    }
    bool scaled = false;
    for (int64_t c = 0; c < weights->scales.num_elements(); ++c) {
      weights->scales.set(c, weights->scales.get(c) * bytes->factor);
      scaled = scaled || weights->scales.get(c) != 1;
    }
    const bool biased = n.inputs.size() > 2 && n.inputs[2] >= 0;
    TW_TRY(int number, add_node("cast", {sum}, scaled || biased ? ".number" : "", Attrs{{{"to", std::string("float32")}}}));
    if (scaled) {
      TW_TRY(number, add_node("mul", {number, b.constant(n.name + ".scales", std::move(weights->scales))}, biased ? ".scaled" : ""));
    }
    if (biased) {
      TW_TRY(number, add_node("add", {number, rewrite.value(n.inputs[2])}, ""));
    }
    b.rename(number, value(g, n.outputs[0]).name);
    rewrite.replace(n.outputs[0], number);
  }
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
