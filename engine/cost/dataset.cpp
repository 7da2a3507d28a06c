// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/dataset.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tw::cost {
namespace {

/// A random order of the numbers below `count`.
std::vector<size_t> shuffled(size_t count, Rng& rng) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.uniform(i)]);
  return order;
}

/// How many of `count` are for the test.
size_t tested(size_t count, double test_share) { return static_cast<size_t>(std::clamp(test_share, 0.0, 1.0) * static_cast<double>(count)); }

/// A record with the space that its point belongs to.
struct Located {
  const records::Task* task;
  const records::Record* record;
  const space::Template* space_template = nullptr;
  const space::ConfigSpace* space = nullptr;
};

Expected<FeatureRows> features_of(const FeatureDef& feature, const Located& l) {
  const records::Candidate& c = l.record->candidate;
  FeatureInput input{l.task->dag, l.task->target};
  input.steps = &c.steps;
  if (l.space != nullptr) {
    TW_TRY(const space::ConfigEntity entity, l.space->from_json(c.config));
    input.space_template = l.space_template;
    input.space = l.space;
    input.point = entity.index();
    if (c.steps.empty()) input.steps = nullptr;  // as where the template refused the point
  }
  return feature.extract(input);
}

}  // namespace

Dataset::Task& Dataset::task(const std::string& key) {
  const auto [at, is_new] = places_.try_emplace(key, tasks_.size());
  if (is_new) tasks_.push_back({key, {}});
  return tasks_[at->second];
}

void Dataset::add(const std::string& task_key, FeatureRows rows, double speed) {
  Task& t = task(task_key);
  t.samples.push_back({std::move(rows), speed});
  t.fastest = std::max(t.fastest, speed);
}

size_t Dataset::size() const {
  size_t count = 0;
  for (const Task& t : tasks_) count += t.samples.size();
  return count;
}

FeatureMatrix Dataset::matrix() const {
  std::vector<const FeatureRows*> rows;
  for (const Task& t : tasks_)
    for (const Sample& s : t.samples) rows.push_back(&s.rows);
  return FeatureMatrix(rows);
}

std::vector<double> Dataset::labels() const {
  std::vector<double> out;
  for (const Task& t : tasks_) {
    for (const Sample& s : t.samples) out.push_back(t.fastest > 0 ? s.speed / t.fastest : 0);
  }
  return out;
}

std::vector<size_t> Dataset::group_sizes() const {
  std::vector<size_t> out;
  for (const Task& t : tasks_) out.push_back(t.samples.size());
  return out;
}

Dataset Dataset::of_records(const FeatureDef& feature, std::span<const records::TaskRecords> tasks, WorkerPool& workers, const StopToken& stop) {
  std::map<std::pair<const records::Task*, std::string>, std::pair<const space::Template*, space::ConfigSpace>> spaces;
  std::vector<Located> all;
  for (const records::TaskRecords& t : tasks) {
    for (const records::Record& r : t.records) {
      if (!r.result.ok() && !records::blames_candidate(r.result.status)) continue;
      Located l{&t.task, &r};
      if (!r.candidate.config.empty()) {
        const auto [at, is_new] = spaces.try_emplace({&t.task, r.candidate.space});
        auto& [space_template, space] = at->second;
        if (is_new) space_template = space::find_template(*t.task.dag, t.task.target, r.candidate.space);
        if (is_new && space_template != nullptr) space = space_template->space(*t.task.dag, t.task.target);
        l.space_template = space_template;
        l.space = space_template != nullptr ? &space : nullptr;
      }
      all.push_back(l);
    }
  }
  auto rows = workers.map(all.size(), [&](size_t i) { return features_of(feature, all[i]); }, stop);
  Dataset data;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!rows[i] || !*rows[i]) continue;
    const records::MeasureResult& result = all[i].record->result;
    const double seconds = result.seconds();
    data.add(all[i].task->key, **std::move(rows[i]), result.ok() && seconds > 0 ? 1 / seconds : 0);
  }
  return data;
}

Dataset::Split Dataset::split_samples(double test_share, Rng& rng) const {
  Split split;
  for (const Task& t : tasks_) {
    const std::vector<size_t> order = shuffled(t.samples.size(), rng);
    const size_t test = tested(order.size(), test_share);
    for (size_t i = 0; i < order.size(); ++i) {
      Task& part = (i < test ? split.test : split.train).task(t.key);
      part.samples.push_back(t.samples[order[i]]);
      part.fastest = t.fastest;
    }
  }
  return split;
}

Dataset::Split Dataset::split_tasks(double test_share, Rng& rng) const {
  Split split;
  const std::vector<size_t> order = shuffled(tasks_.size(), rng);
  const size_t test = tested(order.size(), test_share);
  for (size_t i = 0; i < order.size(); ++i) (i < test ? split.test : split.train).task(tasks_[order[i]].key) = tasks_[order[i]];
  return split;
}

Dataset::Split Dataset::split_by(const std::function<bool(const std::string& key)>& is_tested) const {
  Split split;
  for (const Task& t : tasks_) (is_tested(t.key) ? split.test : split.train).task(t.key) = t;
  return split;
}

}  // namespace tw::cost
