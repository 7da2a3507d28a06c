// SPDX-License-Identifier: Apache-2.0
// `tw models`: how well cost models say which candidates are fast, by the records of a workspace.
#include <algorithm>
#include <filesystem>
#include <map>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/judged.h"
#include "app/cli/param_options.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "db/session_workspace.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/cost/cost_model.h"
#include "engine/target/host.h"

namespace tw::cli {
namespace {

constexpr const char* kUsualModel = "boosted-trees";

struct ModelsArguments {
  std::string db, target, model = kUsualModel, save;
  std::vector<std::string> features, model_params;
  double test_share = 0.25;
  uint64_t seed = 1;
  bool whole_tasks = false, json = false;
};

/// The target that most trials of the workspace are for.
Expected<std::string> usual_target(db::Database& db) {
  TW_TRY(const auto rows, db.tasks());
  std::map<std::string, int64_t> trials;
  for (const db::TaskRow& row : rows) trials[row.target] += row.counts().trials;
  const auto most = std::max_element(trials.begin(), trials.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == trials.end() || most->second == 0) return Error(ErrorCode::not_found, "Expected a database with trials, found none", db.path());
  return most->first;
}

/// Learns from a part of the records and is judged by the rest; nothing where the records have none of these features.
Expected<std::optional<Judged>> try_feature(const ModelsArguments& o, const cost::ModelDef& def, const cost::FeatureDef& feature,
                                            std::span<const records::TaskRecords> tasks, WorkerPool& workers) {
  const cost::Dataset data = cost::Dataset::of_records(feature, tasks, workers, stop_token());
  if (stop_token().stop_requested()) return Error(ErrorCode::cancelled, "Stopped");
  Rng rng(o.seed);
  const cost::Dataset::Split parts = o.whole_tasks ? data.split_tasks(o.test_share, rng) : data.split_samples(o.test_share, rng);
  if (parts.train.size() == 0) return std::optional<Judged>();
  TW_TRY(const Json given, named_values("--model-param", o.model_params));
  TW_TRY(const Json params, resolve_params(def.params, given));
  const std::unique_ptr<cost::CostModel> model = def.make(def, feature, params);
  TW_CHECK(model->fit(parts.train, {.seed = o.seed, .stop = stop_token()}));
  TW_TRY(Judged judged, judge(*model, parts.test));
  if (!o.save.empty()) TW_CHECK(cost::save_model(*model, o.save));
  return std::optional(std::move(judged));
}

int models(const ModelsArguments& o) {
  const cost::ModelDef* def = cost::find_model(o.model);
  if (def == nullptr) {
    std::string names;
    for (const cost::ModelDef& m : cost::models()) names += fmt::format("{}{}", names.empty() ? "" : ", ", m.name);
    return fail_usage(fmt::format("Expected a cost model of {}, found '{}'", names, printable(o.model)));
  }
  if (!(o.test_share >= 0 && o.test_share < 1)) return fail_usage(fmt::format("Expected a share of at least 0 and less than 1 for --test, found {}", o.test_share));
  std::vector<const cost::FeatureDef*> features;
  for (const std::string& name : o.features) {
    features.push_back(cost::find_feature(name));
    if (features.back() == nullptr) {
      std::string names;
      for (const cost::FeatureDef& f : cost::features()) names += fmt::format("{}{}", names.empty() ? "" : ", ", f.name);
      return fail_usage(fmt::format("Expected features of {}, found '{}'", names, printable(name)));
    }
  }
  if (features.empty())
    for (const cost::FeatureDef& f : cost::features())
      if (def->feature == nullptr || std::string_view(def->feature) == f.name) features.push_back(&f);
  for (const cost::FeatureDef* f : features)
    if (def->feature != nullptr && std::string_view(def->feature) != f->name)
      return fail_usage(fmt::format("Expected the features '{}' for the model {}, found '{}'", def->feature, def->name, f->name));
  if (!o.save.empty() && features.size() != 1) return fail_usage("Expected one --feature with --save, since one model is saved");

  const std::string path = o.db.empty() ? default_database_path() : o.db;
  if (std::error_code ec; !std::filesystem::exists(path, ec)) return fail_input(Error(ErrorCode::not_found, "Expected a database, found none", path));
  const auto db = open_workspace(path, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto target = o.target.empty() ? usual_target(**db) : Expected<std::string>(o.target);
  if (!target) return fail_input(target.error());
  const auto tasks = db::task_records(**db, *target);
  if (!tasks) return fail_input(tasks.error());
  if (tasks->empty()) return fail_input(Error(ErrorCode::not_found, fmt::format("Expected trials for {}, found none", printable(*target)), path));

  WorkerPool workers(target::host_cores());
  Json list = Json::array();
  Table table = judged_table();
  for (const cost::FeatureDef* feature : features) {
    const auto judged = try_feature(o, *def, *feature, *tasks, workers);
    if (!judged) return fail(judged.error());
    if (!*judged) {
      note(fmt::format("No record has the features {}, or too few are left to learn from", feature->name));
      continue;
    }
    const Judged& j = **judged;
    list.push_back(to_json(j));
    add_row(table, j);
  }
  say_damage();
  if (o.json) {
    print_json({{"target", *target}, {"tasks", tasks->size()}, {"held_out", o.whole_tasks ? "tasks" : "samples"}, {"models", list}});
  } else {
    print("{} tasks for {}; learned from {:.0f} % of the {}, judged by the rest\n\n{}", tasks->size(), *target, 100 * (1 - o.test_share),
          o.whole_tasks ? "tasks" : "trials of each task", table.text());
  }
  return kDone;
}

}  // namespace

void add_models(Subcommand app, Run& run) {
  auto o = std::make_shared<ModelsArguments>();
  Subcommand sub = app.command(run, "models", "How well cost models say which candidates are fast, by the trials of a database", o, models);
  sub.option("--db", o->db, "Database with the trials; " + default_database_path() + " if absent");
  sub.option("--target", o->target, "Trials for this target; that of most trials if absent");
  sub.option("--model", o->model, "Cost model").show_default();
  sub.option("--model-param", o->model_params, "Parameter of the model as name=value, such as loss=reg; may be repeated");
  sub.option("--feature", o->features, "What it knows of candidates; may be repeated; all that there are if absent");
  sub.option("--test", o->test_share, "Share of the trials that is held out and judged by").show_default();
  sub.flag("--whole-tasks", o->whole_tasks, "Hold out whole tasks: how well models know tasks that they never saw");
  sub.option("--seed", o->seed, "Seed of what is held out, and of the model").show_default();
  sub.option("--save", o->save, "File for what the model learned").output(cost::kModelFile);
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
