// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/einsum_to_matmul.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

using Dims = std::vector<int64_t>;

/// How many times larger than its operands a result has to be to be left where it has to be transposed.
constexpr int64_t kMuchLarger = 4;

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

/// Letters by what they are in a product of matrices, each group in the order of the output, or of the first operand.
struct Product {
  std::string batch, rows, columns, summed;
};

/// The output of an equation that does not say it: letters that occur once, in alphabetical order.
std::string implied_output(const std::string& a, const std::string& b) {
  std::string out;
  for (const char c : a + b)
    if (has(a, c) != has(b, c)) out.push_back(c);
  std::sort(out.begin(), out.end());
  return out;
}

bool each_once(std::string letters) {
  std::sort(letters.begin(), letters.end());
  return std::adjacent_find(letters.begin(), letters.end()) == letters.end();
}

std::optional<Product> as_product(const std::string& a, const std::string& b, const std::string& output) {
  Product p;
  for (const char c : output) (has(a, c) && has(b, c) ? p.batch : has(a, c) ? p.rows : p.columns).push_back(c);
  for (const char c : a) {
    if (has(output, c)) continue;
    if (!has(b, c)) return std::nullopt;
    p.summed.push_back(c);
  }
  for (const char c : b)
    if (!has(output, c) && !has(a, c)) return std::nullopt;
  if (p.rows.empty() || p.columns.empty() || p.summed.empty()) return std::nullopt;
  return p;
}

class Matmuls {
 public:
  explicit Matmuls(const Graph& g) : g_(g), rewrite_(g) {}

  Expected<Graph> run() {
    for (const Node& n : g_.nodes) {
      TW_TRY(const bool done, rewritten(n));
      if (!done) TW_CHECK(rewrite_.copy(n));
    }
    return std::move(rewrite_).finish();
  }

 private:
  const Dims& shape(int v) const { return g_.values[static_cast<size_t>(v)].type.shape; }

  Expected<bool> rewritten(const Node& n) {
    if (n.op != "einsum" || n.inputs.size() != 2) return false;
    const std::string equation = n.attrs.text("equation", "");
    const size_t comma = equation.find(','), arrow = equation.find("->");
    if (comma == std::string::npos || has(equation, '.')) return false;
    std::string a = equation.substr(0, comma), b = equation.substr(comma + 1, arrow == std::string::npos ? arrow : arrow - comma - 1);
    const std::string output = arrow == std::string::npos ? implied_output(a, b) : equation.substr(arrow + 2);
    if (!each_once(a) || !each_once(b)) return false;
    int first = n.inputs[0], second = n.inputs[1];
    auto product = as_product(a, b, output);
    if (!product) return false;
    // Whose letters come first in the output has the rows: nothing is transposed behind the product then. A constant has the columns, as layers keep their weights.
    const bool ordered = output.find(product->rows.front()) < output.find(product->columns.front());
    const bool constant_first = g_.values[static_cast<size_t>(first)].constant && !g_.values[static_cast<size_t>(second)].constant;
    const bool constant_second = g_.values[static_cast<size_t>(second)].constant && !g_.values[static_cast<size_t>(first)].constant;
    if (constant_first || (!ordered && !constant_second)) {
      std::swap(a, b);
      std::swap(first, second);
      product = as_product(a, b, output);
    }
    extents_.clear();
    for (size_t d = 0; d < a.size(); ++d) extents_[a[d]] = shape(first)[d];
    for (size_t d = 0; d < b.size(); ++d) extents_[b[d]] = shape(second)[d];
    const Product& p = *product;
    if (size(p.rows) == 1 || size(p.columns) == 1) return false;  // sums of one vector, which read best where they lie
    const std::string order = p.batch + p.rows + p.columns;
    if (order != output && size(output) > kMuchLarger * (size(a) + size(b))) return false;  // its result would take longer to transpose than to compute

    rewrite_.at(n);
    TW_TRY(const int left, arranged(first, a, p.batch, p.rows, p.summed, n.name + ".rows"));
    TW_TRY(const int right, arranged(second, b, p.batch, p.summed, p.columns, n.name + ".columns"));
    TW_TRY(int y, node("matmul", {left, right}, {}, n.name));
    Dims apart;
    for (const char c : order) apart.push_back(extents_.at(c));
    TW_TRY(y, reshaped(y, apart, n.name + ".apart"));
    TW_TRY(y, transposed(y, order, output, n.name + ".order"));
    rewrite_.builder().rename(y, g_.values[static_cast<size_t>(n.outputs[0])].name);
    rewrite_.replace(n.outputs[0], y);
    return true;
  }

  int64_t size(const std::string& letters) const {
    return std::accumulate(letters.begin(), letters.end(), int64_t{1}, [&](int64_t all, char c) { return all * extents_.at(c); });
  }
  Expected<int> node(const char* op, std::vector<int> inputs, Attrs attrs, const std::string& name) {
    TW_TRY(const std::vector<int> out, rewrite_.builder().node(op, std::move(inputs), std::move(attrs), name));
    return out[0];
  }
  Expected<int> reshaped(int v, const Dims& to, const std::string& name) {
    if (rewrite_.builder().graph().values[static_cast<size_t>(v)].type.shape == to) return v;
    return node("reshape", {v}, Attrs{{{"shape", to}}}, name);
  }
  Expected<int> transposed(int v, const std::string& from, const std::string& to, const std::string& name) {
    if (from == to) return v;
    Dims perm;
    for (const char c : to) perm.push_back(static_cast<int64_t>(from.find(c)));
    return node("transpose", {v}, Attrs{{{"perm", perm}}}, name);
  }
  /// An operand as matrices: its batch, then rows and columns as one dimension each.
  Expected<int> arranged(int operand, const std::string& letters, const std::string& batch, const std::string& rows, const std::string& columns, const std::string& name) {
    TW_TRY(const int v, transposed(rewrite_.value(operand), letters, batch + rows + columns, name + ".order"));
    Dims matrices;
    for (const char c : batch) matrices.push_back(extents_.at(c));
    matrices.push_back(size(rows));
    matrices.push_back(size(columns));
    return reshaped(v, matrices, name);
  }

  const Graph& g_;
  Rewriter rewrite_;
  std::map<char, int64_t> extents_;
};

}  // namespace

Expected<Graph> einsum_to_matmul(const Graph& g, const Target&) { return Matmuls(g).run(); }

}  // namespace tw::graph
