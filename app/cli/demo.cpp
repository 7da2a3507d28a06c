// SPDX-License-Identifier: Apache-2.0
// `tw demo`: the main job on a bundled network: written, imported, tuned, compiled, run, checked; with a report.
#include <algorithm>
#include <cmath>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/progress.h"
#include "app/cli/reference.h"
#include "app/cli/running.h"
#include "app/cli/tuning.h"
#include "engine/base/duration.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/network_executor.h"
#include "engine/process/temporary_folder.h"

namespace tw::cli {
namespace {

struct DemoArguments {
  std::string model = "resnet18", time = "75s", tuner = "random";
  int64_t trials_per_task = 24;
  bool full_size = false, json = false;
  uint64_t seed = 1;
};

constexpr int kDemoRounds = 5, kRunsPerRound = 10;

/// A compiled network, loaded and with its inputs set.
struct Compiled {
  std::string path;
  std::shared_ptr<const runtime::Executable> executable;
  std::unique_ptr<runtime::GraphExecutor> executor;
  std::vector<double> runs_s;
};

Expected<Compiled> compile_to(const LoadedNetwork& loaded, records::RecordSource* source, const std::string& path) {
  api::CompileOptions options;
  options.stop = stop_token();
  TW_TRY(runtime::Executable compiled, api::compile(loaded.network, loaded.target, source, options));
  TW_CHECK(runtime::save(compiled, path));
  // The file is read again, so that what runs is what a later `tw run` would run.
  TW_TRY(runtime::Executable read, runtime::load_executable(path));
  Compiled c;
  c.path = path;
  c.executable = std::make_shared<const runtime::Executable>(std::move(read));
  TW_TRY(c.executor, make_executor(c.executable));
  return c;
}

/// Runs both by turns, so that a change of the machine's speed meets both.
void time_by_turns(std::vector<Compiled*> both) {
  for (int round = 0; round < kDemoRounds && !stop_token().stop_requested(); ++round) {
    for (Compiled* c : both) {
      const Latency latency = time_runs(*c->executor, kRunsPerRound, nullptr, stop_token()).value();
      c->runs_s.insert(c->runs_s.end(), latency.runs_s.begin(), latency.runs_s.end());
    }
  }
}

struct Report {
  std::string network;
  TuneResult tuning;
  double default_s = 0, tuned_s = 0;
  Check check;  ///< the worse of both
};

Expected<void> compare_with_reference(std::vector<Compiled*> both, const TensorMap& inputs, Report& report) {
  TW_TRY(const auto want, reference_outputs(both[0]->path, *both[0]->executable, inputs, stop_token()));
  for (const Compiled* c : both) {
    TW_TRY(const std::vector<HostArray> got, c->executor->outputs());
    TW_TRY(Check check, check_outputs(want, got));
    if (c == both[0] || check.max_rel > report.check.max_rel || !check.passed) report.check = std::move(check);
  }
  return {};
}

Expected<Report> run_demo(const DemoArguments& o, double seconds) {
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  const std::string onnx = folder.path() + "/" + o.model + ".onnx";
  note(fmt::format("Writing {}{} as an ONNX file", o.model, o.full_size ? "" : " (tiny)"));
  TW_CHECK(frontends::write_zoo_model(o.model, {!o.full_size, 1, 1}, onnx));
  LoadedNetwork loaded{{}, host_target()};
  TW_TRY(loaded.network, api::import_network(onnx, loaded.target));
  Report report;
  report.network = fmt::format("{}{}", o.model, o.full_size ? "" : ", tiny");
  TW_TRY(auto db, db::Database::open(folder.path() + "/demo.twdb"));
  TuneRequest request;
  request.network = &loaded;
  request.model_path = onnx;
  request.session.tuner = o.tuner;
  request.session.tuner_params = resolve_params(tune::find_strategy(o.tuner)->params, Json::object()).value();
  request.session.seed = o.seed;
  request.session.trials_per_task = o.trials_per_task;
  request.session.time_s = seconds;
  TW_TRY(report.tuning, tune_network(request, db));
  if (report.tuning.report.cancelled) return Error(ErrorCode::cancelled, "Cancelled");
  if (!report.tuning.report.anything_measured()) return Error(ErrorCode::infrastructure, nothing_measured_text(report.tuning.report));

  note("Compiling twice: default schedules, best records");
  TW_TRY(Compiled untuned, compile_to(loaded, nullptr, folder.path() + "/default.twx"));
  TW_TRY(Compiled tuned, compile_to(loaded, db.get(), folder.path() + "/tuned.twx"));
  const TensorMap inputs = measure::random_inputs(*untuned.executable, o.seed);
  TW_CHECK(untuned.executor->set_inputs(inputs));
  TW_CHECK(tuned.executor->set_inputs(inputs));
  note("Running both by turns, then the reference");
  time_by_turns({&untuned, &tuned});
  if (stop_token().stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
  report.default_s = *std::min_element(untuned.runs_s.begin(), untuned.runs_s.end());
  report.tuned_s = *std::min_element(tuned.runs_s.begin(), tuned.runs_s.end());
  TW_CHECK(compare_with_reference({&untuned, &tuned}, inputs, report));
  return report;
}

int64_t trial_count(const Report& r) {
  int64_t trials = 0;
  for (const auto& t : r.tuning.report.tasks) trials += t.trials;
  return trials;
}

void print_report(const Report& r) {
  print("{}\n", tune_table(r.tuning));
  print("network          {}\n", r.network);
  print("tasks            {}\n", r.tuning.tasks.size());
  print("trials           {}\n", trial_count(r));
  print("default          {}\n", time_text(r.default_s));
  print("tuned            {}\n", time_text(r.tuned_s));
  print("tuned / default  {} as fast\n", ratio_text(r.default_s / r.tuned_s));
  print("largest error    {}\n", check_text(r.check));
}

int demo(const DemoArguments& o) {
  const auto seconds = parse_duration(o.time);
  if (!seconds) return fail(seconds.error());
  if (*seconds == 0) return fail_usage("Expected --time above 0, found '" + printable(o.time) + "'");
  if (tune::find_strategy(o.tuner) == nullptr) return fail_usage(fmt::format("Expected a tuner that `tw tune --help` names, found '{}'", printable(o.tuner)));
  auto report = run_demo(o, *seconds);
  if (!report) return fail(report.error());
  if (o.json) {
    print_json({{"network", report->network},
                {"tasks", report->tuning.tasks.size()},
                {"trials", trial_count(*report)},
                {"default_s", report->default_s},
                {"tuned_s", report->tuned_s},
                {"speedup", report->default_s / report->tuned_s},
                {"max_rel_error", json_number(report->check.max_rel)},
                {"max_abs_error", json_number(report->check.max_abs)},
                {"passed", report->check.passed}});
  } else {
    print_report(*report);
  }
  return report->check.passed ? kDone : kFailed;
}

}  // namespace

void add_demo(Subcommand app, Run& run) {
  auto o = std::make_shared<DemoArguments>();
  Subcommand sub = app.command(run, "demo", "The main job on a bundled network, under two minutes, with a report; leaves nothing behind", o, demo);
  sub.option("--model", o->model, "Network from `tw zoo list`").show_default();
  sub.flag("--full-size", o->full_size, "The real network instead of its tiny variant");
  sub.option("--time", o->time, "Limit of the time for tuning, such as 45s").show_default();
  sub.option("--trials-per-task", o->trials_per_task, "Trials of each task").range(int64_t{1}, int64_t{1} << 30).show_default();
  sub.option("--tuner", o->tuner, "Tuner").show_default();
  sub.option("--seed", o->seed, "Seed of the search and of the inputs").show_default();
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
