// SPDX-License-Identifier: Apache-2.0
#include "engine/records/recorded_trials.h"

namespace tw::records {

void RecordedTrials::add(Record record) {
  if (!record.result.ok() && !blames_candidate(record.result.status)) return;
  OfTask& task = tasks_[record.task_key];
  const Candidate& c = record.candidate;
  if (c.index >= 0)
    task.points.insert_or_assign({c.space, c.index}, std::move(record));
  else
    task.others.insert_or_assign(schedule::json_text(c.steps), std::move(record));
}

const Record* RecordedTrials::find(const std::string& task_key, const Candidate& candidate) const {
  const auto of = [](const auto& trials, const auto& key) {
    const auto found = trials.find(key);
    return found == trials.end() ? nullptr : &found->second;
  };
  const OfTask* task = of(tasks_, task_key);
  if (task == nullptr) return nullptr;
  return candidate.index >= 0 ? of(task->points, std::pair(candidate.space, candidate.index)) : of(task->others, schedule::json_text(candidate.steps));
}

std::vector<int64_t> RecordedTrials::points(const std::string& task_key, const std::string& space) const {
  std::vector<int64_t> indices;
  if (const auto task = tasks_.find(task_key); task != tasks_.end()) {
    const auto& points = task->second.points;
    for (auto p = points.lower_bound({space, 0}); p != points.end() && p->first.first == space; ++p) indices.push_back(p->first.second);
  }
  return indices;
}

size_t RecordedTrials::size() const {
  size_t total = 0;
  for (const auto& [key, task] : tasks_) total += task.points.size() + task.others.size();
  return total;
}

size_t RecordedTrials::size(const std::string& task_key) const {
  const auto task = tasks_.find(task_key);
  return task == tasks_.end() ? 0 : task->second.points.size() + task->second.others.size();
}

}  // namespace tw::records
