// SPDX-License-Identifier: Apache-2.0
#include "engine/space/knobs/reorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tw::space {
namespace {

KnobValue permutation(std::vector<int> order) {
  KnobValue value;
  value.reorder = std::move(order);
  return value;
}

std::vector<KnobValue> permute_interval(int num_axes, int begin, int end) {
  TW_ASSERT(0 <= begin && begin <= end && end <= num_axes, fmt::format("The interval [{}, {}) is not within {} axes", begin, end, num_axes));
  std::vector<int> order(num_axes);
  std::iota(order.begin(), order.end(), 0);
  std::vector<KnobValue> result;
  do {
    result.push_back(permutation(order));
  } while (std::next_permutation(order.begin() + begin, order.begin() + end));
  return result;
}

/// Takes the next element of the chain with most elements left, the first of equals: the one merge that AutoTVM finds.
std::vector<int> merge_chains(const std::vector<std::vector<int>>& chains) {
  std::vector<size_t> taken(chains.size(), 0);
  std::vector<int> result;
  while (true) {
    int longest = -1;
    size_t left = 0;
    for (size_t c = 0; c < chains.size(); ++c) {
      if (chains[c].size() - taken[c] > left) {
        left = chains[c].size() - taken[c];
        longest = static_cast<int>(c);
      }
    }
    if (longest < 0) return result;
    result.push_back(chains[longest][taken[longest]++]);
  }
}

std::vector<int> interleave(const ReorderOptions& options, bool cuda) {
  std::vector<std::vector<int>> outer;
  std::vector<int> last;
  for (const auto& chain : options.spatial) {
    TW_ASSERT(!chain.empty(), "A spatial chain of an interleaved reorder needs at least one axis, found none");
    outer.emplace_back(chain.begin(), chain.end() - 1);
    last.push_back(chain.back());
  }
  std::vector<int> order = merge_chains(outer);
  std::vector<int> inner;
  if (cuda) {
    inner = merge_chains(options.reduce);
    inner.insert(inner.end(), last.begin(), last.end());
  } else {
    std::vector<std::vector<int>> chains = {};
    for (int axis : last) chains.push_back({axis});
    chains.insert(chains.end(), options.reduce.begin(), options.reduce.end());
    inner = merge_chains(chains);
  }
  order.insert(order.end(), inner.begin(), inner.end());
  return order;
}

void check_permutation(const std::vector<int>& order, int num_axes) {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool good = static_cast<int>(sorted.size()) == num_axes;
  for (int i = 0; good && i < num_axes; ++i) good = sorted[i] == i;
  TW_ASSERT(good, fmt::format("Expected a permutation of {} axes, found [{}]", num_axes, fmt::join(order, ", ")));
}

}  // namespace

std::vector<KnobValue> enumerate_reorder(int num_axes, const ReorderOptions& options) {
  TW_ASSERT(num_axes >= 1, fmt::format("A reorder needs at least 1 axis, found {}", num_axes));
  const std::string& policy = options.policy;
  if (policy == "identity") return permute_interval(num_axes, 0, 0);
  if (policy == "all") return permute_interval(num_axes, 0, num_axes);
  if (policy == "interval_all") return permute_interval(num_axes, options.begin, options.end);
  std::vector<KnobValue> result;
  if (policy == "candidate") {
    for (const auto& order : options.candidates) result.push_back(permutation(order));
  } else {
    TW_ASSERT(policy == "interleave" || policy == "interleave_cuda",
              fmt::format("Reorder policy '{}' is none of identity, all, interval_all, candidate, interleave and interleave_cuda", policy));
    result.push_back(permutation(interleave(options, policy == "interleave_cuda")));
  }
  for (const KnobValue& value : result) check_permutation(value.reorder, num_axes);
  return result;
}

}  // namespace tw::space
