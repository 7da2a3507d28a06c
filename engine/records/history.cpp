// SPDX-License-Identifier: Apache-2.0
#include "engine/records/history.h"

#include <array>
#include <cmath>
#include <sstream>

#include "engine/base/json.h"
#include "engine/records/autotvm_task.h"
#include "engine/records/best.h"

namespace tw::records {
namespace {

struct Kind {
  const char* name;
  std::vector<std::string> keys;
};

const std::array kKinds = {Kind{"llvm", {"cpu"}},
                           Kind{"c", {"cpu"}},
                           Kind{"cuda", {"cuda", "gpu"}},
                           Kind{"rocm", {"rocm", "gpu"}},
                           Kind{"opencl", {"opencl", "gpu"}},
                           Kind{"metal", {"metal", "gpu"}},
                           Kind{"vulkan", {"vulkan", "gpu"}}};

std::vector<std::string> split_words(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, separator);)
    if (!word.empty()) words.push_back(word);
  return words;
}

}  // namespace

TargetNames target_names(std::string_view target) {
  TargetNames names;
  const std::vector<std::string> words = split_words(std::string(target), ' ');
  const auto flag = [&](const std::string& name) {
    for (const std::string& word : words)
      if (word.starts_with(name)) return word.substr(name.size());
    return std::string();
  };
  if (const std::string model = flag("-model="); !model.empty()) names.model = model;
  names.keys = split_words(flag("-keys="), ',');
  if (!names.keys.empty() || words.empty()) return names;
  if (const std::string device = flag("-device="); !device.empty()) names.keys.push_back(device);
  for (const Kind& kind : kKinds)
    if (words.front() == kind.name) names.keys.insert(names.keys.end(), kind.keys.begin(), kind.keys.end());
  return names;
}

void HistoryBest::load(const AutotvmRecord& record) {
  const double cost = mean_cost(record);
  if (!std::isfinite(cost)) return;
  const AutotvmRecord& kept = records_.emplace_back(record);
  std::string& workload = workloads_[record.name + " " + record.args];
  if (workload.empty()) workload = workload_text(record.name, args_of(record));
  const TargetNames names = target_names(record.target);
  const auto better = [&](std::map<Key, const AutotvmRecord*>& best, const std::string& key) {
    const auto [it, fresh] = best.try_emplace({key, workload}, &kept);
    if (!fresh && cost < mean_cost(*it->second)) it->second = &kept;
  };
  if (names.model != "unknown") better(by_model_, names.model);
  for (const std::string& key : names.keys) better(by_target_key_, key);
}

const AutotvmRecord* HistoryBest::query(std::string_view target, const std::string& name, const Json& args) const {
  const std::string workload = workload_text(name, args);
  const TargetNames names = target_names(target);
  if (const auto it = by_model_.find({names.model, workload}); it != by_model_.end()) return it->second;
  for (const std::string& key : names.keys)
    if (const auto it = by_target_key_.find({key, workload}); it != by_target_key_.end()) return it->second;
  return nullptr;
}

}  // namespace tw::records
