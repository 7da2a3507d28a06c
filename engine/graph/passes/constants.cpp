// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/constants.h"

#include <algorithm>
#include <set>

#include "engine/graph/evaluate.h"

namespace tw::graph {

bool is_commutative(const std::string& op) {
  static const std::set<std::string> kOps = {"add", "mul", "max", "min", "equal", "not_equal", "and", "or", "xor", "bitwise_and", "bitwise_or", "bitwise_xor"};
  return kOps.contains(op);
}

std::optional<double> uniform(const HostArray& a) {
  const int64_t n = a.num_elements();
  if (n == 0) return {};
  const double first = a.get(0);
  for (int64_t i = 1; i < n; ++i)
    if (a.get(i) != first) return {};
  return first;
}

HostArray full(DType t, double v) {
  HostArray a = HostArray::make(t, {});
  a.set(0, v);
  return a;
}

Expected<HostArray> fold(const std::string& op, const std::vector<HostArray>& operands, Attrs attrs) {
  GraphBuilder b("fold");
  std::vector<int> inputs;
  std::vector<std::shared_ptr<const HostArray>> arrays;
  for (const HostArray& a : operands) {
    arrays.push_back(std::make_shared<const HostArray>(a));
    inputs.push_back(b.constant("c", arrays.back()));
  }
  TW_TRY(const std::vector<int> out, b.node(op, inputs, std::move(attrs)));
  (void)out;
  const Graph g = std::move(b).finish();
  TW_TRY(std::vector<HostArray> results, evaluate_node(g, g.nodes[0], arrays));
  return std::move(results[0]);
}

bool turns_rows(const std::vector<int64_t>& perm) { return perm.size() > 1 && perm[perm.size() - 2] == static_cast<int64_t>(perm.size()) - 1; }

std::vector<int64_t> permutation(const Attrs& attrs, size_t rank) {
  std::vector<int64_t> reversed(rank);
  for (size_t d = 0; d < rank; ++d) reversed[d] = static_cast<int64_t>(rank - 1 - d);
  std::vector<int64_t> perm = attrs.integers("perm", reversed);
  for (int64_t& p : perm) p += p < 0 ? static_cast<int64_t>(rank) : 0;
  return perm;
}

}  // namespace tw::graph
