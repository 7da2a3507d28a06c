// SPDX-License-Identifier: Apache-2.0
#include "engine/api/candidate_walk.h"

#include <algorithm>
#include <memory>

#include "engine/api/explain.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/schedule/fingerprint.h"
#include "engine/schedule/schedule.h"
#include "engine/space/sketch/choices.h"
#include "engine/space/template.h"
#include "engine/tune/difference_shares.h"

namespace tw::api {
namespace {

Error same_candidates() { return {ErrorCode::invalid_argument, "Expected two candidates that differ, found none that does"}; }

Expected<CandidateWalk> walk_of_knobs(const records::Task& task, const space::Template& of, const records::Candidate& first, const records::Candidate& second) {
  const auto points = std::make_shared<const space::ConfigSpace>(of.space(*task.dag, task.target));
  TW_TRY(const Json a, parse_json(first.config));
  TW_TRY(const Json b, parse_json(second.config));
  if (!a.is_array() || !b.is_array() || a.size() != b.size()) return Error(ErrorCode::unsupported, "Expected the choices of both points as lists of the same knobs, found others");
  CandidateWalk walk;
  std::vector<size_t> differing;
  const auto value = [](const Json& knob) { return knob.size() > 2 ? knob[2].dump() : knob.dump(); };
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k]) continue;
    differing.push_back(k);
    walk.changes.push_back({a[k][0].get<std::string>(), value(a[k]), value(b[k])});
  }
  if (differing.empty()) return same_candidates();
  walk.at = [&task, &first, points, a, b, differing](uint32_t made) -> Expected<records::Candidate> {
    Json entity = a;
    for (size_t k = 0; k < differing.size(); ++k)
      if (made >> k & 1) entity[differing[k]] = b[differing[k]];
    TW_TRY(const space::ConfigEntity e, points->from_json(entity));
    if (const std::string reason = points->filtered_reason(e); !reason.empty()) return Error(ErrorCode::illegal_schedule, reason);
    if (auto candidate = candidate_at(task, first.space, e.index())) return *candidate;
    return records::Candidate{.space = first.space, .index = e.index(), .config = e.json_text()};
  };
  return walk;
}

/// Steps of both that stand for each other: the same ones, or what each does there.
struct Part {
  size_t first_begin = 0, first_end = 0, second_begin = 0, second_end = 0;
  bool same = false;
};

/// What a step is done to: its kind, its stage, and of what marks or takes apart one loop the loop.
std::string subject_of(const Json& step) {
  const std::string code = step[0].get<std::string>();
  const bool of_loop = code == "SP" || code == "FSP" || code == "FFSP" || code == "AN";
  return code + (step.size() > 1 ? " " + step[1].dump() : "") + (of_loop && step.size() > 2 ? " " + step[2].dump() : "");
}

/// The longest way along both lists in which equal steps count most.
std::vector<Part> parts_of(const Json& a, const Json& b) {
  const size_t n = a.size(), m = b.size();
  const auto score = [&](size_t i, size_t j) { return a[i] == b[j] ? 3 : subject_of(a[i]) == subject_of(b[j]) ? 1 : 0; };
  std::vector<std::vector<int>> best(n + 1, std::vector<int>(m + 1, 0));
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;) {
      best[i][j] = std::max(best[i + 1][j], best[i][j + 1]);
      if (const int s = score(i, j); s > 0) best[i][j] = std::max(best[i][j], s + best[i + 1][j + 1]);
    }
  std::vector<Part> out;
  size_t i = 0, j = 0, from_i = 0, from_j = 0;
  const auto flush = [&] {
    if (i > from_i || j > from_j) out.push_back({from_i, i, from_j, j, false});
  };
  while (i < n && j < m) {
    if (const int s = score(i, j); s > 0 && best[i][j] == s + best[i + 1][j + 1]) {
      flush();
      out.push_back({i, i + 1, j, j + 1, s == 3});
      from_i = ++i, from_j = ++j;
    } else if (best[i][j] == best[i + 1][j]) {
      ++i;
    } else {
      ++j;
    }
  }
  i = n, j = m;
  flush();
  return out;
}

/// Parts with the changes that they are made by; those without are the same in both.
struct StepWalk {
  std::vector<schedule::Step> first, second;
  std::vector<Part> parts;
  std::vector<std::vector<size_t>> changes;  ///< indices of parts

  std::vector<schedule::Step> steps(uint32_t made) const {
    std::vector<bool> of_second(parts.size(), false);
    for (size_t k = 0; k < changes.size(); ++k)
      for (const size_t p : changes[k]) of_second[p] = made >> k & 1;
    std::vector<schedule::Step> out;
    for (size_t p = 0; p < parts.size(); ++p) {
      const Part& part = parts[p];
      if (of_second[p])
        out.insert(out.end(), second.begin() + static_cast<std::ptrdiff_t>(part.second_begin), second.begin() + static_cast<std::ptrdiff_t>(part.second_end));
      else
        out.insert(out.end(), first.begin() + static_cast<std::ptrdiff_t>(part.first_begin), first.begin() + static_cast<std::ptrdiff_t>(part.first_end));
    }
    return out;
  }
  uint32_t all() const { return (uint32_t{1} << changes.size()) - 1; }
  Expected<void> too_many() const {
    if (changes.size() <= tune::kMostChanges) return {};
    return Error(ErrorCode::unsupported, fmt::format("Expected candidates that differ in at most {} steps, found {}", tune::kMostChanges, changes.size()));
  }
};

/// What both lines begin with up to an argument, and what each goes on with.
CandidateChange change_of_line(const std::string& a, const std::string& b) {
  size_t common = 0, cut = 0;
  int brackets = 0;
  for (; common < std::min(a.size(), b.size()) && a[common] == b[common]; ++common) {
    const char c = a[common];
    brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (brackets == 0 && (c == '(' || (c == ' ' && common > 0 && a[common - 1] == ','))) cut = common + 1;
  }
  const auto rest = [cut](const std::string& s) { return s.substr(cut, s.size() - cut - (s.ends_with(')') ? 1 : 0)); };
  std::string name = a.substr(0, cut);
  while (name.ends_with(' ') || name.ends_with(',') || name.ends_with('(')) name.pop_back();
  return {cut > 0 ? name + (name.find('(') != std::string::npos ? ")" : "") : "step", cut > 0 ? rest(a) : a, cut > 0 ? rest(b) : b};
}

CandidateChange change_of(const StepWalk& w, const std::vector<size_t>& parts, const std::vector<std::string>& first, const std::vector<std::string>& second) {
  if (const Part& p = w.parts[parts[0]]; parts.size() == 1 && p.first_end == p.first_begin + 1 && p.second_end == p.second_begin + 1)
    return change_of_line(first[p.first_begin], second[p.second_begin]);
  CandidateChange out;
  size_t steps = 0;
  const auto add = [](std::string& to, const std::vector<std::string>& lines, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to += (to.empty() ? "" : "; ") + lines[i];
  };
  for (const size_t k : parts) {
    const Part& p = w.parts[k];
    add(out.first, first, p.first_begin, p.first_end);
    add(out.second, second, p.second_begin, p.second_end);
    steps += std::max(p.first_end - p.first_begin, p.second_end - p.second_begin);
  }
  out.name = steps == 1 ? "a step" : fmt::format("{} steps together", steps);
  if (out.first.empty()) out.first = "none";
  if (out.second.empty()) out.second = "none";
  return out;
}

Expected<CandidateWalk> walk_of_steps(const records::Task& task, const records::Candidate& first, const records::Candidate& second) {
  TW_TRY(const schedule::Schedule of_first, schedule::Schedule::replay(task.dag, first.steps));
  TW_TRY(const schedule::Schedule of_second, schedule::Schedule::replay(task.dag, second.steps));
  const auto w = std::make_shared<StepWalk>(StepWalk{of_first.steps(), of_second.steps(), {}, {}});
  // The length of a loop when it was split follows from the steps before.
  const auto compared = [](std::vector<schedule::Step> steps) {
    for (schedule::Step& step : steps)
      if (auto* split = std::get_if<schedule::SplitStep>(&step)) split->extent = 0;
    return schedule::to_json(steps);
  };
  w->parts = parts_of(compared(w->first), compared(w->second));
  for (size_t p = 0; p < w->parts.size(); ++p)
    if (!w->parts[p].same) w->changes.push_back({p});
  if (w->changes.empty()) return same_candidates();
  TW_CHECK(w->too_many());
  // What is illegal as the first change and as the last one needs others: all of these are one change.
  std::vector<std::vector<size_t>> alone;
  std::vector<size_t> together;
  const auto legal = [&](uint32_t made) { return schedule::Schedule::replay(task.dag, w->steps(made)).has_value(); };
  for (size_t k = 0; k < w->changes.size(); ++k) {
    if (legal(uint32_t{1} << k) && legal(w->all() & ~(uint32_t{1} << k)))
      alone.push_back(w->changes[k]);
    else
      together.insert(together.end(), w->changes[k].begin(), w->changes[k].end());
  }
  if (!together.empty()) alone.push_back(std::move(together));
  w->changes = std::move(alone);
  CandidateWalk walk;
  const auto lines_of_first = schedule::step_lines(of_first), lines_of_second = schedule::step_lines(of_second);
  for (const auto& parts : w->changes) walk.changes.push_back(change_of(*w, parts, lines_of_first, lines_of_second));
  walk.at = [&task, &first, &second, w](uint32_t made) -> Expected<records::Candidate> {
    if (made == 0) return first;
    if (made == w->all()) return second;
    TW_TRY(const schedule::Schedule s, schedule::Schedule::replay(task.dag, w->steps(made)));
    std::string sketch = space::sketch_of(first.config);
    if (sketch.empty()) sketch = space::sketch_of(second.config);
    return records::Candidate{.space = space::kSketchSpace, .config = space::choices_of(s, sketch), .steps = s.steps(), .fingerprint = schedule::fingerprint(s)};
  };
  return walk;
}

}  // namespace

Expected<CandidateWalk> candidate_walk(const records::Task& task, const records::Candidate& first, const records::Candidate& second) {
  if (!task.dag) return Error(ErrorCode::unsupported, "Expected a task with its computation, found one of another program's log");
  const space::Template* of =
      first.space == second.space && first.index >= 0 && second.index >= 0 ? space::find_template(*task.dag, task.target, first.space) : nullptr;
  if (of) return walk_of_knobs(task, *of, first, second);
  if (first.steps.empty() && second.steps.empty())
    return Error(ErrorCode::unsupported, fmt::format("Expected candidates whose steps are known, found one of '{}' and one of '{}' without", first.space, second.space));
  return walk_of_steps(task, first, second);
}

}  // namespace tw::api
