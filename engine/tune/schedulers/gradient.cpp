// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "engine/tune/schedulers/schedulers.h"

namespace tw::tune {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

struct Options {
  double alpha, beta;
  int window, warm_up;
  double target_s;  ///< 0: none
};

/// What is expected of one more round of a task, in seconds of it alone.
struct Gain {
  double backward = 0, forward = 0;
};

class Gradient : public TaskScheduler {
 public:
  explicit Gradient(const Options& options) : o_(options) {}

  Decision next(const SessionView& s) const override {
    const std::vector<double> best = bests(s);
    if (o_.target_s > 0 && s.network_s() <= o_.target_s)
      return {.why = fmt::format("The network's estimate, {:.3f} ms, is within its target of {:.3f} ms", s.network_s() * 1e3, o_.target_s * 1e3)};
    std::vector<size_t> alive;
    for (size_t i = 0; i < s.tasks.size(); ++i)
      if (s.trials_left(i) > 0) alive.push_back(i);
    if (alive.empty()) return {};
    if (const auto first = warming_up(s, alive, best)) return decide(s, *first, "It has not had its first rounds yet", nullptr);

    Json gradients = Json::array();
    double least = 0;
    std::vector<size_t> steepest;
    for (const size_t i : alive) {
      const Gain gain = expected(s, i, best);
      const double gradient = s.tasks[i].weight * (o_.alpha * gain.backward + (1 - o_.alpha) * gain.forward);
      gradients.push_back({{"task", i}, {"backward_s", gain.backward}, {"forward_s", gain.forward}, {"gradient_s", gradient}});
      if (steepest.empty() || gradient < least) least = gradient, steepest.clear();
      if (gradient == least) steepest.push_back(i);
    }
    // Where nothing tells them apart, chance does, among those that have something left.
    Rng rng(hash_combine(s.seed, static_cast<uint64_t>(s.round)));
    const size_t chosen = steepest[steepest.size() == 1 ? 0 : rng.uniform(steepest.size())];
    return decide(s, chosen, fmt::format("One more round is expected to save {:.3f} ms of the network", -least * 1e3), std::move(gradients));
  }

 private:
  static int64_t rounds(const TaskView& t) { return std::max<int64_t>(0, static_cast<int64_t>(t.history.size()) - 1); }  // the first was the default schedule's

  /// As many as all tasks can have, if the trials are few.
  static int64_t round_size(const SessionView& s) {
    const auto batch = static_cast<int64_t>(s.limits.batch);
    return s.limits.trials == 0 ? batch : std::clamp<int64_t>(s.limits.trials / static_cast<int64_t>(s.tasks.size()), 1, batch);
  }

  static Decision decide(const SessionView& s, size_t task, std::string why, Json gradients) {
    Decision d{.task = static_cast<int>(task), .trials = std::min(round_size(s), s.trials_left(task)), .why = std::move(why), .terms = Json::object()};
    d.terms["task"] = task;
    d.terms["rounds"] = rounds(s.tasks[task]);
    if (!gradients.is_null()) d.terms["gradients"] = std::move(gradients);
    return d;
  }

  /// The best times; where a task has none, what the others' rates make likely, so that a task that always fails does not take all trials.
  static std::vector<double> bests(const SessionView& s) {
    std::vector<double> rates, best;
    for (const TaskView& t : s.tasks)
      if (std::isfinite(t.best_s())) rates.push_back(static_cast<double>(t.flops + 1) / t.best_s());
    std::sort(rates.begin(), rates.end());
    const double usual = rates.empty() ? 1 : rates[rates.size() / 2];
    for (const TaskView& t : s.tasks) best.push_back(std::isfinite(t.best_s()) ? t.best_s() : static_cast<double>(t.flops + 1) / usual);
    return best;
  }

  /// Of the tasks in their first rounds, the one with the greatest part of the network's time.
  std::optional<size_t> warming_up(const SessionView& s, const std::vector<size_t>& alive, const std::vector<double>& best) const {
    std::optional<size_t> first;
    for (const size_t i : alive) {
      if (rounds(s.tasks[i]) >= o_.warm_up) continue;
      const auto before = [&](size_t a, size_t b) {
        return std::pair(rounds(s.tasks[a]), -s.tasks[a].weight * best[a]) < std::pair(rounds(s.tasks[b]), -s.tasks[b].weight * best[b]);
      };
      if (!first || before(i, *first)) first = i;
    }
    return first;
  }

  Gain expected(const SessionView& s, size_t i, const std::vector<double>& best) const {
    const TaskView& t = s.tasks[i];
    const int64_t c = rounds(t);
    Gain gain;
    if (c >= o_.window && std::isfinite(t.history[static_cast<size_t>(c - o_.window)]) && std::isfinite(t.best_s()))
      gain.backward = (t.best_s() - t.history[static_cast<size_t>(c - o_.window)]) / o_.window;
    const double optimistic = best[i] - best[i] / static_cast<double>(std::max<int64_t>(c, 1));
    gain.forward = std::min(0.0, std::min(optimistic, as_alike(s, i, best)) - best[i]);
    return gain;
  }

  /// The time that a task would have at 1 / beta of the best rate among those like it; infinity if there are none. A task that stays far behind them in spite of
  /// more rounds than any of them has left the group: it is not like them after all.
  double as_alike(const SessionView& s, size_t i, const std::vector<double>& best) const {
    const TaskView& t = s.tasks[i];
    if (t.tag.empty()) return kUnknown;
    const auto rate = [&](size_t j) { return static_cast<double>(s.tasks[j].flops) / best[j]; };
    double fastest = 0;
    int64_t most = 0;
    bool alone = true;
    for (size_t j = 0; j < s.tasks.size(); ++j) {
      if (s.tasks[j].tag != t.tag || !std::isfinite(s.tasks[j].best_s())) continue;
      fastest = std::max(fastest, rate(j));
      if (j == i) continue;
      alone = false;
      most = std::max(most, rounds(s.tasks[j]));
    }
    constexpr int64_t kPatience = 5;
    const bool left = rate(i) < fastest / o_.beta && rounds(t) > kPatience + most;
    return alone || left || fastest <= 0 ? kUnknown : o_.beta * static_cast<double>(t.flops) / fastest;
  }

  Options o_;
};

std::unique_ptr<TaskScheduler> make_gradient(const Json& p) {
  return std::make_unique<Gradient>(Options{p.at("alpha").get<double>(), p.at("beta").get<double>(), p.at("window").get<int>(), p.at("warm_up").get<int>(),
                                            p.at("target_ms").get<double>() * 1e-3});
}

}  // namespace

SchedulerDef gradient_scheduler() {
  constexpr auto kReal = Param::Kind::real;
  constexpr auto kInt = Param::Kind::integer;
  return {"gradient",
          {number_param("alpha", kReal, 0.2, "how much the past gain of a task counts against the expected one", 0, 1),
           number_param("beta", kReal, 2.0, "how much slower than tasks like it a task may be expected to end", 1, 1000),
           number_param("gamma", kReal, 0.5, "kept with the session for comparisons; neither the original nor this uses it", 0, 1),
           number_param("window", kInt, 3, "rounds over which the past gain is taken", 1, 1000), number_param("warm_up", kInt, 0, "rounds that every task gets first; Ansor: 1", 0, 1000),
           number_param("target_ms", kReal, 0.0, "tuning ends when the network's estimate is at most so many ms; 0: none", 0, 1e9)},
          make_gradient,
          "After every round it asks which task's next round will take most off the network's time, and gives the round to that one. What a round brings is "
          "expected from what the last ones brought, from the optimistic guess that the time falls as 1 over the rounds, and from how fast tasks like it run. "
          "A task that had no round yet may lose all of its time, so that the small ones wait until the large ones have had theirs; Ansor gives each a first round before that (warm_up=1). "
          "One without candidates, or that has not improved for the trials of --early-stopping, is passed over.",
          "Ansor's task scheduler (Zheng et al., OSDI 2020, section 6)"};
}

}  // namespace tw::tune
