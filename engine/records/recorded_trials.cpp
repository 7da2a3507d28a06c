// SPDX-License-Identifier: Apache-2.0
#include "engine/records/recorded_trials.h"

namespace tw::records {

void RecordedTrials::add(Record record) {
  if (!record.result.ok() && !blames_candidate(record.result.status)) return;
  OfTask& task = tasks_[record.task_key];
  const Candidate& c = record.candidate;
  if (c.index >= 0) task.points[c.space].insert(c.index);
  const uint64_t key = identity(c);
  task.trials.insert_or_assign(key, std::move(record));
}

const Record* RecordedTrials::find(const std::string& task_key, const Candidate& candidate) const {
  const auto task = tasks_.find(task_key);
  if (task == tasks_.end()) return nullptr;
  const auto found = task->second.trials.find(identity(candidate));
  return found == task->second.trials.end() ? nullptr : &found->second;
}

std::vector<const Record*> RecordedTrials::all(const std::string& task_key) const {
  std::vector<const Record*> records;
  if (const auto task = tasks_.find(task_key); task != tasks_.end())
    for (const auto& [key, record] : task->second.trials) records.push_back(&record);
  return records;
}

std::vector<int64_t> RecordedTrials::points(const std::string& task_key, const std::string& space) const {
  const auto task = tasks_.find(task_key);
  if (task == tasks_.end()) return {};
  const auto points = task->second.points.find(space);
  return points == task->second.points.end() ? std::vector<int64_t>() : std::vector<int64_t>(points->second.begin(), points->second.end());
}

size_t RecordedTrials::size() const {
  size_t total = 0;
  for (const auto& [key, task] : tasks_) total += task.trials.size();
  return total;
}

size_t RecordedTrials::size(const std::string& task_key) const {
  const auto task = tasks_.find(task_key);
  return task == tasks_.end() ? 0 : task->second.trials.size();
}

}  // namespace tw::records
