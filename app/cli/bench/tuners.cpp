// SPDX-License-Identifier: Apache-2.0
// Tables of papers, row by row: their tuners here, with the estimate of the network, what it takes as a whole, and how soon each was where Ansor ended, or near it.
#include "app/cli/bench/tuners.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "app/cli/bench/bench.h"
#include "app/cli/bench/network_curve.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/logs/curve_svg.h"
#include "app/cli/host.h"
#include "app/cli/race_session.h"
#include "app/cli/running.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "db/comparison.h"
#include "engine/api/compile.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/cost/cost_model.h"
#include "engine/measure/network_run.h"
#include "engine/process/temporary_folder.h"

namespace tw::cli::bench {
namespace {

const FileKind kTunersMarkdown{"a table of tuners", [](std::string_view beginning) { return beginning.starts_with("# Tuners of"); }};
const FileKind kTunersSvg{"a picture", [](std::string_view beginning) { return beginning.starts_with("<svg"); }};

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr int kWholeRuns = 20;

/// What a paper printed of a row; infinite where it says nothing. Times in seconds.
struct Published {
  double estimate_s = kNone, network_s = kNone, search_s = kNone, trials_to_first = kNone, seconds_to_first = kNone;
};

/// A row: the tuner that it is here.
struct Entry {
  const char* name;
  const char* tuner;
  Json params;
  Published published;
  const char* how;
  int batch = 0;    ///< candidates of a round; 0: as many as asked for
  int warm_up = 1;  ///< rounds that every task gets first, in the papers' scheduler one
};

/// Source: the logs that lie with Pruner's release (resnet_50 on an A100 of 40 GB, batch 1, 2,000 trials, ten a round); the first row is what the others are to reach.
std::vector<Entry> pruner_entries(const TunersOptions& o) {
  constexpr int kNoWarmUp = 0;
  const auto file = [](const std::string& given) { return given.empty() ? Json::object() : Json{{"model_file", given}}; };
  Json fixed = {{"learns", false}, {"model_file", o.tenset_model.empty() ? "pretrained" : o.tenset_model}};
  return {{"Ansor", "tenset-mlp", {{"paper_exact", true}}, {1.592e-3, 3.961e-3, 6691, 2000, 6691}, "TenSet's network, fitted from nothing to all trials after each round"},
          {"Pruner", "pruner", Json::object(), {1.476e-3, 1.690e-3, 5563, 730, 1930}, "drafts by formula, its network learns from the trials alone"},
          {"MoA-Pruner", "moa-pruner", file(o.source_model), {1.457e-3, 1.697e-3, 4978, 540, 1316}, "begins with a network of another device"},
          {"TenSetMLP", "tenset-mlp", std::move(fixed), {1.621e-3, 1.792e-3, 5469, kNone, kNone}, "TenSet's network, fitted beforehand, learns nothing more"},
          {"Pruner, offline", "pruner-offline", file(o.target_model), {1.469e-3, 1.710e-3, 4212, 570, 1206}, "its network, fitted beforehand, learns nothing more"},
          {"Ansor, boosted trees", "ansor", Json::object(), {}, "not in the paper's table: trees in place of the network"},
          {"Ansor, no first rounds", "tenset-mlp", {{"paper_exact", true}}, {}, "not in the paper: the first row without a first round that every task must have", 0, kNoWarmUp},
          {"MoA-Pruner, no first rounds", "moa-pruner", file(o.source_model), {}, "not in the paper: that row without them", 0, kNoWarmUp}};
}

/// Felix prints no table of trials; what it says is that its search gets near Ansor's result much sooner. Of its release, `felix_tune_network.py` measures 64 candidates of a round, as Ansor does, the gallery 16.
std::vector<Entry> felix_entries(const TunersOptions& o) {
  constexpr int kSmall = 8, kNoWarmUp = 0;
  const Json sketches = {{"templates", false}};
  Json own = Json::object();
  if (!o.source_model.empty()) own["model_file"] = o.source_model;
  Json released = own;
  released["first_fit"] = 256;
  return {{"Ansor", "ansor", sketches, {}, "boosted trees, fitted before each round, on sketches alone, as in the paper"},
          {"Felix", "felix", released, {}, "seeds go down the slope of its network's prediction, which begins with a saved one where there is one and goes on after 256 trials; half of them begin beside the best that is known, and where no formula expresses a sketch or the untuned schedule `ansor` proposes half of each round"},
          {"Felix, 8 a round", "felix", own, {}, "the same with rounds of 8, a network that goes on after 32 trials, and no first round that every task must have", kSmall, kNoWarmUp},
          {"Ansor, 8 a round", "ansor", sketches, {}, "not in the paper: the first row with such rounds", kSmall, kNoWarmUp},
          {"Ansor, with templates", "ansor", Json::object(), {}, "not in the paper: half of what it draws are points of this program's templates"}};
}

/// Whose table, and what its rows are to reach.
struct Paper {
  const char* name;
  const char* whose;
  std::vector<Entry> (*entries)(const TunersOptions& o);
  double gain;      ///< share of what the first row gains over the schedules that it begins with
  const char* goal;  ///< in a column's title
};
std::span<const Paper> papers() {
  static const Paper kPapers[] = {{"pruner", "Qiao et al., arXiv 2402.02361", pruner_entries, 1.0, "Ansor's end"}, {"felix", "Zhao et al., ASPLOS 2024", felix_entries, 0.9, "90 % of Ansor's gain"}};
  return kPapers;
}
const Paper& paper_of(const TunersOptions& o) {
  const auto found = std::find_if(papers().begin(), papers().end(), [&](const Paper& p) { return o.paper == p.name; });
  TW_ASSERT(found != papers().end(), "the choices of --paper are the table's names");
  return *found;
}

/// What a row came to: medians over its seeds.
struct Outcome {
  const Entry* entry;
  std::vector<NetworkCurve> curves;
  std::vector<double> networks_s;  ///< of the whole network, by what each session found

  double median(const std::function<double(const NetworkCurve&)>& value) const {
    std::vector<double> all;
    for (const NetworkCurve& c : curves) all.push_back(value(c));
    return db::median_or_never(std::move(all));
  }
  double beginning_s() const {
    return median([](const NetworkCurve& c) { return c.empty() ? kNone : c.points.front().network_s; });
  }
  double estimate_s() const {
    return median([](const NetworkCurve& c) { return c.empty() ? kNone : c.points.back().network_s; });
  }
  double wall_s() const {
    return median([](const NetworkCurve& c) { return c.wall_s; });
  }
  double search_s() const {
    return median([](const NetworkCurve& c) { return c.search_s; });
  }
  double clock_s() const {
    return median([](const NetworkCurve& c) { return c.empty() ? kNone : c.points.back().seconds; });
  }
  double trials_to(double network_s) const {
    return median([&](const NetworkCurve& c) {
      const auto p = c.reaching(network_s);
      return p ? static_cast<double>(p->trials) : kNone;
    });
  }
  double seconds_to(double network_s) const {
    return median([&](const NetworkCurve& c) {
      const auto p = c.reaching(network_s);
      return p ? p->seconds : kNone;
    });
  }
};

/// The best records of one session.
class SessionBest : public records::RecordSource {
 public:
  SessionBest(db::Database& db, SessionId session) : db_(db), session_(session) {}
  Expected<std::optional<records::Record>> best(const std::string& task_key, records::Weights in_network) override {
    TW_TRY(auto found, db_.best_of_kinds(task_key, in_network, session_));
    return found ? std::optional(std::move(found->record)) : std::nullopt;
  }

 private:
  db::Database& db_;
  SessionId session_;
};

/// Built from what the session found, and run as a whole.
Expected<double> network_seconds(const LoadedNetwork& loaded, db::Database& db, SessionId session, const std::string& device) {
  SessionBest source(db, session);
  api::CompileOptions options;
  options.stop = stop_token();
  options.machine_code = !measure::is_simulated(device);
  TW_TRY(runtime::Executable compiled, api::compile(loaded.network, loaded.target, &source, options));
  const auto executable = std::make_shared<const runtime::Executable>(std::move(compiled));
  if (measure::is_simulated(device)) return simulated_network_seconds(*executable, *loaded.target.gpu);
  TW_TRY(const auto executor, make_executor(executable, device == measure::kLocalDevice ? std::string() : device));
  TW_CHECK(executor->set_inputs(measure::random_inputs(*executable, 1)));
  TW_TRY(const Latency latency, time_runs(*executor, kWholeRuns, nullptr, stop_token()));
  return latency.median_s();
}

std::string number(double value, int decimals = 0) { return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-"; }
std::string ms(double seconds) { return number(seconds * 1e3, 3); }
std::string times(double first, double own) { return std::isfinite(first) && std::isfinite(own) && own > 0 ? fmt::format("{:.2f}", first / own) : "-"; }

/// What every row is compared with: the first.
struct Compared {
  std::vector<Outcome> rows;
  bool charged = false;  ///< the clock is a modelled one
  double gain = 1;       ///< share of the first row's gain that is to be reached

  double goal_s() const {
    const double first = rows.front().beginning_s(), end = rows.front().estimate_s();
    return gain < 1 ? first - gain * (first - end) : end;
  }
};

Table ours(const TunersOptions& o, const Compared& c) {
  Table table({"tuner", ">estimate, ms", ">network, ms", ">wall time, s", ">searching, s", c.charged ? ">modelled time, s" : ">time, s", fmt::format(">trials to {}", paper_of(o).goal), ">time to it, s",
               ">trials / Ansor's", ">time / Ansor's"});
  const double end_s = c.goal_s(), trials = c.rows.front().trials_to(end_s), seconds = c.rows.front().seconds_to(end_s);
  for (const Outcome& r : c.rows) {
    table.row({r.entry->name, ms(r.estimate_s()), ms(db::median_or_never(r.networks_s)), number(r.wall_s()), number(r.search_s()), number(r.clock_s()), number(r.trials_to(end_s)),
               number(r.seconds_to(end_s)), times(r.trials_to(end_s), trials), times(r.seconds_to(end_s), seconds)});
  }
  return table;
}

Table published(const Compared& c) {
  Table table({"tuner", ">estimate, ms", ">network, ms", ">time, s", ">trials to Ansor's end", ">time to it, s", ">trials / Ansor's", ">time / Ansor's"});
  const Published& first = c.rows.front().entry->published;
  for (const Outcome& r : c.rows) {
    const Published& p = r.entry->published;
    if (!std::isfinite(p.estimate_s)) continue;
    table.row({r.entry->name, ms(p.estimate_s), ms(p.network_s), number(p.search_s), number(p.trials_to_first), number(p.seconds_to_first), times(p.trials_to_first, first.trials_to_first),
               times(p.seconds_to_first, first.seconds_to_first)});
  }
  return table;
}

std::string differences(const TunersOptions& o, const Compared& c) {
  std::string out = "What differs from the paper: the search spaces are this program's sketches and templates; generations of 512 where Ansor's code has 2,048;";
  if (o.paper == "felix") out += " features and the network's training as of the manual's section on Felix; one network of the size that it is given, for six at other sizes;";
  if (o.device != "cuda:0") out += fmt::format(" the device is {};", printable(o.device));
  if (c.charged)
    out += fmt::format(" times of candidates are a formula's, and measuring takes no time: the modelled clock is the true time of searching and fitting plus {:g} s for each trial;", o.trial_s);
  out += " the networks' pretraining has fewer tasks and programs.\n";
  for (const Outcome& r : c.rows) out += fmt::format("- {}: `{}`, {}\n", r.entry->name, r.entry->tuner, r.entry->how);
  return out;
}

std::string curves(const Compared& c) {
  std::vector<logs::CurveChart> charts = {{"Estimate of the network over trials", "trials", {}}, {"Estimate of the network over time", c.charged ? "seconds of the modelled clock" : "seconds", {}}};
  for (const Outcome& r : c.rows)
    for (size_t axis = 0; axis < charts.size(); ++axis) {
      std::vector<StepCurve> steps;
      for (const NetworkCurve& curve : r.curves)
        if (!curve.empty()) steps.push_back(curve.steps(axis == 0 ? NetworkCurve::Over::trials : NetworkCurve::Over::seconds));
      charts[axis].series.push_back({r.entry->name, band_of(steps)});
    }
  return logs::curves_svg(charts);
}

Json document(const TunersOptions& o, const Compared& c) {
  Json rows = Json::array();
  const double end_s = c.goal_s();
  for (const Outcome& r : c.rows) {
    const Published& p = r.entry->published;
    rows.push_back({{"name", r.entry->name},
                    {"tuner", r.entry->tuner},
                    {"params", r.entry->params},
                    {"sessions", r.curves.size()},
                    {"estimate_s", json_number(r.estimate_s())},
                    {"network_s", json_number(db::median_or_never(r.networks_s))},
                    {"wall_s", json_number(r.wall_s())},
                    {"search_s", json_number(r.search_s())},
                    {"clock_s", json_number(r.clock_s())},
                    {"trials_to_first", json_number(r.trials_to(end_s))},
                    {"clock_to_first_s", json_number(r.seconds_to(end_s))},
                    {"beginning_s", json_number(r.beginning_s())},
                    {"published",
                     {{"estimate_s", json_number(p.estimate_s)},
                      {"network_s", json_number(p.network_s)},
                      {"clock_s", json_number(p.search_s)},
                      {"trials_to_first", json_number(p.trials_to_first)},
                      {"clock_to_first_s", json_number(p.seconds_to_first)}}}});
  }
  return {{"paper", o.paper},   {"goal_s", json_number(end_s)}, {"target", o.target}, {"device", o.device},   {"trials", o.trials},     {"batch", o.batch},
          {"seeds", o.seeds}, {"charged_s", c.charged ? o.trial_s : 0}, {"machine", host_description()}, {"rows", rows}};
}

/// Options of a row's sessions. Errors: of its parameters; where its pretrained model cannot be had.
Expected<tune::SessionOptions> options_of(const TunersOptions& o, const Entry& e, const Target& target) {
  tune::SessionOptions s;
  s.tuner = e.tuner;
  s.tuner_params = e.params;
  s.trials = o.trials;
  s.batch = e.batch > 0 ? e.batch : o.batch;
  s.scheduler = "gradient";
  s.scheduler_params = {{"warm_up", e.warm_up}};
  s.finalists = 0;
  TW_TRY(tune::SessionOptions resolved, tune::session_options(tune::to_json(s)));
  const tune::StrategyDef& strategy = *tune::find_strategy(resolved.tuner);
  if (strategy.shared_model != nullptr) TW_CHECK(strategy.shared_model(resolved.tuner_params, target));
  return resolved;
}

int report(const TunersOptions& o, const Compared& c) {
  if (o.json) print_json(document(o, c));
  const std::string title = fmt::format("# Tuners of the paper '{}'\n\n", o.paper);
  const std::string about = fmt::format("{} on {} ({}), {} trials, {} a round, {} seed{}.\n\n", o.model.empty() ? "resnet50" : printable(o.model), printable(o.target), printable(o.device),
                                        o.trials, o.batch, o.seeds, o.seeds == 1 ? "" : "s");
  const bool printed = std::isfinite(c.rows.front().entry->published.estimate_s);
  const auto paper = [&](const std::string& table) { return printed ? "As published, ResNet-50 on an A100 of 40 GB:\n\n" + table + "\n" : std::string(); };
  if (!o.json) put(about + ours(o, c).text() + "\n" + paper(published(c).text()) + differences(o, c));
  if (!o.markdown.empty()) {
    const std::string text = title + about + ours(o, c).markdown() + "\n" + paper(published(c).markdown()) + differences(o, c);
    if (auto r = write_file(o.markdown, kTunersMarkdown, text); !r) return fail(r.error());
  }
  if (!o.svg.empty())
    if (auto r = write_file(o.svg, kTunersSvg, curves(c)); !r) return fail(r.error());
  return kDone;
}

int tuners(const TunersOptions& o) {
  const std::vector<Entry> all = paper_of(o).entries(o);
  for (const std::string& name : o.only)
    if (std::none_of(all.begin(), all.end(), [&](const Entry& e) { return name == e.name; })) {
      std::vector<std::string> names;
      for (const Entry& e : all) names.emplace_back(e.name);
      return fail_usage(fmt::format("Expected rows of '{}' with --only, found '{}'", fmt::join(names, "', '"), printable(name)));
    }
  std::optional<process::TemporaryFolder> folder;
  std::string model = o.model, path = o.db;
  if (model.empty() || path.empty()) {
    auto made = process::TemporaryFolder::create();
    if (!made) return fail(made.error());
    folder.emplace(std::move(*made));
  }
  if (model.empty()) {
    model = folder->path() + "/resnet50.onnx";
    if (auto r = frontends::write_zoo_model("resnet50", {}, model); !r) return fail(r.error());
  }
  if (path.empty()) path = folder->path() + "/tuners.twdb";
  NetworkOptions network;
  network.model = model;
  network.target = o.target;
  int exit = kDone;
  const auto loaded = load_network(network, exit);
  if (!loaded) return exit;
  auto db = open_workspace(path);
  if (!db) return fail(db.error());
  outlive_terminal();

  Compared compared;
  compared.gain = paper_of(o).gain;
  compared.charged = measure::is_simulated(o.device) && o.trial_s > 0;
  const TuningClock clock{compared.charged ? o.trial_s : 0};
  std::vector<std::pair<const Entry*, tune::SessionOptions>> rows;
  for (const Entry& e : all) {
    if (!o.only.empty() && std::find(o.only.begin(), o.only.end(), e.name) == o.only.end()) continue;
    auto options = options_of(o, e, loaded->target);
    if (!options && options.error().code != ErrorCode::not_found) return fail(options.error());
    if (options)
      rows.emplace_back(&e, std::move(*options));
    else
      note(fmt::format("Note: no row '{}': {}", e.name, options.error().text()));
  }
  if (rows.empty()) return fail(Error(ErrorCode::not_found, "Expected rows to run, found that every one lacks its model"));
  for (const auto& [entry, options] : rows) compared.rows.push_back({entry, {}, {}});
  // All rows with a seed before the next seed comes.
  for (int seed = 1; seed <= o.seeds; ++seed)
    for (size_t i = 0; i < rows.size(); ++i) {
      tune::SessionOptions options = rows[i].second;
      options.seed = static_cast<uint64_t>(seed);
      TuneRequest request{&*loaded, model, {}, options, false, {}, {}, {}, o.device};
      request.race = fmt::format("paper {}: {}", o.paper, rows[i].first->name);
      const auto ran = run_race_session(std::move(request), *db, fmt::format("{}, seed {} of {}", rows[i].first->name, seed, o.seeds));
      if (!ran) return fail(ran.error());
      if (ran->cancelled) {
        note(o.db.empty() ? "Cancelled" : fmt::format("Cancelled; every trial is in '{}', and the same command goes on", printable(path)));
        return kCancelled;
      }
      const auto rounds = (*db)->rounds(ran->session);
      if (!rounds) return fail(rounds.error());
      compared.rows[i].curves.push_back(network_curve(*rounds, clock));
      const auto whole = network_seconds(*loaded, **db, ran->session, o.device);
      if (!whole && whole.error().code == ErrorCode::cancelled) return fail(whole.error());
      if (whole)
        compared.rows[i].networks_s.push_back(*whole);
      else
        note(fmt::format("Note: the network of '{}' was not run: {}", rows[i].first->name, whole.error().text()));
    }
  return report(o, compared);
}

}  // namespace

void add_tuners(Subcommand app, Run& run) {
  auto o = std::make_shared<TunersOptions>();
  Subcommand sub = app.command(run, "tuners", "The tuners of a paper's table on one network, beside what the paper has", o, tuners);
  std::vector<std::string> names, whose;
  for (const Paper& p : papers()) {
    names.emplace_back(p.name);
    whose.push_back(fmt::format("{} ({})", p.name, p.whose));
  }
  sub.option("--paper", o->paper, fmt::format("Whose table: {}", fmt::join(whose, " or "))).one_of(names).show_default();
  sub.option("--model", o->model, "Network; the bundled resnet50 if absent").input();
  sub.option("--target", o->target, "What the code is for").show_default();
  sub.option("--device", o->device, "What measures, as of `tw tune`").show_default();
  sub.option("--trials", o->trials, "Of each row, over all tasks").show_default().range(int64_t{1}, int64_t{1'000'000});
  sub.option("--batch", o->batch, "Candidates of a round, but of rows that have their own").show_default().range(1, 4096);
  sub.option("--seeds", o->seeds, "Sessions of each row; the table has their medians").show_default().range(1, 1000);
  sub.option("--trial-seconds", o->trial_s, "What building and measuring a trial is charged on a simulated device, beside the true time of searching; 0: the true clock").show_default().range(0.0, 1e6);
  sub.option("--source-model", o->source_model, "Saved model `pam` of another device, for MoA-Pruner, or `felix` of this one, for Felix; the one that comes with the program if absent").input();
  sub.option("--target-model", o->target_model, "Saved model `pam` of this device, for the offline row; likewise").input();
  sub.option("--tenset-model", o->tenset_model, "Saved model `tenset-mlp` of this device; likewise").input();
  sub.option("--only", o->only, "Only this row, by its name; may be repeated");
  sub.option("--db", o->db, "Database that keeps the sessions: what it holds is not run again");
  sub.option("--markdown", o->markdown, "Also write the tables as Markdown").output(kTunersMarkdown);
  sub.option("--svg", o->svg, "Also write the curves as a picture").output(kTunersSvg);
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli::bench
