// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/population.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/base/hash.h"
#include "engine/space/sketch/limits.h"
#include "engine/space/sketch/packing.h"
#include "engine/space/template.h"
#include "engine/tune/valid_points.h"

namespace tw::tune {

namespace {

constexpr const char *kMeasured = "measured", *kDrawn = "sketch", *kPoint = "template", *kCrossover = "crossover";

std::optional<Member> made(std::optional<Member> m, const char* by) {
  if (m) m->made_by = by;
  return m;
}

}  // namespace

std::shared_ptr<const space::Program> Population::program_of(uint64_t structure, const std::vector<schedule::Step>& steps) const {
  constexpr size_t kKept = 4096;
  {
    const std::lock_guard lock(programs_mutex_);
    if (const auto at = programs_.find(structure); at != programs_.end()) return at->second;
  }
  auto made = space::Program::make(task_.dag, steps);
  const auto program = made ? std::make_shared<const space::Program>(*std::move(made)) : nullptr;
  const std::lock_guard lock(programs_mutex_);
  if (programs_.size() >= kKept) programs_.clear();
  return programs_.try_emplace(structure, program).first->second;
}

std::optional<Member> Population::checked(std::vector<schedule::Step> steps, std::string sketch, const schedule::Schedule* replayed) const {
  const uint64_t structure = space::structure_of(steps);
  const std::vector<int64_t> numbers = space::numbers_of(steps);
  auto program = program_of(structure, steps);
  const auto found = program != nullptr && program->covers(numbers) ? program->evaluate(numbers) : Expected<space::Evaluated>(Error());
  const bool exact = found && found->exact;
  if (!found) program = nullptr;
  if (exact) {
    if (!program->check(*found, task_.target)) return std::nullopt;
  } else if (replayed != nullptr) {
    if (!space::check_limits(*replayed, task_.target)) return std::nullopt;
  } else {
    const auto s = schedule::Schedule::replay(task_.dag, steps);
    if (!s || !space::check_limits(*s, task_.target)) return std::nullopt;
  }
  uint64_t identity = structure;
  for (const int64_t n : numbers) identity = hash_combine(identity, static_cast<uint64_t>(n));
  return Member{std::make_shared<const std::vector<schedule::Step>>(std::move(steps)), std::move(program), exact, false, std::move(sketch), identity};
}

std::optional<Member> Population::checked(const Expected<schedule::Schedule>& s, std::string sketch) const {
  return s ? checked(s->steps(), std::move(sketch), &*s) : std::nullopt;
}

Expected<schedule::Schedule> Population::schedule_of(const Member& m) const {
  TW_TRY(schedule::Schedule s, schedule::Schedule::replay(task_.dag, *m.steps));
  return m.packs && !annotate_.exact && !task_.target.gpu ? space::with_packed_constants(std::move(s)) : s;
}

Member Population::known(const std::vector<schedule::Step>& steps, std::string sketch) const {
  const std::vector<schedule::Step> searched = space::without_packing(*task_.dag, steps);
  auto member = made(checked(schedule::Schedule::replay(task_.dag, searched), std::move(sketch)), kMeasured);
  if (!member) return {};
  member->packs = searched.size() < steps.size();
  return *std::move(member);
}

std::vector<Member> Population::draw(int attempts, bool templates, Rng& rng) {
  if (templates && !spaces_) {
    spaces_.emplace();
    for (const space::Template* t : space::alternatives(*task_.dag, task_.target)) spaces_->emplace_back(t, t->space(*task_.dag, task_.target));
  }
  std::vector<Rng> generators;
  for (int i = 0; i < attempts; ++i) generators.push_back(rng.split());
  auto drawn = workers_.map(
      generators.size(),
      [&](size_t i) -> std::optional<Member> {
        Rng own = generators[i];
        if (templates && !spaces_->empty() && i % 2 == 1) {
          const auto& [t, points] = (*spaces_)[own.uniform(spaces_->size())];
          const int64_t point = points.size() > 0 ? own.range(0, points.size() - 1) : -1;
          if (point < 0 || !is_valid_point(points, point)) return std::nullopt;
          return made(checked(t->apply(task_.dag, task_.target, *points.get(point)), t->name), kPoint);
        }
        const size_t number = own.uniform(sketches_.size());
        auto m = made(checked(space::random_schedule(sketches_[number], task_.target, annotate_, own), fmt::format("sketch {}", number)), kDrawn);
        if (m) m->packs = true;
        return m;
      },
      stop_);
  std::vector<Member> out;
  std::unordered_set<uint64_t> met;
  for (auto& m : drawn)
    if (m && *m && met.insert((*m)->identity).second) out.push_back(**std::move(m));
  return out;
}

Expected<cost::FeatureRows> Population::extracted(const cost::FeatureDef& feature, const Member& m) const {
  if (m.program == nullptr || feature.of_program == nullptr) return feature.extract({.dag = task_.dag, .target = task_.target, .steps = m.steps.get()});
  const std::vector<int64_t> numbers = space::numbers_of(*m.steps);
  if (m.exact) return feature.of_program(*m.program, *m.program->evaluate(numbers), task_.target);
  TW_TRY(const schedule::Schedule s, schedule::Schedule::replay(task_.dag, *m.steps));
  const lower::LoopExtents extents(s);
  if (!extents.ok()) return Error(ErrorCode::illegal_schedule, "Expected a schedule that can be lowered, found one that a later step made illegal");
  const auto found = m.program->evaluate(numbers, &extents);
  TW_CHECK(m.program->check(*found, task_.target));
  return feature.of_program(*m.program, *found, task_.target);
}

std::vector<const cost::FeatureRows*> Population::rows(const cost::FeatureDef& feature, std::span<const Member> members) {
  constexpr size_t kKept = 50'000;
  std::unordered_map<uint64_t, cost::FeatureRows>& known = features_[&feature];
  if (known.size() >= kKept) known.clear();
  std::vector<const Member*> fresh;
  std::unordered_set<uint64_t> met;
  for (const Member& m : members)
    if (!known.contains(m.identity) && met.insert(m.identity).second) fresh.push_back(&m);
  auto found = workers_.map(fresh.size(), [&](size_t i) { return extracted(feature, *fresh[i]); }, stop_);
  for (size_t i = 0; i < fresh.size(); ++i)
    if (found[i]) known.emplace(fresh[i]->identity, *found[i] ? **std::move(found[i]) : cost::FeatureRows());
  std::vector<const cost::FeatureRows*> out;
  for (const Member& m : members) {
    const auto at = known.find(m.identity);
    out.push_back(at == known.end() || at->second.values.empty() ? nullptr : &at->second);
  }
  return out;
}

std::optional<Member> Population::child(const Member& first, const std::function<const Member&()>& second, const BreedOptions& options, Rng& rng,
                                        const char*& by) const {
  if (rng.uniform_real() < options.crossover) {
    by = kCrossover;
    const auto a = schedule::Schedule::replay(task_.dag, *first.steps), b = schedule::Schedule::replay(task_.dag, *second().steps);
    return a && b ? made(checked(space::crossed(*a, *b, rng), first.sketch), by) : std::nullopt;
  }
  const space::MutationRule& rule = space::random_mutation(task_.target, rng);
  by = rule.name;
  auto steps = rule.apply({task_.dag, *first.steps, task_.target, annotate_, rng});
  return steps ? made(checked(*std::move(steps), first.sketch), by) : std::nullopt;
}

std::vector<Member> Population::children(std::span<const Member> parents, const BreedOptions& options, Rng& rng) {
  std::vector<double> until;  // sums of scores
  for (const Member& m : parents) until.push_back((until.empty() ? 0 : until.back()) + std::max(0.0F, m.score));
  std::vector<Rng> generators;
  for (int i = 0; i < options.population; ++i) generators.push_back(rng.split());
  const auto parent = [&](Rng& own) -> const Member& {
    if (until.back() <= 0) return parents[own.uniform(parents.size())];
    const double place = own.uniform_real() * until.back();
    const auto at = std::upper_bound(until.begin(), until.end(), place) - until.begin();
    return parents[std::min(static_cast<size_t>(at), parents.size() - 1)];
  };
  struct Child {
    Member member;
    std::vector<std::pair<const char*, bool>> tried;  ///< mutations, and whether what they made is legal
  };
  auto bred = workers_.map(
      generators.size(),
      [&](size_t i) -> Child {
        constexpr int kTries = 8;
        Rng own = generators[i];
        Child out;
        if (own.uniform_real() < options.mutation) {
          for (int k = 0; k < kTries; ++k) {
            const char* by = "";
            auto found = child(parent(own), [&]() -> const Member& { return parent(own); }, options, own, by);
            out.tried.emplace_back(by, found.has_value());
            if (!found) continue;
            out.member = *std::move(found);
            out.member.packs = true;
            return out;
          }
        }
        out.member = parent(own);
        return out;
      },
      stop_);
  std::vector<Member> out;
  for (auto& c : bred) {
    if (!c) continue;
    for (const auto& [by, legal] : c->tried) {
      Breeding::Mutation& m = breeding_.mutations[by];
      ++m.tried;
      m.legal += legal;
    }
    out.push_back(std::move(c->member));
  }
  return out;
}

std::vector<Member> Population::evolve(std::vector<Member> first, size_t count, const BreedOptions& options, const Score& score,
                                       const std::unordered_set<uint64_t>& taken, Rng& rng) {
  const auto better = [](const Member& a, const Member& b) { return a.score != b.score ? a.score > b.score : a.identity < b.identity; };
  std::vector<Member> best;  // best first
  std::unordered_set<uint64_t> met = taken;
  breeding_ = {};
  for (int generation = 0;; ++generation) {
    if (first.empty() || stop_.stop_requested()) break;
    score(first);
    std::erase_if(first, [](const Member& m) { return m.score == std::numeric_limits<float>::lowest(); });
    Breeding::Generation& told = breeding_.generations.emplace_back();
    told.members = static_cast<int64_t>(first.size());
    std::vector<float> scores;
    for (const Member& m : first) {
      scores.push_back(m.score);
      if (!met.insert(m.identity).second) continue;
      ++told.fresh;
      best.push_back(m);
    }
    std::sort(scores.begin(), scores.end());
    if (!scores.empty()) told.best = scores.back(), told.median = scores[scores.size() / 2];
    std::sort(best.begin(), best.end(), better);
    if (best.size() > count) best.resize(count);
    if (generation == options.generations || first.empty()) break;
    first = children(first, options, rng);
  }
  return best;
}

}  // namespace tw::tune
