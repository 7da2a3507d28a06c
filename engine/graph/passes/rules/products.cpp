// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

using Dims = std::vector<int64_t>;

/// Rows of a product that are dot products with the other operand's rows where these lie; of more, its columns are worth having in vectors. Attention over 1,024
/// keys of 64 on a Xeon, by rows and with a transposed copy: 2 queries 281 and 480 us, 4 373 and 483, 8 581 and 508; with AVX2 310 and 506, 445 and 525, 750 and 671.
constexpr int64_t kFewRows = 4;

/// Where the node that makes `v` swaps the last two dimensions, perhaps among others, so that rows which lay in one piece no longer do: the permutation
/// without that swap. Empty: it does not.
Dims without_swap(const Site& s, int v) {
  const Node* t = s.made_by(v, "transpose");
  if (!t) return {};
  Dims perm = permutation(t->attrs, s.type(v).shape.size());
  if (!turns_rows(perm)) return {};
  std::swap(perm[perm.size() - 2], perm.back());
  return perm;
}

Draft by_rows(int a, int b) { return {"matmul", {a, b}, Attrs{{{"transpose_b", int64_t{1}}}}}; }

bool of_activations(const Site& s) {
  return !s.target().gpu && s.draft().attrs.integer("transpose_b", 0) == 0 && !s.constant(s.input(0)) && !s.constant(s.input(1)) && s.result().dtype.is_float();
}

/// A few rows times a transposed matrix, as the queries of a language model's next token times all keys.
Expected<Outcome> few_rows(Site& s) {
  if (!of_activations(s)) return nothing();
  const Dims &a = s.type(s.input(0)).shape, perm = without_swap(s, s.input(1));
  if (a[a.size() - 2] > kFewRows || perm.empty()) return nothing();
  const int whole = s.made_by(s.input(1), "transpose")->inputs[0];
  if (std::is_sorted(perm.begin(), perm.end())) return Outcome(by_rows(s.input(0), whole));
  TW_TRY(const int moved, s.add_node({"transpose", {whole}, Attrs{{{"perm", perm}}}}, ".rows"));
  return Outcome(by_rows(s.input(0), moved));
}

/// A matrix times one column is the column as a row times the transposed matrix.
Expected<Outcome> one_column(Site& s) {
  if (!of_activations(s)) return nothing();
  const Dims &a = s.type(s.input(0)).shape, &b = s.type(s.input(1)).shape;
  if (b.back() != 1 || a[a.size() - 2] == 1) return nothing();
  Dims row = b;
  std::swap(row.back(), row[row.size() - 2]);
  TW_TRY(const int column, s.reshaped(s.input(1), row, ".row"));
  const Dims perm = without_swap(s, s.input(0));
  const bool undone = !perm.empty() && std::is_sorted(perm.begin(), perm.end());
  TW_TRY(const int product, s.add_node(undone ? Draft{"matmul", {column, s.made_by(s.input(0), "transpose")->inputs[0]}} : by_rows(column, s.input(0)), ".product"));
  return Outcome(reshape_of(product, s.result().shape));
}

}  // namespace

std::span<const Rule> products() {
  static const std::array kRules = {
      Rule{"matmul", one_column, "On processors, a matrix times one column is a row times the transposed matrix"},
      Rule{"matmul", few_rows, "On processors, a few rows meet the rows of a transposed matrix where they lie"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
