// SPDX-License-Identifier: Apache-2.0
// `tw demo`: the main job on a bundled network: written, imported, tuned, tried as a whole, compiled, checked; with a report.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network_report.h"
#include "app/cli/reference.h"
#include "app/cli/running.h"
#include "app/cli/tuning.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/network_run.h"
#include "engine/process/temporary_folder.h"

namespace tw::cli {
namespace {

struct DemoArguments {
  std::string model = "shufflenet_v2", tuner = "random";
  double time_s = 60;
  int64_t trials_per_task = 24;
  bool tiny = false, json = false;
  uint64_t seed = 1;
};

constexpr double kFinalsSeconds = 20;  ///< after which what is in doubt is not taken
constexpr int kFinalists = 3;  ///< of a task; the network is the judge in the end, and a demo is waited for

struct Report {
  std::string network;
  TuneResult tuning;
  api::NetworkFinals finals;
  Check check;
};

/// Compiles what holds, and runs it beside the reference.
Expected<Check> check_result(const LoadedNetwork& loaded, records::RecordSource& source, const std::string& path, uint64_t seed) {
  api::CompileOptions options;
  options.stop = stop_token();
  TW_TRY(runtime::Executable compiled, api::compile(loaded.network, loaded.target, &source, options));
  TW_CHECK(runtime::save(compiled, path));
  // The file is read again, so that what runs is what a later `tw run` would run.
  TW_TRY(runtime::Executable read, runtime::load_executable(path));
  const auto executable = std::make_shared<const runtime::Executable>(std::move(read));
  TW_TRY(const auto executor, make_executor(executable));
  const TensorMap inputs = measure::random_inputs(*executable, seed);
  TW_CHECK(executor->set_inputs(inputs));
  TW_CHECK(executor->run());
  TW_TRY(const std::vector<HostArray> got, executor->outputs());
  TW_TRY(const auto want, reference_outputs(path, *executable, inputs, stop_token()));
  return check_outputs(want, got);
}

Expected<Report> run_demo(const DemoArguments& o) {
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  const std::string onnx = folder.path() + "/" + o.model + ".onnx";
  note(fmt::format("Writing {}{} as an ONNX file", o.model, o.tiny ? " (tiny)" : ""));
  TW_CHECK(frontends::write_zoo_model(o.model, {o.tiny, 1, 1}, onnx));
  LoadedNetwork loaded{{}, host_target()};
  TW_TRY(loaded.network, api::import_network(onnx, loaded.target));
  Report report;
  report.network = fmt::format("{}{}", o.model, o.tiny ? ", tiny" : "");
  TW_TRY(auto db, db::Database::open(folder.path() + "/demo.twdb"));
  TuneRequest request;
  request.network = &loaded;
  request.model_path = onnx;
  request.session.tuner = o.tuner;
  request.session.tuner_params = resolve_params(tune::find_strategy(o.tuner)->params, Json::object()).value();
  request.session.seed = o.seed;
  request.session.trials_per_task = o.trials_per_task;
  request.session.time_s = o.time_s;
  request.session.finalists = kFinalists;
  TW_TRY(report.tuning, tune_network(request, db));
  if (report.tuning.report.cancelled) return Error(ErrorCode::cancelled, "Cancelled");
  if (!report.tuning.report.anything_measured()) return Error(ErrorCode::infrastructure, nothing_measured_text(report.tuning.report));
  NetworkReportRequest finals{&loaded, onnx, request.device, report.tuning.session, request.workers, {}};
  finals.selection.seed = o.seed;
  finals.selection.time_s = kFinalsSeconds;
  TW_TRY(report.finals, report_network(finals, *db));
  note("Comparing the results with the reference");
  TW_TRY(report.check, check_result(loaded, *db, folder.path() + "/tuned.twx", o.seed));
  return report;
}

int64_t trial_count(const Report& r) {
  int64_t trials = 0;
  for (const auto& t : r.tuning.report.tasks) trials += t.trials;
  return trials;
}

void print_report(const Report& r) {
  print("{}\n{}\n", tune_table(r.tuning), finals_table(r.finals));
  print("network          {}\n", r.network);
  print("tasks            {}\n", r.tuning.tasks.size());
  print("trials           {}\n", trial_count(r));
  print("default          {}\n", time_text(r.finals.default_s));
  print("tuned            {}\n", time_text(r.finals.tuned_s));
  if (r.finals.taken > 0) {
    print("tuned / default  {} as fast\n", gain_text(r.finals.network));
  } else {
    print("tuned / default  1.00x: the rules that choose untuned schedules left nothing to gain here that is sure\n");
  }
  print("largest error    {}\n", check_text(r.check));
}

int demo(const DemoArguments& o) {
  if (tune::find_strategy(o.tuner) == nullptr) return fail_usage(fmt::format("Expected a tuner that `tw tune --help` names, found '{}'", printable(o.tuner)));
  auto report = run_demo(o);
  if (!report) return fail(report.error());
  if (o.json) {
    print_json({{"network", report->network},
                {"tasks", report->tuning.tasks.size()},
                {"trials", trial_count(*report)},
                {"default_s", report->finals.default_s},
                {"tuned_s", report->finals.tuned_s},
                {"speedup", report->finals.taken > 0 ? 1 / report->finals.network.ratio : 1.0},
                {"speedup_low", report->finals.taken > 0 ? 1 / report->finals.network.high : 1.0},
                {"speedup_high", report->finals.taken > 0 ? 1 / report->finals.network.low : 1.0},
                {"finals", finals_json(report->finals)},
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
  sub.flag("--tiny", o->tiny, "Its tiny variant instead of the real network");
  sub.duration("--time", o->time_s, "Limit of the time for tuning, such as 45s");
  sub.option("--trials-per-task", o->trials_per_task, "Trials of each task").range(int64_t{1}, int64_t{1} << 30).show_default();
  sub.option("--tuner", o->tuner, "Tuner").show_default();
  sub.option("--seed", o->seed, "Seed of the search and of the inputs").show_default();
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
