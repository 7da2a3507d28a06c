// SPDX-License-Identifier: Apache-2.0
#include "engine/records/memory_store.h"

#include "engine/records/best.h"

namespace tw::records {

Expected<void> MemoryStore::store(const Task& task, const std::vector<Record>& records) {
  const std::lock_guard lock(mutex_);
  for (const Record& r : records) {
    TW_ASSERT(r.task_key == task.key, "a record of another task was stored");
    records_.push_back(r);
  }
  return {};
}

Expected<void> MemoryStore::store(const Task& task, const std::vector<Record>& records, const Round& round) {
  TW_CHECK(store(task, records));
  const std::lock_guard lock(mutex_);
  rounds_[round.number] = round;
  return {};
}

Expected<void> MemoryStore::settle(const Task& task, const std::vector<Record>& finalists) {
  const std::lock_guard lock(mutex_);
  for (Record& r : records_) {
    if (r.task_key != task.key) continue;
    for (const Record& f : finalists)
      if (identity(r.candidate) == identity(f.candidate)) r.result.verdict = f.result.verdict;
  }
  return {};
}

Expected<std::optional<Record>> MemoryStore::best(const std::string& task_key, Weights in_network) {
  const std::lock_guard lock(mutex_);
  const Record* found = best_of(records_, task_key, in_network);
  return found ? std::optional(*found) : std::nullopt;
}

std::vector<Round> MemoryStore::rounds() const {
  const std::lock_guard lock(mutex_);
  std::vector<Round> rounds;
  for (const auto& [number, round] : rounds_) rounds.push_back(round);
  return rounds;
}

std::vector<Record> MemoryStore::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

}  // namespace tw::records
