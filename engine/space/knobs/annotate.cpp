// SPDX-License-Identifier: Apache-2.0
#include "engine/space/knobs/annotate.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::space {
namespace {

using Words = std::vector<std::string>;

KnobValue annotation(Words words) {
  KnobValue value;
  value.annotate = std::move(words);
  return value;
}

/// The longest binding that fits: surplus outer axes are fused, the rest bound to blocks and threads.
Words bind_axes(int num_axes, const std::string& policy) {
  const std::vector<Words> plain = {{"blockIdx.z", "blockIdx.y", "blockIdx.x", "threadIdx.z", "threadIdx.y", "threadIdx.x"},
                                    {"blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"},
                                    {"blockIdx.x", "threadIdx.x"}};
  const std::vector<Words> with_vthreads = {
      {"blockIdx.z", "blockIdx.y", "blockIdx.x", "vthread", "vthread", "vthread", "threadIdx.z", "threadIdx.y", "threadIdx.x"},
      {"blockIdx.y", "blockIdx.x", "vthread", "vthread", "threadIdx.y", "threadIdx.x"},
      {"blockIdx.x", "vthread", "threadIdx.x"}};
  for (const Words& binding : policy == "bind_gpu" ? plain : with_vthreads) {
    if (num_axes < static_cast<int>(binding.size())) continue;
    Words words(num_axes - binding.size(), "fuse");
    words.insert(words.end(), binding.begin(), binding.end());
    return words;
  }
  TW_UNREACHABLE(fmt::format("Annotation policy '{}' needs more axes than {}", policy, num_axes));
}

/// All `count`-combinations of axes, lexicographic.
std::vector<KnobValue> anchors(int num_axes, int count) {
  TW_ASSERT(1 <= count && count <= num_axes, fmt::format("Expected 1 to {} anchors, found {}", num_axes, count));
  std::vector<bool> chosen(num_axes, false);
  std::fill(chosen.begin(), chosen.begin() + count, true);
  std::vector<KnobValue> result;
  do {
    Words words;
    for (int axis = 0; axis < num_axes; ++axis) {
      if (chosen[axis]) words.push_back(std::to_string(axis));
    }
    result.push_back(annotation(std::move(words)));
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
  return result;
}

Words policy_words(const std::string& policy) {
  Words words;
  size_t start = 0;
  while (start <= policy.size()) {
    const size_t stop = std::min(policy.find('_', start), policy.size());
    std::string word = policy.substr(start, stop - start);
    if (word == "try") word = "none";
    TW_ASSERT(word == "none" || word == "unroll" || word == "vec", fmt::format("Annotation policy '{}' has the unknown word '{}'", policy, word));
    words.push_back(std::move(word));
    start = stop + 1;
  }
  return words;
}

void combine(const Words& words, int num_axes, Words& current, std::vector<KnobValue>& result) {
  if (static_cast<int>(current.size()) == num_axes) {
    if (std::count(current.begin(), current.end(), "vec") <= 1) result.push_back(annotation(current));
    return;
  }
  for (const std::string& word : words) {
    current.push_back(word);
    combine(words, num_axes, current, result);
    current.pop_back();
  }
}

}  // namespace

std::vector<KnobValue> enumerate_annotate(int num_axes, const AnnotateOptions& options) {
  TW_ASSERT(num_axes >= 1, fmt::format("An annotation needs at least 1 axis, found {}", num_axes));
  const std::string& policy = options.policy;
  if (policy == "bind_gpu" || policy == "bind_gpu_virtual") return {annotation(bind_axes(num_axes, policy))};
  if (policy == "locate_cache") return anchors(num_axes, options.num_anchor);
  std::vector<KnobValue> result;
  if (policy == "candidate") {
    for (const Words& words : options.candidates) {
      TW_ASSERT(static_cast<int>(words.size()) == num_axes, fmt::format("An annotation candidate needs {} words, found {}", num_axes, words.size()));
      result.push_back(annotation(words));
    }
    return result;
  }
  Words current;
  combine(policy_words(policy), num_axes, current, result);
  return result;
}

}  // namespace tw::space
