// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/space_search.h"

#include <algorithm>
#include <limits>

#include "engine/base/hash.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
/// After this many trials of its own, a search whose best is this many times slower than another's waits.
constexpr int64_t kFairTrials = 32;
constexpr double kFarBehind = 1.5;

bool tells_of_candidate(const records::MeasureResult& r) { return r.ok() || records::blames_candidate(r.status); }

/// Kinds, names and numbers of factors, which is what models of knobs count.
bool same_knobs(const space::ConfigSpace& a, const space::ConfigSpace& b) {
  return std::equal(a.knobs().begin(), a.knobs().end(), b.knobs().begin(), b.knobs().end(), [](const space::Knob& x, const space::Knob& y) {
    return x.name == y.name && x.kind == y.kind && !x.candidates.empty() && !y.candidates.empty() && x.candidates[0].split.size() == y.candidates[0].split.size();
  });
}

}  // namespace

std::vector<const space::Template*> searched_templates(const records::Task& task, const std::string& space) {
  if (space.empty()) return space::alternatives(*task.dag, task.target);
  const space::Template* named = space::find_template(*task.dag, task.target, space);
  return named ? std::vector{named} : std::vector<const space::Template*>{};
}

SpaceSearch::SpaceSearch(const StrategyDef& def, const StrategyInput& input) : task_(input.task), best_s_(kNever) {
  uint64_t seed = hash_combine(input.seed, stable_hash(task_.key));
  for (const space::Template* found : searched_templates(task_, input.space)) {
    Search& s = searches_.emplace_back(Search{.space_template = found, .space = found->space(*task_.dag, task_.target), .best_s = kNever});
    if (input.points) {
      if (auto points = input.points(found->name)) s.space.keep_only(std::move(*points), "no trial of this point was recorded");
    }
    s.points = def.make_points({s.space, input.params, Rng(seed), &task_, found, input.stop, input.workers, input.shared_model});
    s.usable = usable_points(s.space);
    seed = hash_combine(seed, stable_hash(found->name));
  }
}

SpaceSearch::Search* SpaceSearch::search_of(const records::Record& record) {
  if (record.candidate.index < 0) return nullptr;
  for (Search& s : searches_)
    if (s.space_template->name == record.candidate.space && record.candidate.index < s.space.size()) return &s;
  return nullptr;
}

void SpaceSearch::observe(std::span<const records::Record> records) {
  std::vector<std::vector<Observation>> learned(searches_.size());
  for (const records::Record& r : records) {
    const double seconds = r.result.censored ? kNever : r.result.decided_s();
    best_s_ = std::min(best_s_, seconds);
    Search* s = search_of(r);
    if (s == nullptr) continue;
    ++s->trials;
    s->best_s = std::min(s->best_s, seconds);
    s->seen.insert(r.candidate.index);
    for (size_t i = 0; i < searches_.size(); ++i)
      if (&searches_[i] == s && tells_of_candidate(r.result)) learned[i].push_back({r.candidate.index, r.result});
  }
  for (size_t i = 0; i < searches_.size(); ++i)
    if (!learned[i].empty()) searches_[i].points->observe(learned[i]);
}

void SpaceSearch::transfer(std::span<const PriorTask> prior) {
  for (Search& s : searches_) {
    std::vector<PriorPoints> alike;
    for (const PriorTask& p : prior) {
      if (p.task.key == task_.key || !space::find_template(*p.task.dag, p.task.target, s.space_template->name)) continue;
      PriorPoints points{p.task, s.space_template, s.space_template->space(*p.task.dag, p.task.target), {}};
      // Texts of people share a name and nothing else.
      if (!task_.dag->source.empty() && !same_knobs(points.space, s.space)) continue;
      for (const records::Record& r : p.records) {
        const bool of_space = r.candidate.space == s.space_template->name && r.candidate.index >= 0 && r.candidate.index < points.space.size();
        if (of_space && tells_of_candidate(r.result)) points.results.push_back({r.candidate.index, r.result});
      }
      if (!points.results.empty()) alike.push_back(std::move(points));
    }
    s.points->transfer(alike);
  }
}

int64_t SpaceSearch::capacity() const {
  int64_t total = 0;
  for (const Search& s : searches_) total += s.usable;
  return total;
}

std::vector<SearchedSpace> SpaceSearch::spaces() const {
  std::vector<SearchedSpace> spaces;
  for (const Search& s : searches_) spaces.push_back({s.space_template->name, s.space.size()});
  return spaces;
}

bool SpaceSearch::behind(const Search& search) const { return search.trials >= kFairTrials && search.best_s > kFarBehind * best_s_; }

std::vector<Proposal> SpaceSearch::propose(int n) {
  const auto wanted = static_cast<size_t>(std::max(n, 0));
  std::vector<Search*> ahead, waiting;
  for (Search& s : searches_) (behind(s) ? waiting : ahead).push_back(&s);
  // Those with fewest trials first, so that a small batch is not always the same one's.
  std::stable_sort(ahead.begin(), ahead.end(), [](const Search* a, const Search* b) { return a->trials < b->trials; });
  std::vector<Proposal> batch;
  for (size_t k = 0; k < ahead.size(); ++k) propose(*ahead[k], (wanted - batch.size() + ahead.size() - k - 1) / (ahead.size() - k), batch);
  // What a search has too few points for, the others take.
  for (Search* s : ahead) propose(*s, wanted - batch.size(), batch);
  if (batch.empty())
    for (Search* s : waiting) propose(*s, wanted - batch.size(), batch);
  return batch;
}

void SpaceSearch::propose(Search& search, size_t count, std::vector<Proposal>& batch) {
  const size_t wanted = batch.size() + count;
  if (!search.begun && count > 0) {
    // The point that its template would choose comes first, so that a small budget sees what each algorithm is good for. One of them is the default schedule.
    search.begun = true;
    const space::ConfigEntity point = search.space_template->fallback(*task_.dag, task_.target);
    const auto untuned = space::fallback(task_.dag, task_.target);
    const bool measured = untuned && untuned->space_template == search.space_template;
    if (point.index() >= 0 && !measured && is_valid_point(search.space, point.index()) && search.seen.insert(point.index()).second)
      batch.push_back(point_candidate(task_, *search.space_template, point));
  }
  while (batch.size() < wanted) {
    const std::vector<int64_t> points = search.points->propose(static_cast<int>(wanted - batch.size()));
    if (points.empty()) break;
    const std::vector<std::optional<records::Prediction>> predictions = search.points->predictions(points);
    for (size_t i = 0; i < points.size(); ++i) {
      if (search.seen.contains(points[i])) continue;
      const auto entity = search.space.get(points[i]);
      TW_ASSERT(entity.has_value(), "a strategy proposed a point outside its space");
      batch.push_back(point_candidate(task_, *search.space_template, *entity));
      batch.back().prediction = predictions[i];
    }
  }
}

}  // namespace tw::tune
