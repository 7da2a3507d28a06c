// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/seed_descent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/base/hash.h"
#include "engine/space/sketch/packing.h"
#include "engine/tune/candidate.h"

namespace tw::tune {

using cost::DescentProgram;
using cost::FeatureRows;
using space::Halfspace;

namespace {

/// Of logarithms of what is used and what there is, which come from sums.
constexpr double kOverLimit = 1e-4;
/// How far an exponent may leave what it can be. Adam takes steps of one size, so that seeds would go on to where no formula means anything, and most of their ways would be lost.
constexpr double kBeyond = 0.5;

double euclidean(std::span<const double> x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)); }

/// Adam (Kingma and Ba, ICLR 2015) for one seed.
class Adam {
 public:
  explicit Adam(size_t n) : first_(n, 0), second_(n, 0) {}
  void step(std::span<double> x, std::span<const double> gradient, double rate) {
    constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
    ++steps_;
    const double first = 1 - std::pow(kBeta1, steps_), second = 1 - std::pow(kBeta2, steps_);
    for (size_t k = 0; k < x.size(); ++k) {
      first_[k] = kBeta1 * first_[k] + (1 - kBeta1) * gradient[k];
      second_[k] = kBeta2 * second_[k] + (1 - kBeta2) * gradient[k] * gradient[k];
      x[k] -= rate * (first_[k] / first) / (std::sqrt(second_[k] / second) + kEpsilon);
    }
  }

 private:
  std::vector<double> first_, second_;
  int steps_ = 0;
};

/// What linear limits are exceeded by, squared and summed up; its slope is added.
double exceeded(const space::ExponentSpace& space, std::span<const double> x, std::span<double> slope) {
  double sum = 0;
  const auto add = [&](const Halfspace& h) {
    const double excess = h.excess(x);
    if (!(excess > 0)) return;
    sum += excess * excess;
    for (const auto& [at, coefficient] : h.terms) slope[static_cast<size_t>(at)] += 2 * excess * coefficient;
  };
  for (const Halfspace& h : space.limits().limits) add(h);
  for (const Halfspace& h : space.floors()) add(h);
  for (size_t k = 0; k < x.size(); ++k)
    if (x[k] < 0) sum += x[k] * x[k], slope[k] += 2 * x[k];
  return sum;
}

}  // namespace

Expected<DescentSketch> DescentSketch::make(const space::Sketch& sketch, std::string name, const Target& target, const space::DrawOptions& options) {
  TW_TRY(space::OpenSchedule open, space::open_schedule(sketch, target));
  return make(std::move(open), std::move(name), target, options);
}

Expected<DescentSketch> DescentSketch::make(space::OpenSchedule open, std::string name, const Target& target, const space::DrawOptions& options) {
  TW_TRY(space::Program exact, space::Program::make(open.dag, open.steps));
  if (!exact.can_be_exact()) return Error(ErrorCode::not_applicable, "Expected a schedule whose regions follow from its numbers, found one whose do not");
  // What is a part of definitions is no number to choose.
  const auto held = [&](int n) { return std::find(exact.held().begin(), exact.held().end(), n) != exact.held().end(); };
  for (space::OpenSchedule::Group& group : open.groups) std::erase_if(group.numbers, held);
  std::erase_if(open.groups, [](const space::OpenSchedule::Group& group) { return group.numbers.empty(); });
  std::erase_if(open.free, [&](const space::OpenSchedule::Free& free) { return held(free.number); });
  space::ExponentSpace space(open, target, options);
  const uint64_t structure = space::structure_of(open.steps);
  TW_TRY(DescentProgram program, DescentProgram::make(std::move(open), target));
  const auto same = [](const auto& a, const auto& b) { return a.number == b.number && a.prime == b.prime; };
  TW_ASSERT(std::equal(space.variables().begin(), space.variables().end(), program.variables().begin(), program.variables().end(), same), "both name the same exponents");
  for (const DescentProgram::Constraint& c : program.constraints()) {
    if (!c.linear) continue;
    Halfspace h{{}, -c.rest};
    for (size_t v = 0; v < c.row.size(); ++v)
      if (c.row[v] != 0) h.terms.emplace_back(static_cast<int>(v), c.row[v]);
    space.add(std::move(h));
  }
  return DescentSketch{std::move(name), std::move(program), std::move(space), std::move(exact), structure};
}

DescentSketches descent_sketches(const records::Task& task, const space::SketchOptions& sketches, const space::DrawOptions& options) {
  DescentSketches out;
  const std::vector<space::Sketch> found = space::sketches(task.dag, task.target, sketches);
  for (size_t k = 0; k < found.size(); ++k) {
    const std::string name = fmt::format("sketch {}", k);
    auto made = DescentSketch::make(found[k], name, task.target, options);
    if (made && made->space.variables().empty()) made = Error(ErrorCode::not_applicable, "Expected a sketch with open numbers, found one without");
    if (made)
      out.all.push_back(*std::move(made));
    else
      out.left_out.emplace_back(name, made.error().message);
  }
  const records::Candidate untuned = default_candidate(task);
  if (untuned.steps.empty()) return out;
  auto made = DescentSketch::make(space::opened(task.dag, space::without_packing(*task.dag, untuned.steps)), "default", task.target, options);
  if (!made) {
    out.left_out.emplace_back("default", made.error().message);
    return out;
  }
  const bool another = std::none_of(out.all.begin(), out.all.end(), [&](const DescentSketch& s) { return s.structure == made->structure; });
  if (another && !made->space.variables().empty()) out.all.push_back(*std::move(made));
  return out;
}

uint64_t DescentSketch::identity(std::span<const int64_t> numbers) const {
  uint64_t out = structure;
  for (const int64_t n : numbers) out = hash_combine(out, static_cast<uint64_t>(n));
  return out;
}

FeatureRows DescentSketch::rows(std::span<const int> exponents) const {
  const std::vector<double> x(exponents.begin(), exponents.end());
  DescentProgram::Pass pass;
  program.forward(x, 1, pass);
  return {std::move(pass.features), program.stores().size()};
}

/// The ways of a sketch's seeds.
struct SeedDescent::Way {
  std::vector<double> points;             ///< [steps + 1, seeds, variables]
  std::vector<float> scores, penalties;  ///< [steps + 1, seeds]
  int64_t drawn_anew = 0;
};

Expected<void> SeedDescent::walk(const DescentSketch& sketch, const Slopes& model, int steps, std::span<const std::vector<double>> begin, Rng rng, Way& way,
                                 const StopToken& stop) const {
  const auto all = sketch.space.variables();
  const size_t variables = all.size(), seeds = static_cast<size_t>(options_.seeds), constraints = sketch.program.constraints().size();
  const size_t linear = static_cast<size_t>(std::count_if(sketch.program.constraints().begin(), sketch.program.constraints().end(), [](const auto& c) { return c.linear; }));
  std::vector<double> x;
  for (const auto& seed : sketch.space.seeds(seeds, rng)) x.insert(x.end(), seed.begin(), seed.end());
  for (size_t b = 0; b < std::min(begin.size(), seeds); ++b) std::copy(begin[b].begin(), begin[b].end(), x.begin() + static_cast<std::ptrdiff_t>(b * variables));
  std::vector<Adam> adam(seeds, Adam(variables));
  std::vector<double> down(seeds * variables), back(seeds * variables), by_constraints(seeds * constraints);
  DescentProgram::Pass pass;
  for (int step = 0; step <= steps && !stop.stop_requested(); ++step) {
    way.points.insert(way.points.end(), x.begin(), x.end());
    sketch.program.forward(x, seeds, pass);
    TW_TRY(cost::CostModel::Slopes said, model(sketch.program.matrix(pass)));
    way.scores.insert(way.scores.end(), said.scores.begin(), said.scores.end());
    for (float& s : said.slopes) s = -s;
    sketch.program.backward(pass, said.slopes, {}, down);
    // Linear limits are the space's, with the bounds of its exponents.
    bool others = false;
    std::vector<double> penalty(seeds, 0);
    for (size_t b = 0; b < seeds; ++b)
      for (size_t c = 0; c < constraints; ++c) {
        const double excess = c < linear ? 0 : std::max(0.0, pass.constraints[b * constraints + c]);
        by_constraints[b * constraints + c] = 2 * excess;
        penalty[b] += excess * excess;
        others = others || excess > 0;
      }
    if (others)
      sketch.program.backward(pass, {}, by_constraints, back);
    else
      std::fill(back.begin(), back.end(), 0.0);
    const double rate = options_.rate * (step < static_cast<int>(options_.turn * steps) ? 1 : options_.later);
    for (size_t b = 0; b < seeds; ++b) {
      const std::span<double> own(x.data() + b * variables, variables), d(down.data() + b * variables, variables), p(back.data() + b * variables, variables);
      penalty[b] += exceeded(sketch.space, own, p);
      way.penalties.push_back(static_cast<float>(penalty[b]));
      if (step == steps) continue;
      const double of_score = euclidean(d), of_penalty = euclidean(p);
      const double scale = of_penalty > 0 ? options_.penalty * of_score / of_penalty : 1;
      std::vector<double> gradient(variables);
      for (size_t k = 0; k < variables; ++k) gradient[k] = d[k] + scale * p[k];
      // One number that is none would stay in Adam's means for ever.
      if (!std::isfinite(euclidean(gradient)) || !std::isfinite(said.scores[b])) {
        const std::vector<double> fresh = sketch.space.seeds(1, rng).front();
        std::copy(fresh.begin(), fresh.end(), own.begin());
        adam[b] = Adam(variables);
        ++way.drawn_anew;
        continue;
      }
      adam[b].step(own, gradient, rate);
      for (size_t k = 0; k < variables; ++k) own[k] = std::clamp(own[k], -kBeyond, all[k].most + kBeyond);
    }
  }
  return {};
}

std::vector<DescentCandidate> SeedDescent::rounded(size_t number, std::span<const double> points, size_t seeds, const std::unordered_set<uint64_t>& taken,
                                                   DescentTrace::Rounding& told) const {
  const DescentSketch& sketch = sketches_[number];
  const auto all = sketch.space.variables();
  const size_t variables = all.size(), count = variables == 0 ? std::min<size_t>(1, seeds) : points.size() / variables;
  std::vector<DescentCandidate> found;
  std::set<std::vector<int>> met;
  for (size_t i = 0; i < count; ++i) {
    std::vector<int> whole(variables);
    bool finite = true;
    for (size_t k = 0; k < variables && finite; ++k) {
      const double v = points[i * variables + k];
      finite = std::isfinite(v);
      if (finite) whole[k] = static_cast<int>(std::lround(std::clamp(v, 0.0, static_cast<double>(all[k].most))));
    }
    if (!finite) continue;
    ++told.points;
    if (!met.insert(whole).second) continue;
    ++told.different;
    if (!sketch.space.allows(whole)) continue;
    ++told.allowed;
    found.push_back({.sketch = number, .exponents = std::move(whole), .seed = static_cast<int>(i % seeds), .step = static_cast<int>(i / seeds)});
  }
  std::vector<double> x;
  for (const DescentCandidate& c : found) x.insert(x.end(), c.exponents.begin(), c.exponents.end());
  DescentProgram::Pass pass;
  sketch.program.exact(x, found.size(), pass);
  const size_t constraints = sketch.program.constraints().size();
  std::vector<DescentCandidate> out;
  std::unordered_set<uint64_t> own;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto begin = pass.constraints.begin() + static_cast<std::ptrdiff_t>(i * constraints);
    if (!std::all_of(begin, begin + static_cast<std::ptrdiff_t>(constraints), [](double c) { return c <= kOverLimit; })) continue;
    DescentCandidate& c = found[i];
    c.numbers = sketch.space.decode(c.exponents);
    auto e = sketch.exact.evaluate(c.numbers);
    if (!e) continue;
    const std::vector<int64_t> before = c.numbers;
    sketch.space.cut_copies(c.numbers, *e);
    if (c.numbers != before) {
      const auto cut = sketch.space.encode(c.numbers);
      e = sketch.exact.evaluate(c.numbers);
      if (!cut || !e) continue;
      c.exponents = *cut;
    }
    if (!sketch.exact.check(*e, target_)) continue;
    c.identity = sketch.identity(c.numbers);
    if (!own.insert(c.identity).second) continue;
    ++told.legal;
    if (taken.contains(c.identity)) continue;
    ++told.fresh;
    out.push_back(std::move(c));
  }
  x.clear();
  for (const DescentCandidate& c : out) x.insert(x.end(), c.exponents.begin(), c.exponents.end());
  sketch.program.forward(x, out.size(), pass);
  const size_t each = sketch.program.stores().size() * cost::kFelixColumns;
  for (size_t i = 0; i < out.size(); ++i) {
    const float* rows = pass.features.data() + i * each;
    out[i].rows = {{rows, rows + each}, sketch.program.stores().size()};
  }
  std::erase_if(out, [](const DescentCandidate& c) { return !std::all_of(c.rows.values.begin(), c.rows.values.end(), [](float v) { return std::isfinite(v); }); });
  return out;
}

Expected<std::vector<DescentCandidate>> SeedDescent::descend(const Slopes& model, int steps, std::span<const std::vector<std::vector<double>>> begin,
                                                             const std::unordered_set<uint64_t>& taken, Rng& rng, WorkerPool& workers, const StopToken& stop, DescentTrace* trace) const {
  TW_ASSERT(begin.empty() || begin.size() == sketches_.size(), "points of each sketch");
  std::vector<Rng> generators;
  for (size_t k = 0; k < sketches_.size(); ++k) generators.push_back(rng.split());
  struct Part {
    std::vector<DescentCandidate> candidates;
    DescentTrace::Sketch told;
  };
  const auto seeds = static_cast<size_t>(options_.seeds);
  auto parts = workers.map(
      sketches_.size(),
      [&](size_t k) -> Expected<Part> {
        const DescentSketch& sketch = sketches_[k];
        Way way;
        TW_CHECK(walk(sketch, model, steps, begin.empty() ? std::span<const std::vector<double>>() : begin[k], generators[k], way, stop));
        Part part;
        part.candidates = rounded(k, way.points, seeds, taken, part.told.rounding);
        if (!part.candidates.empty()) {
          std::vector<const FeatureRows*> rows;
          for (const DescentCandidate& c : part.candidates) rows.push_back(&c.rows);
          TW_TRY(const cost::CostModel::Slopes said, model(cost::FeatureMatrix(rows)));
          for (size_t i = 0; i < part.candidates.size(); ++i) part.candidates[i].score = said.scores[i];
        }
        if (trace == nullptr) return part;
        part.told.name = sketch.name;
        for (const auto& v : sketch.space.variables()) {
          part.told.variables.push_back(fmt::format("{}^{}", sketch.program.name(static_cast<size_t>(v.number)), v.prime));
          part.told.most.push_back(v.most);
        }
        part.told.seeds = seeds;
        part.told.steps = way.penalties.empty() ? 0 : way.penalties.size() / seeds - 1;
        part.told.points.assign(way.points.begin(), way.points.end());
        part.told.scores = std::move(way.scores);
        part.told.penalties = std::move(way.penalties);
        part.told.drawn_anew = way.drawn_anew;
        return part;
      },
      stop);
  std::vector<DescentCandidate> out;
  for (auto& part : parts) {
    if (!part) continue;  // after a stop
    if (!*part) return part->error();
    std::move((*part)->candidates.begin(), (*part)->candidates.end(), std::back_inserter(out));
    if (trace != nullptr) trace->sketches.push_back(std::move((*part)->told));
  }
  std::erase_if(out, [](const DescentCandidate& c) { return !std::isfinite(c.score); });
  std::stable_sort(out.begin(), out.end(), [](const DescentCandidate& a, const DescentCandidate& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.sketch != b.sketch ? a.sketch < b.sketch : a.exponents < b.exponents;
  });
  return out;
}

std::vector<DescentCandidate> SeedDescent::draw(size_t count, const std::unordered_set<uint64_t>& taken, Rng& rng) const {
  constexpr size_t kTries = 8;  // times as many seeds as are asked for
  std::vector<std::vector<DescentCandidate>> found;
  size_t longest = 0;
  for (size_t k = 0; k < sketches_.size(); ++k) {
    const size_t seeds = kTries * std::max<size_t>(1, count);
    std::vector<double> points;
    for (const auto& seed : sketches_[k].space.seeds(seeds, rng)) points.insert(points.end(), seed.begin(), seed.end());
    DescentTrace::Rounding told;
    longest = std::max(longest, found.emplace_back(rounded(k, points, seeds, taken, told)).size());
  }
  std::vector<DescentCandidate> out;
  for (size_t i = 0; i < longest; ++i)
    for (auto& of_sketch : found)
      if (i < of_sketch.size() && out.size() < count) out.push_back(std::move(of_sketch[i]));
  return out;
}

}  // namespace tw::tune
