// SPDX-License-Identifier: Apache-2.0
// `tw dataset`: trials as cost models learn from them, and what models make of them.
#include <filesystem>
#include <set>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/judged.h"
#include "app/cli/param_options.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "db/session_workspace.h"
#include "engine/base/text.h"
#include "engine/cost/dataset_file.h"
#include "engine/target/host.h"

namespace tw::cli {
namespace {

/// What samples: schedules of sketches and points of templates as they are drawn, bred once by no model.
constexpr const char* kSampler = "ansor";

struct MakeArguments {
  NetworkOptions network;
  std::string db, device = measure::kLocalDevice;
  int64_t per_task = 256;
  int batch = 64;
  uint64_t seed = 1;
};

int make(const MakeArguments& o) {
  tune::SessionOptions session;
  session.tuner = kSampler;
  session.seed = o.seed;
  session.trials_per_task = o.per_task;
  session.batch = o.batch;
  session.scheduler = "round-robin";
  session.finalists = 0;
  session.verify = tune::Verify::best;
  // All are drawn at random, and no model is fitted.
  session.tuner_params = {{"epsilon", 1.0}, {"generations", 0}, {"first_fit", 4096}, {"population", std::max(64, 4 * o.batch)}};
  const auto options = tune::session_options(tune::to_json(session));
  if (!options) return fail_usage(options.error().message);
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  const auto db = open_workspace(o.db);
  if (!db) return fail(db.error());
  outlive_terminal();
  TuneRequest request{&*loaded, o.network.model, {}, *options, false, {}, {}, {}, o.device};
  const auto result = tune_network(request, *db);
  if (!result) return fail(result.error());
  int64_t trials = 0;
  for (const tune::TaskDone& t : result->report.tasks) trials += t.trials;
  print("{} trials of {} tasks of '{}' in '{}'\n", trials, result->report.tasks.size(), printable(o.network.model), printable(o.db));
  return result->report.cancelled ? kCancelled : kDone;
}

struct FeaturiseArguments {
  std::vector<std::string> dbs;
  std::string target, times = "measured", feature = "pam", out;
};

/// The networks of a database that have some of these tasks.
Expected<std::vector<cost::DatasetFile::Network>> networks_of(db::Database& db, const std::map<std::string, std::string>& tasks) {
  TW_TRY(const auto models, db.models());
  std::vector<cost::DatasetFile::Network> out;
  for (const db::ModelRow& m : models) {
    TW_TRY(const auto rows, db.tasks_of(m.id));
    cost::DatasetFile::Network n{m.name, {}};
    for (const db::ModelTaskRow& row : rows)
      if (tasks.contains(row.task.key)) n.weights[row.task.key] = row.weight;
    if (!n.weights.empty()) out.push_back(std::move(n));
  }
  return out;
}

int featurise(const FeaturiseArguments& o) {
  cost::DatasetFile file;
  file.feature = cost::find_feature(o.feature);
  if (file.feature == nullptr) {
    std::vector<std::string> names;
    for (const cost::FeatureDef& f : cost::features()) names.push_back(f.name);
    return fail_usage(fmt::format("Expected features of {}, found '{}'", fmt::join(names, ", "), printable(o.feature)));
  }
  const auto target = parse_target(o.target);
  if (!target) return fail_usage(target.error().message);
  file.target = target->str();
  file.times = o.times;
  const db::TimeKind kind = o.times == "measured" ? db::TimeKind::measured : o.times == "simulated" ? db::TimeKind::simulated : db::TimeKind::claimed;
  WorkerPool workers(target::host_cores());
  std::vector<records::TaskRecords> all;
  for (const std::string& path : o.dbs) {
    const auto db = open_workspace(path, db::Mode::read_only);
    if (!db) return fail_input(db.error());
    auto tasks = db::task_records(**db, file.target, kind);
    if (!tasks) return fail_input(tasks.error());
    for (records::TaskRecords& t : *tasks) {
      file.names[t.task.key] = t.task.name;
      all.push_back(std::move(t));
    }
    const auto networks = networks_of(**db, file.names);
    if (!networks) return fail_input(networks.error());
    for (const auto& n : *networks)
      if (std::none_of(file.networks.begin(), file.networks.end(), [&](const auto& there) { return there.name == n.name; })) file.networks.push_back(n);
  }
  file.data = cost::Dataset::of_records(*file.feature, all, workers, stop_token());
  if (stop_token().stop_requested()) return kCancelled;
  if (file.data.size() == 0) return fail_input(Error(ErrorCode::not_found, fmt::format("Expected {} trials for {} with the features '{}', found none", o.times, printable(o.target), o.feature)));
  if (const auto saved = cost::save_dataset(file, o.out); !saved) return fail(saved.error());
  say_damage();
  print("{} {} samples of {} tasks for {} in '{}'\n", file.data.size(), o.times, file.data.tasks().size(), file.target, printable(o.out));
  return kDone;
}

struct InfoArguments {
  std::string file;
  bool json = false;
};

int info(const InfoArguments& o) {
  const auto file = cost::load_dataset(o.file);
  if (!file) return fail_input(file.error());
  const Json about = cost::describe(*file);
  if (o.json) {
    print_json(about);
    return kDone;
  }
  Table table({"task", ">samples", ">failed", ">fastest"});
  for (const Json& t : about["tasks"])
    table.row({printable(t["name"].get<std::string>()), std::to_string(t["samples"].get<size_t>()), std::to_string(t["failed"].get<int64_t>()),
               t["fastest_s"].is_null() ? "-" : fmt::format("{:.4g} ms", 1e3 * t["fastest_s"].get<double>())});
  print("{} {} samples of {} tasks for {}, features {}-{} of {} columns\n\n{}", file->data.size(), file->times, file->data.tasks().size(), file->target, file->feature->name,
        file->feature->version, about["columns"].get<size_t>(), table.text());
  return kDone;
}

struct TrainArguments {
  std::vector<std::string> files, params, held_out;
  std::string model = "pam", from, save, split = "samples";
  double test_share = 0.1;
  uint64_t seed = 1;
  bool json = false;
};

/// All files as one. Errors: invalid_argument where they are of different features, or measured and simulated times would be mixed.
Expected<cost::DatasetFile> joined(const std::vector<std::string>& paths) {
  cost::DatasetFile out;
  for (const std::string& path : paths) {
    TW_TRY(cost::DatasetFile file, cost::load_dataset(path));
    if (out.feature != nullptr && (file.feature != out.feature || file.times != out.times))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} times of the features '{}' as in the files before, found {} ones of '{}'", out.times, out.feature->name, file.times, file.feature->name), path);
    out.feature = file.feature;
    out.times = file.times;
    out.target = out.target.empty() || out.target == file.target ? file.target : out.target + ", " + file.target;
    // A task of two targets is two tasks: its speeds there have nothing in common.
    const auto joined_key = [&](const std::string& key) { return file.target + " " + key; };
    for (const cost::Dataset::Task& t : file.data.tasks())
      for (const cost::Dataset::Sample& s : t.samples) out.data.add(joined_key(t.key), s.rows, s.speed);
    for (const cost::DatasetFile::Network& n : file.networks) {
      auto at = std::find_if(out.networks.begin(), out.networks.end(), [&](const auto& there) { return there.name == n.name; });
      if (at == out.networks.end()) at = out.networks.insert(at, cost::DatasetFile::Network{n.name, {}});
      for (const auto& [key, weight] : n.weights) at->weights[joined_key(key)] = weight;
    }
  }
  return out;
}

/// All of `tested`, then each network that has tasks in it, weighted as it runs them.
int report(const cost::DatasetFile& data, const cost::CostModel& model, const cost::Dataset& tested, bool json) {
  const auto all = judge(model, tested);
  if (!all) return fail(all.error());
  std::vector<std::pair<std::string, Judged>> networks;
  for (const cost::DatasetFile::Network& n : data.networks) {
    const cost::Dataset own = tested.split_by([&](const std::string& key) { return n.weights.contains(key); }).test;
    if (own.size() == 0) continue;
    auto judged = judge(model, own, n.weights);
    if (!judged) return fail(judged.error());
    judged->name = n.name;
    networks.emplace_back(n.name, *std::move(judged));
  }
  if (json) {
    Json list = Json::array();
    for (const auto& [name, judged] : networks) {
      Json row = to_json(judged);
      row.erase("model");
      row["network"] = name;
      list.push_back(std::move(row));
    }
    print_json({{"target", data.target}, {"times", data.times}, {"judged", to_json(*all)}, {"networks", list}});
    return kDone;
  }
  Table table = judged_table();
  add_row(table, *all);
  for (auto& [name, judged] : networks) {
    judged.name = "of " + printable(name);
    add_row(table, judged);
  }
  print("{} times for {}\n\n{}", data.times, data.target, table.text());
  return kDone;
}

/// What is held out. Errors: not_found for a network that no dataset knows.
Expected<cost::Dataset::Split> split_of(const TrainArguments& o, const cost::DatasetFile& data) {
  Rng rng(o.seed);
  if (o.held_out.empty()) return o.split == "tasks" ? data.data.split_tasks(o.test_share, rng) : data.data.split_samples(o.test_share, rng);
  std::set<std::string> tasks;
  for (const std::string& name : o.held_out) {
    const auto at = std::find_if(data.networks.begin(), data.networks.end(), [&](const auto& n) { return n.name == name; });
    if (at == data.networks.end()) {
      std::vector<std::string> names;
      for (const auto& n : data.networks) names.push_back(n.name);
      return Error(ErrorCode::not_found, fmt::format("Expected a network of the datasets ({}), found '{}'", names.empty() ? "none is named" : fmt::format("{}", fmt::join(names, ", ")), printable(name)));
    }
    for (const auto& [key, weight] : at->weights) tasks.insert(key);
  }
  return data.data.split_by([&](const std::string& key) { return tasks.contains(key); });
}

int train(const TrainArguments& o) {
  const cost::ModelDef* def = cost::find_model(o.model);
  if (def == nullptr) return fail_usage(fmt::format("Expected a cost model of `tw models`, found '{}'", printable(o.model)));
  const auto data = joined(o.files);
  if (!data) return fail_input(data.error());
  if (def->feature != nullptr && std::string_view(def->feature) != data->feature->name)
    return fail_input(Error(ErrorCode::invalid_argument, fmt::format("Expected the features '{}' for the model {}, found '{}'", def->feature, def->name, data->feature->name)));
  const auto given = named_values("--model-param", o.params);
  if (!given) return fail_usage(given.error().message);
  const auto params = resolve_params(def->params, *given);
  if (!params) return fail_usage(params.error().message);
  const auto parts = split_of(o, *data);
  if (!parts) return fail_input(parts.error());
  std::unique_ptr<cost::CostModel> model = def->make(*def, *data->feature, *params);
  if (!o.from.empty()) {
    auto source = cost::load_model_as(o.from, *def, *data->feature, *params);
    if (!source) return fail_input(source.error());
    model = *std::move(source);
  }
  if (const auto fitted = model->fit(parts->train, {.seed = o.seed, .stop = stop_token()}); !fitted) return fail(fitted.error());
  if (stop_token().stop_requested()) return kCancelled;
  if (!o.save.empty())
    if (const auto saved = cost::save_model(*model, o.save, {{"target", data->target}, {"times", data->times}}); !saved) return fail(saved.error());
  return report(*data, *model, parts->test, o.json);
}

struct EvaluateArguments {
  std::string model;
  std::vector<std::string> files;
  bool json = false;
};

int evaluate(const EvaluateArguments& o) {
  const auto model = cost::load_model(o.model);
  if (!model) return fail_input(model.error());
  const auto data = joined(o.files);
  if (!data) return fail_input(data.error());
  if (&(*model)->feature() != data->feature)
    return fail_input(Error(ErrorCode::invalid_argument, fmt::format("Expected the features '{}' that the model learned from, found '{}'", (*model)->feature().name, data->feature->name)));
  return report(*data, **model, data->data, o.json);
}

}  // namespace

void add_dataset(Subcommand app, Run& run) {
  Subcommand dataset = app.group("dataset", "Trials as cost models learn from them: drawn at random, as features, for fitting and judging models");
  {
    auto o = std::make_shared<MakeArguments>();
    Subcommand sub = dataset.command(run, "make", "Measures schedules of a network's tasks that are drawn at random, as a session of the database", o, make);
    add_network_options(sub, o->network);
    sub.option("--db", o->db, "Database to store in").required().input();
    sub.option("--device", o->device, "What measures, as of `tw tune`").show_default();
    sub.option("--per-task", o->per_task, "Schedules of each task").show_default().range(int64_t{1}, int64_t{1'000'000});
    sub.option("--batch", o->batch, "Of a round").show_default().range(1, 4096);
    sub.option("--seed", o->seed, "Seed of what is drawn").show_default();
  }
  {
    auto o = std::make_shared<FeaturiseArguments>();
    Subcommand sub = dataset.command(run, "featurise", "Writes the trials of databases as rows of features with their speeds", o, featurise);
    sub.option("databases", o->dbs, "Databases with trials").required().input();
    sub.option("--target", o->target, "Trials for this target").required();
    sub.option("--times", o->times, "Which trials; never mixed: measured, simulated, or claimed by imported logs").one_of({"measured", "simulated", "claimed"}).show_default();
    sub.option("--feature", o->feature, "What is known of a candidate").show_default();
    sub.option("-o,--output", o->out, "File for the dataset").required().output(cost::kDatasetFile);
  }
  {
    auto o = std::make_shared<InfoArguments>();
    Subcommand sub = dataset.command(run, "info", "What a dataset holds", o, info);
    sub.option("file", o->file, "Dataset").required().input();
    sub.flag("--json", o->json, "One JSON document on standard output");
  }
  {
    auto o = std::make_shared<TrainArguments>();
    Subcommand sub = dataset.command(run, "train", "Fits a cost model to datasets and judges it by a part that is held out", o, train);
    sub.option("files", o->files, "Datasets").required().input();
    sub.option("--model", o->model, "Cost model").show_default();
    sub.option("--model-param", o->params, "Parameter of the model as name=value, such as loss=rank_net; may be repeated");
    sub.option("--from", o->from, "Saved model to go on with").input();
    sub.option("--split", o->split, "What is held out: samples of each task, or whole tasks").one_of({"samples", "tasks"}).show_default();
    sub.option("--hold-out", o->held_out, "Network whose tasks are held out, in place of a share; may be repeated");
    sub.option("--test", o->test_share, "Share that is held out").show_default().range(0.0, 0.99);
    sub.option("--seed", o->seed, "Seed of what is held out, and of the model").show_default();
    sub.option("--save", o->save, "File for what the model learned").output(cost::kModelFile);
    sub.flag("--json", o->json, "One JSON document on standard output");
  }
  {
    auto o = std::make_shared<EvaluateArguments>();
    Subcommand sub = dataset.command(run, "evaluate", "Judges a saved model by datasets that it did not learn from", o, evaluate);
    sub.option("model", o->model, "Saved model").required().input();
    sub.option("files", o->files, "Datasets").required().input();
    sub.flag("--json", o->json, "One JSON document on standard output");
  }
}

}  // namespace tw::cli
