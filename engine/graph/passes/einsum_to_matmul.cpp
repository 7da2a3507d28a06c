// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/einsum_to_matmul.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

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

bool each_once(std::string letters) {
  std::sort(letters.begin(), letters.end());
  return std::adjacent_find(letters.begin(), letters.end()) == letters.end();
}

std::optional<Product> letters_of(const std::string& a, const std::string& b, const std::string& output) {
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

/// An equation with a letter for every dimension of every operand.
struct Equation {
  std::vector<std::string> terms;
  std::string output;
};

/// Ellipses become letters that the equation lacks, if all operands that have one hide as many dimensions. Nothing for equations that it cannot say so.
std::optional<Equation> spelled_out(const std::string& text, const std::vector<size_t>& ranks) {
  Equation e;
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  for (size_t at = 0; at <= left.size(); at = std::min(left.find(',', at), left.size()) + 1) e.terms.push_back(left.substr(at, left.find(',', at) - at));
  if (e.terms.size() != ranks.size()) return std::nullopt;
  std::optional<size_t> hidden;
  for (size_t k = 0; k < ranks.size(); ++k) {
    if (!has(e.terms[k], '.')) continue;
    const size_t dims = ranks[k] + 3 - e.terms[k].size();
    if (hidden.value_or(dims) != dims) return std::nullopt;
    hidden = dims;
  }
  std::string letters;
  for (char c = 'a'; c <= 'z' && letters.size() < hidden.value_or(0); ++c)
    if (!has(text, c)) letters.push_back(c);
  if (letters.size() < hidden.value_or(0)) return std::nullopt;
  const auto spell = [&](std::string& term) {
    if (const size_t dots = term.find("..."); dots != std::string::npos) term.replace(dots, 3, letters);
  };
  for (std::string& t : e.terms) spell(t);
  if (arrow != std::string::npos) {
    e.output = text.substr(arrow + 2);
    spell(e.output);
    return e;
  }
  std::string all;  // those that occur once, in alphabetical order
  for (const std::string& t : e.terms) all += t;
  for (const char c : all)
    if (std::count(all.begin(), all.end(), c) == 1 && !has(letters, c)) e.output.push_back(c);
  std::sort(e.output.begin(), e.output.end());
  e.output.insert(0, letters);
  return e;
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

  /// A value of the new graph and its letters.
  struct Term {
    int value;
    std::string letters;
  };

  Expected<bool> rewritten(const Node& n) {
    if (n.op != "einsum" || n.inputs.size() < 2) return false;
    std::vector<size_t> ranks;
    for (const int v : n.inputs) ranks.push_back(shape(v).size());
    const auto equation = spelled_out(n.attrs.text("equation", ""), ranks);
    if (!equation || !std::all_of(equation->terms.begin(), equation->terms.end(), each_once)) return false;
    extents_.clear();
    std::vector<Term> terms;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      terms.push_back({rewrite_.value(n.inputs[k]), equation->terms[k]});
      for (size_t d = 0; d < ranks[k]; ++d)
        if (extents_.emplace(terms[k].letters[d], shape(n.inputs[k])[d]).first->second != shape(n.inputs[k])[d]) return false;
    }
    if (terms.size() == 2 && !as_product(terms[0], terms[1], equation->output) && !element_by_element(terms[0], terms[1], equation->output)) return false;
    rewrite_.at(n);
    while (terms.size() > 2) {  // those first that cost least
      size_t first = 0, second = 1;
      for (size_t i = 0; i < terms.size(); ++i)
        for (size_t j = i + 1; j < terms.size(); ++j)
          if (cost(terms, i, j, equation->output) < cost(terms, first, second, equation->output)) std::tie(first, second) = std::pair(i, j);
      const std::string letters = left_of(terms, first, second, equation->output);
      TW_TRY(const int pair, contracted(terms[first], terms[second], letters, n.name + "." + letters));
      terms[first] = {pair, letters};
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(second));
    }
    TW_TRY(const int y, contracted(terms[0], terms[1], equation->output, n.name));
    rewrite_.builder().rename(y, g_.values[static_cast<size_t>(n.outputs[0])].name);
    rewrite_.replace(n.outputs[0], y);
    return true;
  }

  /// The letters that two of the terms leave for the others and the output, in the order in which a product of matrices gives them.
  static std::string left_of(const std::vector<Term>& terms, size_t first, size_t second, const std::string& output) {
    std::string others = output;
    for (size_t k = 0; k < terms.size(); ++k)
      if (k != first && k != second) others += terms[k].letters;
    const std::string &a = terms[first].letters, &b = terms[second].letters;
    std::string batch, rows, columns;
    for (const char c : a)
      if (has(others, c)) (has(b, c) ? batch : rows).push_back(c);
    for (const char c : b)
      if (has(others, c) && !has(a, c)) columns.push_back(c);
    return batch + rows + columns;
  }
  /// Multiplications, and elements written.
  int64_t cost(const std::vector<Term>& terms, size_t first, size_t second, const std::string& output) const {
    std::string all = terms[first].letters;
    for (const char c : terms[second].letters)
      if (!has(all, c)) all.push_back(c);
    return size(all) + size(left_of(terms, first, second, output));
  }

  const Value& value(int v) { return rewrite_.builder().graph().values[static_cast<size_t>(v)]; }

  /// The letters of a product of matrices, if two terms are one that is worth being computed as such. Puts the term first that has the rows.
  std::optional<Product> as_product(Term& a, Term& b, const std::string& output) {
    const auto p = letters_of(a.letters, b.letters, output);
    if (!p) return std::nullopt;
    // Whose letters come first in the output has the rows: nothing is transposed behind the product then. A constant has the columns, as layers keep their
    // weights.
    const bool ordered = output.find(p->rows.front()) < output.find(p->columns.front());
    const bool constant_a = value(a.value).constant != nullptr, constant_b = value(b.value).constant != nullptr;
    if (constant_a == constant_b ? !ordered : constant_a) std::swap(a, b);
    const Product q = *letters_of(a.letters, b.letters, output);
    if (size(q.rows) == 1 || size(q.columns) == 1) return std::nullopt;                    // sums of one vector, which read best where they lie
    const bool small = size(output) <= kMuchLarger * (size(a.letters) + size(b.letters));  // else its result would take longer to transpose than to compute
    return q.batch + q.rows + q.columns == output || small ? std::optional(q) : std::nullopt;
  }

  /// Whether nothing is summed up and both terms have their letters in the order of the output.
  static bool element_by_element(const Term& a, const Term& b, const std::string& output) {
    const auto in_order = [&](const std::string& letters) {
      size_t at = 0;
      for (const char c : letters) {
        at = output.find(c, at);
        if (at == std::string::npos) return false;
      }
      return true;
    };
    return in_order(a.letters) && in_order(b.letters);
  }

  Expected<int> contracted(Term a, Term b, const std::string& output, const std::string& name) {
    if (const auto p = as_product(a, b, output)) {
      TW_TRY(const int left, arranged(a, p->batch, p->rows, p->summed, name + ".rows"));
      TW_TRY(const int right, arranged(b, p->batch, p->summed, p->columns, name + ".columns"));
      TW_TRY(int y, node("matmul", {left, right}, {}, name));
      const std::string order = p->batch + p->rows + p->columns;
      Dims apart;
      for (const char c : order) apart.push_back(extents_.at(c));
      TW_TRY(y, reshaped(y, apart, name + ".apart"));
      return transposed(y, order, output, name + ".order");
    }
    if (!element_by_element(a, b, output)) return node("einsum", {a.value, b.value}, Attrs{{{"equation", a.letters + "," + b.letters + "->" + output}}}, name);
    std::vector<int> operands;
    for (const Term& t : {a, b}) {
      Dims beside;
      for (const char c : output) beside.push_back(has(t.letters, c) ? extents_.at(c) : 1);
      TW_TRY(const int v, reshaped(t.value, beside, name + ".beside"));
      operands.push_back(v);
    }
    return node("mul", operands, {}, name);
  }

  int64_t size(const std::string& letters) const {
    return std::accumulate(letters.begin(), letters.end(), int64_t{1}, [&](int64_t all, char c) { return all * extents_.at(c); });
  }
  Expected<int> node(const char* op, std::vector<int> inputs, Attrs attrs, const std::string& name) {
    TW_TRY(const std::vector<int> out, rewrite_.builder().node(op, std::move(inputs), std::move(attrs), name));
    return out[0];
  }
  Expected<int> reshaped(int v, const Dims& to, const std::string& name) {
    if (value(v).type.shape == to) return v;
    return node("reshape", {v}, Attrs{{{"shape", to}}}, name);
  }
  Expected<int> transposed(int v, const std::string& from, const std::string& to, const std::string& name) {
    if (from == to) return v;
    Dims perm;
    for (const char c : to) perm.push_back(static_cast<int64_t>(from.find(c)));
    return node("transpose", {v}, Attrs{{{"perm", perm}}}, name);
  }
  /// An operand as matrices: its batch, then rows and columns as one dimension each.
  Expected<int> arranged(const Term& t, const std::string& batch, const std::string& rows, const std::string& columns, const std::string& name) {
    TW_TRY(const int v, transposed(t.value, t.letters, batch + rows + columns, name + ".order"));
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
