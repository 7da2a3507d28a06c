// SPDX-License-Identifier: Apache-2.0
// `tw campaign`: how operators' speed follows from their resources, as a file says. A campaign that was stopped goes on where it was.
#include <algorithm>
#include <deque>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/plan_fields.h"
#include "app/cli/race_session.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "app/logs/campaign.h"
#include "app/logs/page.h"
#include "app/logs/toml.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/process/temporary_folder.h"
#include "engine/space/own/operators.h"
#include "engine/te/source.h"

namespace tw::cli {
namespace {

const FileKind kCampaignMarkdown{"a report of a campaign", [](std::string_view beginning) { return beginning.starts_with("# Campaign"); }};

const FileKind kCampaignCsv{"the tables of a campaign", [](std::string_view beginning) { return beginning.starts_with("operator,device,"); }};

struct CampaignArguments {
  std::string file, db, html, markdown, csv;
  bool json = false;
  measure::WorkerOptions workers;
};

/// What a campaign file says.
struct CampaignPlan {
  struct Cell {
    std::string name, text;  ///< of the operator, with its shape
    std::string target, device;
    std::string shape;       ///< for people
  };
  std::string name;
  std::vector<Cell> cells;
  tune::SessionOptions options;
};

Expected<int64_t> number_at(const Json& object, const char* key, int64_t least, int64_t otherwise, const std::string& file) {
  if (!object.contains(key)) return otherwise;
  if (!object[key].is_number_integer() || object[key].get<int64_t>() < least)
    return wrong_plan(fmt::format("Expected a whole number from {} on for '{}', found {}", least, key, printable(dump_json(object[key]))), file);
  return object[key].get<int64_t>();
}

/// A list of whole numbers; what they may be is said by who uses them.
Expected<std::vector<int64_t>> numbers_of(const Json& json, const char* what, const std::string& file) {
  std::vector<int64_t> out;
  if (json.is_array())
    for (const Json& n : json)
      if (n.is_number_integer() && n.get<int64_t>() >= 0) out.push_back(n.get<int64_t>());
  if (out.empty() || out.size() != json.size()) return wrong_plan(fmt::format("Expected {} as a list of whole numbers, found {}", what, printable(dump_json(json))), file);
  return out;
}

/// The operator's text with each shape, and what the shape is called.
Expected<std::vector<std::pair<std::string, std::string>>> texts_of_operator(const Json& json, std::string& name, const std::string& file) {
  TW_CHECK(only_keys(json, "an operator", {"operator", "file", "shapes"}, file));
  TW_TRY(const auto bundled, text_field(json, "operator", file));
  TW_TRY(const auto path, text_field(json, "file", file));
  if (bundled.has_value() == path.has_value()) return wrong_plan("Expected an operator with one of 'operator' and 'file'", file);
  std::string text;
  if (bundled) {
    name = *bundled;
    const space::own::Operator* op = space::own::find_operator(name);
    if (!op) return wrong_plan(fmt::format("Expected an operator of `tw task list`, found '{}'", printable(name)), file);
    text = op->text;
  } else {
    const std::filesystem::path beside = std::filesystem::path(file).parent_path() / *path;  // an absolute one stays
    TW_TRY(text, read_file(beside.string()));
    name = beside.stem().string();
  }
  std::vector<std::pair<std::string, std::string>> out;
  if (!json.contains("shapes")) return std::vector{std::pair(text, std::string("its own sizes"))};
  if (!json["shapes"].is_array() || json["shapes"].empty()) return wrong_plan("Expected 'shapes' as a list of lists of whole numbers", file);
  for (const Json& shape : json["shapes"]) {
    TW_TRY(const auto numbers, numbers_of(shape, "a shape", file));
    auto with = te::with_args(text, numbers, std::nullopt);
    if (!with) return wrong_plan(with.error().message, file);
    out.emplace_back(std::move(*with), fmt::format("{}", fmt::join(numbers, " x ")));
  }
  return out;
}

Expected<CampaignPlan> read_campaign(const std::string& file) {
  TW_TRY(const std::string text, read_file(file));
  TW_TRY(const Json json, logs::parse_toml(text, file));
  TW_CHECK(only_keys(json, "a campaign", {"name", "points", "repeats", "seed", "operators", "targets"}, file));
  CampaignPlan plan;
  TW_TRY(const auto title, text_field(json, "name", file));
  plan.name = title ? *title : std::filesystem::path(file).stem().string();
  TW_TRY(const int64_t points, number_at(json, "points", 0, 0, file));
  TW_TRY(const int64_t repeats, number_at(json, "repeats", 0, 0, file));
  TW_TRY(const int64_t seed, number_at(json, "seed", 0, 1, file));
  constexpr int64_t kAllPoints = int64_t{1} << 40;  // the most that a session may be told
  Json options = tune::to_json(tune::SessionOptions());
  options["tuner"] = points > 0 ? "random" : "grid", options["seed"] = seed, options["trials_per_task"] = points > 0 ? points : kAllPoints;
  options["batch"] = 64, options["finalists"] = 0, options["repeats"] = repeats;
  auto checked = tune::session_options(options);
  if (!checked) return wrong_plan(checked.error().message, file);
  plan.options = std::move(*checked);
  for (const char* key : {"operators", "targets"})
    if (!json.contains(key) || !json[key].is_array() || json[key].empty()) return wrong_plan(fmt::format("Expected at least one [[{}]]", key), file);
  for (const Json& op : json["operators"]) {
    std::string name;
    TW_TRY(const auto texts, texts_of_operator(op, name, file));
    for (const auto& [with_shape, shape] : texts)
      for (const Json& t : json["targets"]) {
        TW_CHECK(only_keys(t, "a target", {"target", "device", "threads"}, file));
        TW_TRY(const auto named, text_field(t, "target", file));
        TW_TRY(const auto on, text_field(t, "device", file));
        const std::string target = named.value_or("llvm"), device = on.value_or(std::string(measure::kLocalDevice));
        if (!t.contains("threads")) {
          plan.cells.push_back({name, with_shape, target, device, shape});
          continue;
        }
        TW_TRY(const auto threads, numbers_of(t["threads"], "'threads'", file));
        for (const int64_t n : threads) plan.cells.push_back({name, with_shape, fmt::format("{} -num-cores={}", target, n), device, shape});
      }
  }
  return plan;
}

/// Runs what is not done. Returns the exit code.
int run_cells(const CampaignPlan& plan, const CampaignArguments& o, const std::shared_ptr<db::Database>& db) {
  const auto folder = process::TemporaryFolder::create();
  if (!folder) return fail(folder.error());
  outlive_terminal();
  for (size_t c = 0; c < plan.cells.size(); ++c) {
    const CampaignPlan::Cell& cell = plan.cells[c];
    const std::string path = fmt::format("{}/{}.te", folder->path(), cell.name);
    if (auto written = write_file(path, kAnyOutput, cell.text); !written) return fail(written.error());
    int exit = kDone;
    NetworkOptions network;
    network.model = path, network.target = cell.target;
    const auto loaded = load_network(network, exit);
    if (!loaded) return exit;
    TuneRequest request{&*loaded, cell.name + ".te", {}, plan.options, false, {}, {}, o.workers, cell.device};
    request.race = logs::campaign_race(plan.name);
    const auto ran = run_race_session(std::move(request), db, fmt::format("Cell {} of {}: {}, {}, {}", c + 1, plan.cells.size(), printable(cell.name), cell.shape, printable(cell.target)));
    if (!ran) return fail(ran.error());
    if (ran->cancelled) {
      note(fmt::format("Cancelled; every trial is in '{}', and the same command goes on", printable(db->path())));
      return kCancelled;
    }
  }
  return kDone;
}

Table table_of_cells(std::vector<std::vector<std::string>> cells) {
  Table table(std::move(cells.front()));
  for (size_t i = 1; i < cells.size(); ++i) table.row(std::move(cells[i]));
  return table;
}

std::string campaign_text(const logs::Campaign& c, bool markdown) {
  const auto table = [&](std::vector<std::vector<std::string>> cells) { return markdown ? table_of_cells(std::move(cells)).markdown() : table_of_cells(std::move(cells)).text(); };
  std::string out = markdown ? fmt::format("# Campaign: {}\n\n", printable(c.name)) : "";
  for (const std::string& s : logs::campaign_sentences(c)) out += printable(s) + (markdown ? "\n\n" : "\n");
  for (const logs::CampaignSeries& s : c.series) {
    out += fmt::format("\n{}{} on {}\n\n{}\n", markdown ? "## " : "", printable(s.name), printable(s.device), table(logs::importance_cells(s)));
    for (size_t i = 0; i < s.table.resources.size(); ++i) out += table(logs::effect_cells(s, i)) + "\n";
  }
  return out + logs::kCampaignNote + "\n";
}

/// A line for each value of each resource; speeds in FLOP/s, empty where nothing was measured.
std::string campaign_csv(const logs::Campaign& c) {
  std::string out = "operator,device,times,resource,value,mean,mean_low,mean_high,slice,slice_low,slice_high,measured_there,best,best_low,best_high,importance\n";
  const auto speed = [](double v) { return v > 0 ? csv_number(v) : std::string(); };
  for (const logs::CampaignSeries& s : c.series)
    for (size_t k = 0; k < s.table.resources.size(); ++k) {
      const cost::Resource& r = s.table.resources[k];
      const cost::ResourceEffect& e = s.effects.effects[k];
      for (size_t i = 0; i < r.labels.size(); ++i) {
        out += fmt::format("{},{},{},{},{}", csv_cell(s.name), csv_cell(s.device), db::time_kind_name(s.kind), csv_cell(r.name), csv_cell(r.labels[i]));
        for (const double v : {e.partial.middle[i], e.partial.low[i], e.partial.high[i], e.slice.middle[i], e.slice.low[i], e.slice.high[i], e.measured[i], e.best.middle[i], e.best.low[i], e.best.high[i]})
          out += "," + speed(v);
        out += fmt::format(",{}\n", csv_number(e.importance));
      }
    }
  return out;
}

int report_campaign(const logs::Campaign& c, const CampaignArguments& o) {
  if (o.json)
    print_json(logs::campaign_json(c));
  else
    put(campaign_text(c, false));
  if (!o.markdown.empty())
    if (auto written = write_file(o.markdown, kCampaignMarkdown, campaign_text(c, true)); !written) return fail(written.error());
  if (!o.csv.empty())
    if (auto written = write_file(o.csv, kCampaignCsv, campaign_csv(c)); !written) return fail(written.error());
  if (!o.html.empty())
    if (auto written = write_file(o.html, logs::kWebPage, logs::campaign_page(c)); !written) return fail(written.error());
  return kDone;
}

/// The campaigns of a workspace or a bundle, without running anything: the newest one.
int show_campaign(const CampaignArguments& o) {
  const auto db = open_workspace(o.file, db::Mode::read_only);
  if (!db) return fail_input(db.error());
  const auto names = logs::campaigns_of(**db);
  if (!names) return fail_input(names.error());
  if (names->empty()) return fail_input(Error(ErrorCode::not_found, "Expected sessions of a campaign, found none", o.file));
  const auto analysed = logs::analyse_campaign(**db, names->back(), stop_token());
  if (!analysed) return fail_input(analysed.error());
  say_damage();
  return report_campaign(*analysed, o);
}

int campaign(const CampaignArguments& o) {
  if (!o.file.ends_with(".toml")) return show_campaign(o);
  const auto plan = read_campaign(o.file);
  if (!plan) return fail_input(plan.error());
  const auto db = open_workspace(o.db.empty() ? std::filesystem::path(o.file).replace_extension(".twdb").string() : o.db);
  if (!db) return fail(db.error());
  if (const int exit = run_cells(*plan, o, *db); exit != kDone) return exit;
  const auto analysed = logs::analyse_campaign(**db, plan->name, stop_token());
  if (!analysed) return analysed.error().code == ErrorCode::cancelled ? fail(analysed.error()) : fail_input(analysed.error());
  return report_campaign(*analysed, o);
}

}  // namespace

void add_campaign(Subcommand app, Run& run) {
  auto o = std::make_shared<CampaignArguments>();
  Subcommand sub = app.command(run, "campaign", "How operators' speed follows from knobs, shapes, threads and devices: curves with knees, importance, where the winner changes; the same file goes on with what is not done", o, campaign);
  sub.option("file", o->file, "Campaign file (TOML, its name ends in .toml), or a workspace or bundle with a campaign that was run").required().input();
  sub.option("--db", o->db, "Database to store in; beside the file, with its name, if absent").input();
  sub.option("--jobs", o->workers.jobs, "Candidates built at once; 0: one per processor").range(0, 4096);
  sub.option("--markdown", o->markdown, "Also write it as Markdown").output(kCampaignMarkdown);
  sub.option("--csv", o->csv, "Also write a line for each value of each resource as comma-separated values, speeds in FLOP/s").output(kCampaignCsv);
  sub.option("--html", o->html, "Also write a page with all of it that needs no other file").output(logs::kWebPage);
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
