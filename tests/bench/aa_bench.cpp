// SPDX-License-Identifier: Apache-2.0
// Whether a new best is one: the same candidate under two names runs against itself, as finalists of a session do, and the sessions' own rule says whether one is
// faster. It should never; where the samples of one are made some percent shorter, it should.
//   aa_bench [--decisions N] [--minutes M] [--gap PERCENT] [--busy PROCESSES] [--seed S]
// Beside busy processes (half arithmetic, half memory) as many decisions again are made. Ends with 1 if more than 1 % of equal ones are called new, or less than
// 95 % of the faster ones.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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
  int decisions = 0, false_best = 0, found = 0, failed = 0;
  void print(const char* where, double gap, double seconds) const {
    std::printf("%-24s %6d %12.2f %% %19.2f %% of %g %% %8d %8.0f s\n", where, decisions, 100.0 * false_best / std::max(1, decisions),
                100.0 * found / std::max(1, decisions), gap, failed, seconds);
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
  Contest(double gap, uint64_t seed) : gap_(gap), rng_(seed), local_(bench::need(measure::local_builder({}))), runner_(bench::need(measure::local_runner({}))) {
    Target target = host_target();
    target.cores = 1;
    const bench::Recordable& small = bench::recordables().front();
    task_ = records::make_task(small.name, small.dag(), target);
    candidates_.assign(2, tune::default_candidate(task_));
  }

  Counts run(int64_t decisions, double until) {
    CachedBuilder builder(*local_);
    tune::PhaseTimes times;
    tune::BatchMeasurer measurer(builder, *runner_, {}, times);
    const tune::FinalOptions options;
    measure::RunOptions how;
    how.samples = options.samples;
    how.weights = options.weights;
    Counts c;
    while (c.decisions + c.failed < decisions && bench::now_s() < until) {
      how.input_seed = rng_.uniform(1 << 30);
      const auto launches = measurer.compete(task_, candidates_, how, options.launches, rng_, [](const char*) {});
      const records::Verdict same = tune::final_verdict(launches[0], launches[1], 1.0, options, rng_);
      const records::Verdict less = tune::final_verdict(launches[0], shorter(launches[1], 1 - gap_ / 100), 1.0, options, rng_);
      if (!std::isfinite(same.seconds)) {
        ++c.failed;
        continue;
      }
      ++c.decisions;
      c.false_best += same.seconds < 1;
      c.found += less.seconds < 1;
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
  Contest contest(gap, static_cast<uint64_t>(o.integer("seed", 1)));
  std::printf("%-24s %6s %14s %28s %8s %10s\n", "machine", "pairs", "equal, but new", "faster, and new", "failed", "time");
  bool all_good = true;
  for (const bool beside : {false, true}) {
    std::vector<pid_t> others;
    for (int64_t i = 0; beside && i < busy; ++i) others.push_back(start_busy(i % 2 == 1));
    const double begin = bench::now_s();
    const Counts c = contest.run(decisions, begin + 30 * minutes);
    for (const pid_t pid : others) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    c.print(beside ? "beside busy processes" : "otherwise idle", gap, bench::now_s() - begin);
    all_good = all_good && good(c);
  }
  return all_good ? 0 : 1;
}
