// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/analytic_runner.h"
#include "engine/records/memory_store.h"
#include "engine/tune/session.h"

/// Small tasks for tests of sessions.
namespace tw::tune::fixture {

/// [m, k] times [n, k] transposed: has a template.
inline records::Task dense(int64_t m, int64_t n, int64_t k, const std::string& name = "dense") {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kFloat32), w = b.placeholder("w", {n, k}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  Target target;
  target.cpu = "znver4";
  target.vector_bits = 512;
  target.vector_registers = 32;
  target.cores = 2;
  return records::make_task(name, std::move(b).finish({y}), target);
}

/// A 3x3 convolution: has two templates.
inline records::Task conv() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 32, 18, 18}, kFloat32), w = b.placeholder("w", {32, 32, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "conv2d", {1, 32, 16, 16}, {32, 3, 3}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d",
      {{"strides", {1, 1}}, {"dilations", {1, 1}}, {"groups", {1}}});
  return records::make_task("conv", std::move(b).finish({y}), dense(1, 1, 1).target);
}

/// y = x + x: has only the default schedule.
inline records::Task elementwise(int64_t n = 64) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {n}, kFloat32);
  return records::make_task("double", std::move(b).finish({b.compute("y", {n}, [&](const te::Indices& i) { return x.at(i) + x.at(i); })}), Target{});
}

inline SessionOptions options(int64_t trials, int batch = 8) {
  SessionOptions o;
  o.trials = trials;
  o.batch = batch;
  return o;
}

/// The formula's times without noise, as many samples as asked for.
inline std::vector<records::MeasureResult> exact_times(const records::Task& task, std::span<const measure::BuildOutcome> builds, const measure::RunOptions& o,
                                                       StopToken stop) {
  measure::AnalyticOptions quiet;
  quiet.noise = 0;
  auto results = measure::analytic_runner(quiet)->run(task, builds, o, stop);
  for (records::MeasureResult& r : results) {
    if (o.samples == 0) continue;
    r.samples_s.assign(static_cast<size_t>(o.samples), r.samples_s[0]);
    r.sample_flags.assign(r.samples_s.size(), false);
  }
  return results;
}

/// A session on the formula's machine with everything it did.
struct Session {
  measure::AnalyticOptions machine;
  std::unique_ptr<measure::Builder> builder;
  std::unique_ptr<measure::Runner> runner;
  records::MemoryStore store;
  std::vector<Event> events;
  StopSource stop;
  std::function<bool()> paused;
  const std::vector<records::Round>* rounds = nullptr;  ///< of before an interruption
  std::function<void(const Event&)> on_event;

  Expected<SessionReport> run(const std::vector<SessionTask>& tasks, const SessionOptions& o) {
    if (!builder) builder = measure::analytic_builder(machine);
    if (!runner) runner = measure::analytic_runner(machine);
    const EventSink sink = [this](const Event& e) {
      events.push_back(e);
      if (on_event) on_event(e);
    };
    return run_session(tasks, o, *builder, *runner, store, sink, {stop.get_token(), paused, nullptr, rounds});
  }
  /// One line per trial: task, point, status and time; equal for equal traces.
  std::string trace() const {
    std::string text;
    for (const Event& e : events) {
      const auto* t = std::get_if<TrialDone>(&e);
      if (t) text += fmt_line(*t);
    }
    return text;
  }
  int64_t trials_of(int task) const {
    int64_t count = 0;
    for (const Event& e : events) {
      const auto* t = std::get_if<TrialDone>(&e);
      if (t && t->task == task) ++count;
    }
    return count;
  }

 private:
  static std::string fmt_line(const TrialDone& t) {
    return std::to_string(t.task) + " " + std::to_string(t.number) + " " + std::to_string(t.record.candidate.index) + " " +
           records::status_name(t.record.result.status) + " " + std::to_string(t.record.result.seconds() * 1e9) + "\n";
  }
};

}  // namespace tw::tune::fixture
