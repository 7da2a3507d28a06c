// SPDX-License-Identifier: Apache-2.0
// Whether a new best is one: the same candidate under two names runs against itself, as finalists of a session do, and the sessions' own rule says whether one is
// faster. It should never; where the samples of one are made some percent shorter, it should.
//   aa_bench [--decisions N] [--minutes M] [--only idle|busy] [--task NUMBER] [--gap PERCENT] [--busy PROCESSES] [--seed S]
// Beside busy processes (half arithmetic, half memory) as many decisions again are made. Ends with 1 if more than 1 % of equal ones are called new, or less than
// 95 % of the faster ones.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/measure/measure.h"
#include "engine/tune/candidate.h"
#include "engine/tune/finals.h"
#include "tests/bench/bench.h"
#include "tests/bench/recordable.h"

using namespace tw;

namespace {

constexpr double kMostFalse = 0.01, kLeastFound = 0.95;

/// Builds each candidate once.
class CachedBuilder : public measure::Builder {
 public:
  explicit CachedBuilder(measure::Builder& inner) : inner_(inner) {}
  std::vector<measure::BuildOutcome> build(const records::Task& task, std::span<const records::Candidate> candidates, StopToken stop) override {
    if (built_.size() != candidates.size()) built_ = inner_.build_finalists(task, candidates, stop);
    return built_;
  }

 private:
  measure::Builder& inner_;
  std::vector<measure::BuildOutcome> built_;
};

/// A process that keeps one processor busy until it is killed: with arithmetic, or with all the memory that caches do not hold.
pid_t start_busy(bool memory) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<double> field(memory ? size_t{16} << 20 : 1024, 1.0);
  for (volatile double sum = 0;;)
    for (size_t i = 0; i < field.size(); i += memory ? 8 : 1) {
      field[i] = std::fma(field[i], 0.999, 0.5);
      sum = sum + field[i];
    }
}

struct Counts {
  int decisions = 0, false_best = 0, found = 0, failed = 0, rounds_same = 0, rounds_less = 0;
  void print(const char* where, double gap, double seconds) const {
    const auto each = [&](int n) { return static_cast<double>(n) / std::max(1, decisions); };
    std::printf("%-24s %9d %12.2f %% %8.1f %15.2f %% of %g %% %8.1f %8d %8.0f s\n", where, decisions, 100 * each(false_best), each(rounds_same), 100 * each(found), gap,
                each(rounds_less), failed, seconds);
    std::fflush(stdout);
  }
};

std::vector<records::MeasureResult> shorter(std::vector<records::MeasureResult> results, double factor) {
  for (records::MeasureResult& r : results)
    for (double& s : r.samples_s) s *= factor;
  return results;
}

class Contest {
 public:
  Contest(double gap, uint64_t seed, size_t task)
      : gap_(gap), rng_(seed), local_(bench::need(measure::local_builder({}))), runner_(bench::need(measure::local_runner({}))) {
    Target target = host_target();
    target.cores = 1;
    const bench::Recordable& small = bench::recordables()[task % bench::recordables().size()];
    task_ = records::make_task(small.name, small.dag(), target);
    candidates_.assign(2, tune::default_candidate(task_));
  }
  const std::string& name() const { return task_.name; }

  Counts run(int64_t decisions, double until) {
    CachedBuilder builder(*local_);
    tune::PhaseTimes times;
    tune::BatchMeasurer measurer(builder, *runner_, {}, times);
    const tune::FinalOptions options;
    measure::RunOptions how;
    how.samples = options.samples;
    how.weights = options.weights;
    const std::vector<int> looks = tune::looks(1, options);
    Counts c;
    while (c.decisions + c.failed < decisions && bench::now_s() < until) {
      how.input_seed = rng_.uniform(1 << 30);
      tune::FinalVerdict same, less;
      int rounds_same = 0, rounds_less = 0;
      // What a session does, twice over the same rounds: each comparison ends where it would end by itself.
      const auto next = [&](const tune::BatchMeasurer::Results& l) {
        const int rounds = static_cast<int>(l[0].size());
        const bool failed = rounds > 0 && !(l[0].back().ok() && l[1].back().ok());
        if (!failed && std::find(looks.begin(), looks.end(), rounds) == looks.end()) return std::vector<size_t>{0, 1};
        const auto judge = [&](const std::vector<records::MeasureResult>& other, tune::FinalVerdict& v, int& until_settled) {
          if (v.settled) return;
          v = tune::final_verdict(l[0], other, 1.0, 1, options);
          until_settled = rounds;
        };
        if (!failed) judge(l[1], same, rounds_same), judge(shorter(l[1], 1 - gap_ / 100), less, rounds_less);
        return failed || (same.settled && less.settled) ? std::vector<size_t>() : std::vector<size_t>{0, 1};
      };
      measurer.compete(task_, candidates_, how, next, rng_, [](const char*) {});
      if (!same.settled || !less.settled) {
        ++c.failed;
        continue;
      }
      ++c.decisions;
      c.false_best += same.verdict.seconds < 1;
      c.found += less.verdict.seconds < 1;
      c.rounds_same += rounds_same;
      c.rounds_less += rounds_less;
    }
    return c;
  }

 private:
  double gap_;
  Rng rng_;
  std::unique_ptr<measure::Builder> local_;
  std::unique_ptr<measure::Runner> runner_;
  records::Task task_;
  std::vector<records::Candidate> candidates_;
};

bool good(const Counts& c) { return c.decisions > 0 && c.false_best <= kMostFalse * c.decisions && c.found >= kLeastFound * c.decisions; }

}  // namespace

int main(int argc, char** argv) {
  const bench::Options o(argc, argv);
  const int64_t decisions = o.integer("decisions", 1000), busy = o.integer("busy", 1);
  const double minutes = static_cast<double>(o.integer("minutes", 60)), gap = static_cast<double>(o.integer("gap", 3));
  const std::string only = o.text("only", "");
  Contest contest(gap, static_cast<uint64_t>(o.integer("seed", 1)), static_cast<size_t>(o.integer("task", 0)));
  std::printf("%s\n%-24s %9s %14s %8s %24s %8s %8s %10s\n", contest.name().c_str(), "machine", "decisions", "equal, but new", "rounds", "faster, and new", "rounds", "failed",
              "time");
  bool all_good = true;
  for (const bool beside : {false, true}) {
    if (only == (beside ? "idle" : "busy")) continue;
    std::vector<pid_t> others;
    for (int64_t i = 0; beside && i < busy; ++i) others.push_back(start_busy(i % 2 == 1));
    const double begin = bench::now_s();
    const Counts c = contest.run(decisions, begin + (only.empty() ? 30 : 60) * minutes);
    for (const pid_t pid : others) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    c.print(beside ? "beside busy processes" : "otherwise idle", gap, bench::now_s() - begin);
    all_good = all_good && good(c);
  }
  return all_good ? 0 : 1;
}
