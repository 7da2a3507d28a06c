// SPDX-License-Identifier: Apache-2.0
// `tw check`: test-case folders, and TorchScript files, through import, compile, run and compare.
#include <filesystem>
#include <map>
#include <thread>

#include "app/cli/case_pool.h"
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/progress.h"
#include "app/cli/running.h"
#include "app/cli/table.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct CheckArguments {
  std::string path;
  PoolOptions pool;
  bool json = false, quiet = false;
};

constexpr const char* kStatuses[] = {"passed", "wrong", "unsupported", "crashed"};

int check_cases(const CheckArguments& o) {
  if (!o.pool.cases.device.empty()) {
    if (const auto gpu = gpu_device(o.pool.cases.device); !gpu) return fail_input(gpu.error());
  }
  const auto folders = find_cases(o.path);
  if (!folders) return fail_input(folders.error());
  PoolOptions pool = o.pool;
  if (pool.jobs == 0) pool.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  Progress progress("Checking", static_cast<int64_t>(folders->size()));
  int64_t done = 0;
  auto results = run_cases(
      *folders, pool, [&](const CaseResult& r) { progress.update(++done, std::filesystem::path(r.name).filename().string()); }, stop_token());
  progress.finish();
  if (!results) return fail(results.error());
  std::map<std::string, int64_t> totals;
  for (CaseResult& r : *results) {
    ++totals[r.status];
    const auto relative = std::filesystem::path(r.name).lexically_relative(o.path);
    r.name = relative == "." || relative.empty() ? std::filesystem::path(r.name).filename().string() : relative.string();
  }
  if (o.json) {
    Json cases = Json::array(), sums = Json::object();
    for (const CaseResult& r : *results) cases.push_back(to_json(r));
    for (const char* s : kStatuses) sums[s] = totals[s];
    print_json({{"cases", cases}, {"totals", sums}});
  } else {
    Table table({"case", "status", ">error", ">of largest", "reason"});
    for (const CaseResult& r : *results) {
      if (o.quiet && r.status == "passed") continue;
      std::string reason = r.reason.substr(0, r.reason.find('\n'));
      const bool ran = r.status == "passed" || r.status == "wrong";
      table.row({r.name, r.status, ran ? fmt::format("{:.1e}", r.max_abs) : "-", ran ? fmt::format("{:.1e}", r.max_rel) : "-", reason});
    }
    print("{}\n", table.text());
    for (const char* s : kStatuses) print("{:<12} {}\n", s, totals[s]);
  }
  return totals["wrong"] + totals["crashed"] > 0 ? kFailed : kDone;
}

}  // namespace

void add_check(Subcommand app, Run& run) {
  auto o = std::make_shared<CheckArguments>();
  Subcommand sub =
      app.command(run, "check", "Runs test-case folders (ONNX, PyTorch) and compares with their outputs, or a TorchScript file and compares with libtorch; exit code 1 if one is wrong or crashes", o, check_cases);
  sub.option("path", o->path, "A folder with model.onnx or model.pt2 and test_data_set_*, or a tree of them; or a TorchScript file (.pt)").required();
  sub.option("--input-shape", o->pool.cases.shapes, "Shape of an input of a TorchScript file, such as x=1,3,224,224; may be repeated");
  sub.option("--device", o->pool.cases.device, "A GPU instead of the processor: cuda:0, or sim:a100 for the interpreter");
  sub.option("--rtol", o->pool.cases.rtol, "An element may differ by --atol plus this times its magnitude; without both, as its type allows").range(0.0, 1e9);
  sub.option("--atol", o->pool.cases.atol, "See --rtol").range(0.0, 1e9);
  sub.option("--jobs", o->pool.jobs, "Cases run at once; 0: one per processor").range(0, 4096);
  sub.option("--timeout", o->pool.timeout_s, "Seconds one case may take").range(0.1, 86400.0).show_default();
  sub.flag("--quiet", o->quiet, "Without the cases that passed");
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
