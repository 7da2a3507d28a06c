// SPDX-License-Identifier: Apache-2.0
// `tw records check`: kernels for GPUs without one.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/progress.h"
#include "app/cli/records.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "db/recorded.h"
#include "engine/api/gpu_check.h"
#include "engine/base/json.h"

namespace tw::cli {
namespace {

std::string registers_text(const std::vector<codegen::KernelResources>& kernels) {
  std::vector<std::string> parts;
  for (const codegen::KernelResources& k : kernels) parts.push_back(fmt::format("{}{}", k.registers, k.spill_store_bytes > 0 ? ", spills" : ""));
  return fmt::format("{}", fmt::join(parts, " / "));
}

/// The best kernel of a task for a GPU.
struct BestKernel {
  db::TaskRow row;
  records::Task task;
  std::vector<schedule::Step> steps;
};

/// Checks on as many threads as there are processors, in the order of the kernels. Of those not begun when it was stopped there is an error.
std::vector<Expected<api::GpuCheck>> check_kernels(const std::vector<BestKernel>& kernels, const api::GpuCheckOptions& options) {
  std::vector<Expected<api::GpuCheck>> checks(kernels.size(), Error(ErrorCode::cancelled, "Cancelled"));
  Progress progress("Checking", static_cast<int64_t>(kernels.size()));
  std::atomic<size_t> next{0};
  std::mutex mutex;
  int64_t done = 0;
  const auto work = [&] {
    for (size_t i = next++; i < kernels.size() && !options.stop.stop_requested(); i = next++) {
      checks[i] = api::check_gpu_kernel(kernels[i].task, kernels[i].steps, options);
      const std::lock_guard lock(mutex);
      progress.update(++done, kernels[i].row.name);
    }
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < std::min<size_t>(kernels.size(), std::max(1u, std::thread::hardware_concurrency())); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  progress.finish();
  return checks;
}

}  // namespace

int check_records(const RecordsArguments& o) {
  auto db = open_workspace(o.db, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto rows = (*db)->tasks();
  if (!rows) return fail(rows.error());
  api::GpuCheckOptions options;
  options.blocks = o.blocks;
  options.capabilities = o.archs;
  options.stop = stop_token();
  std::vector<std::string> titles{"task", "key", ">blocks", ">elements", ">error"};
  for (const int a : o.archs) titles.push_back(fmt::format(">registers sm_{}", a));
  titles.emplace_back("verdict");
  Table table(titles);
  Json list = Json::array();
  int wrong = 0, others = 0;
  std::vector<BestKernel> kernels;
  for (const db::TaskRow& row : *rows) {
    if (!matches(row, o.filters) || row.dag_text.empty()) continue;
    const auto best = (*db)->best(row.key, records::Weights::unknown);
    if (!best) return fail(best.error());
    if (!*best) continue;
    auto task = db::readable_task(**db, row);
    if (!task) continue;
    if (task->target.gpu)
      kernels.push_back({row, std::move(*task), (*best)->candidate.steps});
    else
      ++others;
  }
  const std::vector<Expected<api::GpuCheck>> checks = check_kernels(kernels, options);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const db::TaskRow& row = kernels[k].row;
    const Expected<api::GpuCheck>& check = checks[k];
    if (!check && check.error().code == ErrorCode::cancelled) return kCancelled;
    wrong += !check;
    const std::string verdict = !check ? "failed" : check->not_run.empty() ? "passed" : "not run";
    std::vector<std::string> cells{row.name, row.key.substr(0, 10)};
    Json entry{{"task", row.name}, {"key", row.key}, {"verdict", verdict}};
    if (check) {
      cells.insert(cells.end(),
                   {fmt::format("{} of {}", check->blocks_run, check->blocks), std::to_string(check->elements), fmt::format("{:.1e}", check->max_rel_error)});
      entry.update({{"blocks", check->blocks}, {"blocks_run", check->blocks_run}, {"elements", check->elements}, {"max_rel_error", check->max_rel_error}});
    } else {
      cells.insert(cells.end(), 3, "-");
    }
    for (size_t a = 0; a < o.archs.size(); ++a) cells.push_back(check ? registers_text(check->resources[a]) : "-");
    const std::string reason = check ? check->not_run : check.error().text();
    if (!reason.empty()) entry["reason"] = reason;
    cells.push_back(reason.empty() ? verdict : verdict + ": " + reason);
    table.row(cells);
    list.push_back(std::move(entry));
  }
  if (others > 0) note(fmt::format("{} tasks are for processors, whose trials are verified when they are measured", others));
  if (o.json)
    print_json({{"kernels", list}, {"failed", wrong}});
  else
    put(table.text());
  return wrong > 0 ? kFailed : kDone;
}

}  // namespace tw::cli
