// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/descent_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/assert.h"
#include "engine/space/sketch/smooth_limits.h"

namespace tw::cost {

using space::OpenSchedule;
using space::Tape;
using space::TapeCode;

namespace {

std::vector<int64_t> primes_of(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p != 0) continue;
    out.push_back(p);
    while (n % p == 0) n /= p;
  }
  if (n > 1) out.push_back(n);
  return out;
}

/// Loops that are not written out at all have a power of 2 as far from others as Felix's.
double ln_of(int64_t number) { return number > 0 ? std::log(static_cast<double>(number)) : -10 * std::log(2.0); }

}  // namespace

Expected<DescentProgram> DescentProgram::make(OpenSchedule schedule, const Target& target) {
  TW_TRY(space::Program made, space::Program::make(schedule.dag, schedule.steps));
  DescentProgram out(std::move(schedule), std::move(made));
  const space::Program& program = out.program_;
  const auto held = [&](int k) { return std::find(program.held().begin(), program.held().end(), k) != program.held().end(); };

  std::vector<Tape::Leaf> leaves;
  std::vector<double> groups;
  const auto add_leaf = [&](int number, double most, int group, std::span<const int64_t> primes) {
    for (const int64_t p : primes) {
      out.variables_.push_back({number, p});
      out.leaf_of_.push_back(leaves.size());
      out.ln_prime_.push_back(std::log(static_cast<double>(p)));
    }
    leaves.push_back({most, group});
    out.numbers_.push_back(number);
  };
  for (const OpenSchedule::Group& g : out.schedule_.groups) {
    const double most = std::log(static_cast<double>(g.extent));
    const std::vector<int64_t> primes = primes_of(g.extent);
    if (g.extent <= 1) continue;
    for (const int n : g.numbers)
      if (!held(n)) add_leaf(n, most, static_cast<int>(groups.size()), primes);
    groups.push_back(most);
  }
  for (const OpenSchedule::Free& f : out.schedule_.free)
    if (!held(f.number)) add_leaf(f.number, std::log(static_cast<double>(f.most)), -1, std::vector<int64_t>{2});

  const auto tape = std::make_shared<Tape>(leaves, groups);
  std::vector<Tape::Id> numbers;
  for (const int64_t n : space::numbers_of(out.schedule_.steps)) numbers.push_back(tape->constant(ln_of(n)));
  for (size_t k = 0; k < leaves.size(); ++k) numbers[static_cast<size_t>(out.numbers_[k])] = tape->leaf(k);
  const space::SmoothProgram smooth(program, *tape, numbers);
  for (const auto& row : felix_formulas(smooth, *tape)) out.outputs_.insert(out.outputs_.end(), row.begin(), row.end());
  for (size_t i = 0; i < program.scheduled().size(); ++i)
    if (schedule::has_loops(program.scheduled()[i])) out.stores_.push_back(program.scheduled()[i].op.name);
  TW_ASSERT(out.stores_.size() * kFelixColumns == out.outputs_.size(), "every stage that stores has a row");
  for (const Tape::Id id : out.outputs_) out.fixed_.push_back(tape->node(id).op == Tape::Op::constant);

  std::vector<std::pair<Constraint, Tape::Id>> limits;
  for (const space::SmoothLimit& limit : space::smooth_limits(smooth, *tape, target)) {
    if (tape->lowest(limit.excess) > 1e-9)
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected numbers within the limit to {}, found that none are", limit.name));
    Constraint c{limit.name};
    std::vector<double> by_leaf;
    if ((c.linear = tape->linear(limit.excess, by_leaf))) {
      for (size_t v = 0; v < out.variables_.size(); ++v) c.row.push_back(by_leaf[out.leaf_of_[v]] * out.ln_prime_[v]);
      c.rest = by_leaf.back();
    }
    limits.emplace_back(std::move(c), limit.excess);
  }
  std::stable_sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first.linear > b.first.linear; });
  for (auto& [constraint, excess] : limits) {
    out.constraints_.push_back(std::move(constraint));
    out.outputs_.push_back(excess);
  }
  out.code_ = std::make_shared<TapeCode>(*tape, out.outputs_);
  out.tape_ = tape;
  out.name_numbers();
  return out;
}

void DescentProgram::name_numbers() {
  schedule::Schedule s(schedule_.dag);
  std::vector<std::pair<std::string, int>> split;  // how many lengths a stage has by now
  for (const schedule::Step& step : schedule_.steps) {
    const auto stage = [&](int i) { return s.stages()[static_cast<size_t>(i)].op.name; };
    if (const auto* lengths = std::get_if<schedule::SplitStep>(&step)) {
      const std::string name = stage(lengths->stage);
      auto at = std::find_if(split.begin(), split.end(), [&](const auto& e) { return e.first == name; });
      if (at == split.end()) at = split.insert(at, {name, 0});
      for (size_t k = 0; k < lengths->lengths.size(); ++k) names_.push_back(fmt::format("{}.{}", name, at->second++));
    } else if (const auto* unroll = std::get_if<schedule::AutoUnrollStep>(&step)) {
      names_.push_back(stage(unroll->stage) + ".unroll");
    }
    const auto done = s.append(step);
    TW_ASSERT(done.has_value(), "steps that made a program apply");
  }
}

void DescentProgram::leaves_of(std::span<const double> x, size_t first, size_t count, double* leaves) const {
  constexpr size_t P = TapeCode::kPoints;
  std::fill_n(leaves, numbers_.size() * P, 0.0);
  for (size_t v = 0; v < variables_.size(); ++v)
    for (size_t p = 0; p < P; ++p) leaves[leaf_of_[v] * P + p] += ln_prime_[v] * x[(first + std::min(p, count - 1)) * variables_.size() + v];
}

void DescentProgram::run(TapeCode::Kind kind, std::span<const double> x, size_t seeds, Pass& pass) const {
  constexpr size_t P = TapeCode::kPoints;
  TW_ASSERT(x.size() == seeds * variables_.size(), "seeds have an exponent for each variable");
  const size_t pieces = (seeds + P - 1) / P, rows = code_->rows() * P, features = stores_.size() * kFelixColumns;
  pass.seeds = seeds;
  pass.values.resize(pieces * rows);
  pass.leaves.resize(numbers_.size() * P);
  pass.features.resize(seeds * features);
  pass.constraints.resize(seeds * constraints_.size());
  for (size_t first = 0, piece = 0; first < seeds; first += P, ++piece) {
    const size_t count = std::min(P, seeds - first);
    leaves_of(x, first, count, pass.leaves.data());
    const std::span<double> values(pass.values.data() + piece * rows, rows);
    code_->forward(kind, pass.leaves, values);
    for (size_t k = 0; k < features; ++k)
      for (size_t p = 0; p < count; ++p) pass.features[(first + p) * features + k] = static_cast<float>(values[code_->row(k) * P + p]);
    for (size_t k = 0; k < constraints_.size(); ++k)
      for (size_t p = 0; p < count; ++p) pass.constraints[(first + p) * constraints_.size() + k] = values[code_->row(features + k) * P + p];
  }
}

void DescentProgram::backward(Pass& pass, std::span<const float> by_features, std::span<const double> by_constraints, std::span<double> gradient) const {
  constexpr size_t P = TapeCode::kPoints;
  const size_t rows = code_->rows() * P, features = stores_.size() * kFelixColumns, variables = variables_.size();
  TW_ASSERT(by_features.empty() || by_features.size() == pass.seeds * features, "every feature has a derivative");
  TW_ASSERT(by_constraints.empty() || by_constraints.size() == pass.seeds * constraints_.size(), "every constraint has a derivative");
  TW_ASSERT(gradient.size() == pass.seeds * variables, "every exponent has a derivative");
  pass.adjoints.resize(rows);
  pass.leaves.resize(numbers_.size() * P);
  for (size_t first = 0, piece = 0; first < pass.seeds; first += P, ++piece) {
    const size_t count = std::min(P, pass.seeds - first);
    std::fill(pass.adjoints.begin(), pass.adjoints.end(), 0.0);
    for (size_t k = 0; k < features && !by_features.empty(); ++k)
      for (size_t p = 0; p < count; ++p) pass.adjoints[code_->row(k) * P + p] += by_features[(first + p) * features + k];
    for (size_t k = 0; k < constraints_.size() && !by_constraints.empty(); ++k)
      for (size_t p = 0; p < count; ++p) pass.adjoints[code_->row(features + k) * P + p] += by_constraints[(first + p) * constraints_.size() + k];
    code_->backward({pass.values.data() + piece * rows, rows}, pass.adjoints, pass.leaves);
    for (size_t p = 0; p < count; ++p)
      for (size_t v = 0; v < variables; ++v) gradient[(first + p) * variables + v] = ln_prime_[v] * pass.leaves[leaf_of_[v] * P + p];
  }
}

FeatureMatrix DescentProgram::matrix(const Pass& pass) const {
  FeatureMatrix out(pass.features, pass.seeds, stores_.size());
  out.fix(fixed_);
  return out;
}

std::vector<int64_t> DescentProgram::numbers(std::span<const double> x) const {
  std::vector<int64_t> out = space::numbers_of(schedule_.steps);
  for (const int n : numbers_) out[static_cast<size_t>(n)] = 1;
  for (const OpenSchedule::Group& g : schedule_.groups)
    if (g.extent <= 1)
      for (const int n : g.numbers) out[static_cast<size_t>(n)] = 1;
  for (size_t v = 0; v < variables_.size(); ++v)
    for (auto k = static_cast<int>(std::lround(x[v])); k > 0; --k) out[static_cast<size_t>(variables_[v].number)] *= variables_[v].prime;
  return out;
}

FeatureRows DescentProgram::at_steps() const {
  constexpr size_t P = TapeCode::kPoints;
  const std::vector<int64_t> own = space::numbers_of(schedule_.steps);
  std::vector<double> leaves(numbers_.size() * P), values(code_->rows() * P);
  for (size_t k = 0; k < numbers_.size(); ++k) std::fill_n(leaves.begin() + static_cast<std::ptrdiff_t>(k * P), P, ln_of(own[static_cast<size_t>(numbers_[k])]));
  code_->forward(TapeCode::Kind::smooth, leaves, values);
  FeatureRows out{{}, stores_.size()};
  for (size_t k = 0; k < stores_.size() * kFelixColumns; ++k) out.values.push_back(static_cast<float>(values[code_->row(k) * P]));
  return out;
}

std::string DescentProgram::formula(size_t store, size_t column) const {
  std::vector<std::string> names;
  for (const int n : numbers_) names.push_back(names_[static_cast<size_t>(n)]);
  return tape_->text(outputs_[store * kFelixColumns + column], names);
}

}  // namespace tw::cost
