// SPDX-License-Identifier: Apache-2.0
// `tw bench`: tables of ratios, as Markdown or JSON.
#include "app/cli/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/cli/bench/affinity.h"
#include "app/cli/bench/tuners.h"
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/host.h"
#include "app/cli/network_report.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "app/logs/page.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/process/temporary_folder.h"
#include "engine/records/json_lines.h"
#include "engine/space/template.h"
#include "engine/tune/valid_points.h"

namespace tw::cli::bench {
namespace {

constexpr int64_t kMaxTrials = 500;
/// Ratios below this are counted.
constexpr double kClose = 0.93;

/// Points that a search may try, and the default schedule.
int64_t capacity_of(const records::Task& task) {
  int64_t points = 1;
  for (const space::Template* t : space::alternatives(*task.dag, task.target)) points += tune::usable_points(t->space(*task.dag, task.target));
  return points;
}

struct Summary {
  double geomean = 0, worst = std::numeric_limits<double>::infinity();
  size_t cases = 0;
  int64_t below = 0;
};
Summary summary_of(const std::vector<double>& ratios) {
  Summary s;
  for (const double r : ratios) {
    s.geomean += std::log(r);
    s.worst = std::min(s.worst, r);
    s.below += r < kClose ? 1 : 0;
  }
  s.cases = ratios.size();
  s.geomean = ratios.empty() ? std::numeric_limits<double>::infinity() : std::exp(s.geomean / static_cast<double>(ratios.size()));
  return s;
}

Json to_json(const Summary& s) {
  return {{"geomean", json_number(s.geomean)}, {"worst", json_number(s.worst)}, {"compared", s.cases}, {fmt::format("below_{}", kClose), s.below}};
}

Expected<std::vector<int>> thread_counts(const Options& o, const std::vector<int>& processors) {
  const auto most = static_cast<int>(processors.size());
  if (o.threads.empty()) return o.suite == "networks" && most > 1 ? std::vector<int>{1, 2} : std::vector<int>{1};
  for (const int t : o.threads)
    if (t < 1 || t > most) return Error(ErrorCode::invalid_argument, fmt::format("Expected --threads of 1 to {}, found {}", most, t));
  return o.threads;
}

Expected<void> run(Bench& bench, std::vector<std::pair<int, Section>>& sections) {
  const Options& o = bench.options;
  TW_TRY(const std::vector<int> threads, thread_counts(o, bench.processors));
  std::optional<process::TemporaryFolder> folder;
  std::string path = o.db;
  if (path.empty()) {
    TW_TRY(process::TemporaryFolder made, process::TemporaryFolder::create());
    path = made.path() + "/bench.twdb";
    folder.emplace(std::move(made));
  }
  TW_TRY(bench.db, open_workspace(path));
  if (o.kind == "gpu") {
    TW_TRY(Section s, o.validate_sim ? simulation_section(bench) : o.suite == "networks" ? gpu_network_section(bench) : gpu_kernel_section(bench));
    sections.emplace_back(0, std::move(s));
    return {};
  }
  for (const int t : threads) {
    TW_TRY(Section s, o.suite == "networks" ? network_section(bench, t) : kernel_section(bench, t));
    sections.emplace_back(t, std::move(s));
  }
  bench.db.reset();
  return {};
}

std::string machine_line(const Json& host) {
  return fmt::format("{}, {} processors, {}, {}, {}", host["cpu"].get<std::string>(), host["threads"].get<int64_t>(), host_target().cpu,
                     host["kernel"].get<std::string>(), host["codegen"].get<std::string>());
}

int bench(const Options& given) {
  Bench bench{given, allowed_processors(), nullptr};
  Options& o = bench.options;
  if (o.kind == "gpu" && o.device.empty()) o.device = "cuda:0";
  if (o.kind == "gpu" && (o.suite == "channels" || o.suite == "shapes")) return fail_usage(fmt::format("Expected --suite {} with 'tw bench cpu' only", o.suite));
  if (o.kind == "cpu" && (!o.device.empty() || o.validate_sim)) return fail_usage("Expected --device and --validate-sim with 'tw bench gpu' only");
  if (!o.models.empty() && (o.kind == "gpu" || o.suite != "networks")) return fail_usage("Expected --model with 'tw bench cpu --suite networks' only");
  if (!o.dims.empty() && o.models.size() != 1) return fail_usage(fmt::format("Expected --dim with one --model, found {}", o.models.size()));
  if (o.quick) o.trials = std::min<int64_t>(o.trials, 32);
  if (tune::find_strategy(o.tuner) == nullptr) return fail_usage(fmt::format("Expected a tuner that `tw tune --help` names, found '{}'", printable(o.tuner)));
  std::optional<records::LineAppender> kept;  // opened before hours of work
  if (!o.append.empty()) {
    auto opened = records::LineAppender::open(o.append);
    if (!opened) return fail(opened.error());
    kept.emplace(std::move(*opened));
  }
  std::vector<std::pair<int, Section>> sections;
  if (auto r = run(bench, sections); !r) return fail(r.error());
  const Json host = host_description();
  std::vector<double> ratios;
  for (const auto& [threads, s] : sections) ratios.insert(ratios.end(), s.ratios.begin(), s.ratios.end());
  if (o.json || kept) {
    Json document = {{"suite", o.suite}, {"date", logs::date_text(unix_now_s())}, {"machine", host}, {"trials", o.trials}, {"tuner", o.tuner}};
    document.update(to_json(summary_of(ratios)));
    document["sections"] = Json::array();
    for (auto& [threads, s] : sections) {
      s.json["threads"] = threads;
      s.json["notes"] = s.notes;
      s.json.update(to_json(summary_of(s.ratios)));
      document["sections"].push_back(s.json);
    }
    if (kept) {
      if (auto r = kept->append(document.dump()); !r) return fail(r.error());
      if (auto r = kept->sync(); !r) return fail(r.error());
    }
    if (o.json) {
      print_json(document);
      return kDone;
    }
  }
  print("{}; {}\n", machine_line(host), logs::date_text(unix_now_s()));
  for (const auto& [threads, s] : sections) {
    const Summary summary = summary_of(s.ratios);
    const std::string where = threads == 0 ? o.device : fmt::format("{} thread{}", threads, threads > 1 ? "s" : "");
    print("\n### {}, {}\n\n{}\n", o.validate_sim ? "simulated against measured" : o.suite, where, s.table);
    if (summary.cases > 0) {
      print("- best peer's time over ours: geometric mean {:.2f}, worst {:.2f}, {} of {} below {}\n", summary.geomean, summary.worst, summary.below,
            summary.cases, kClose);
    }
    put(s.notes);
  }
  return kDone;
}

}  // namespace

bool Bench::wants(const std::string& library) const {
  return options.against.empty() || std::find(options.against.begin(), options.against.end(), library) != options.against.end();
}

Expected<std::optional<SessionId>> Bench::tune(const LoadedNetwork& network, const std::string& path) const {
  TuneRequest request;
  for (const api::NetworkTask& t : api::network_tasks(network.network, network.target)) {
    TW_TRY(const auto row, db->task_by_key(t.task.key));
    if ((row ? row->counts().trials : 0) < std::min(options.trials, capacity_of(t.task))) request.filters.push_back(t.task.key);
  }
  if (request.filters.empty()) return std::optional<SessionId>();
  request.network = &network;
  request.model_path = path;
  if (!options.device.empty()) request.device = options.device;
  request.session.tuner = options.tuner;
  TW_TRY(request.session.tuner_params, resolve_params(tune::find_strategy(options.tuner)->params, Json::object()));
  request.session.seed = options.seed;
  request.session.trials_per_task = options.trials;
  request.session.time_s = options.time_s;
  // Every case has a ratio of its own, so that time which does not suffice is shared alike.
  if (options.time_s > 0) request.session.scheduler = "round-robin";
  TW_TRY(const TuneResult result, tune_network(request, db));
  if (result.report.cancelled) return Error(ErrorCode::cancelled, "Cancelled");
  return std::optional(result.session);
}

Expected<void> Bench::tune_in_network(const LoadedNetwork& network, const std::string& path) const {
  TW_TRY(const std::optional<SessionId> session, tune(network, path));
  if (!session) return {};
  NetworkReportRequest finals{&network, path, options.device.empty() ? measure::device_for(network.target) : options.device, session, {}, {}};
  finals.selection.seed = options.seed;
  TW_CHECK(report_network(finals, *db));
  return {};
}

std::string cell(double value, int decimals) { return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-"; }

std::string states_note(const States& states, const std::vector<Sample>& samples) {
  std::map<int, int64_t> counts;
  for (const Sample& s : samples) ++counts[states.of(s)];
  if (states.count() == 1 && states.range_s(0).second == 0) return {};
  std::string text = "- states of the machine by the latency between the two processors, probed around each sample; compared within one:";
  for (int i = 0; i < states.count(); ++i) {
    if (counts[i] == 0) continue;
    const auto [least, most] = states.range_s(i);
    text += fmt::format(" {} {:.0f} to {:.0f} ns, {} samples;", States::name(i), least * 1e9, most * 1e9, counts[i]);
  }
  return text + fmt::format(" {} samples saw a change\n", counts[-1]);
}

Json states_json(const States& states, const std::vector<Sample>& samples) {
  std::map<int, int64_t> counts;
  for (const Sample& s : samples) ++counts[states.of(s)];
  Json list = Json::array();
  for (int i = 0; i < states.count(); ++i) {
    const auto [least, most] = states.range_s(i);
    list.push_back({{"name", States::name(i)}, {"least_latency_s", least}, {"most_latency_s", most}, {"samples", counts[i]}});
  }
  return list;
}

}  // namespace tw::cli::bench

namespace tw::cli {

void add_bench(Subcommand app, Run& run) {
  auto o = std::make_shared<bench::Options>();
  Subcommand sub = app.command(run, "bench", "Tuned kernels and networks against other libraries and the machine's peak, as tables of ratios", o, bench::bench);
  sub.option("kind", o->kind, "Where: cpu, or gpu").one_of({"cpu", "gpu"}).show_default();
  sub.option(
         "--suite", o->suite,
         "dense: matrix products, squares and those of bert_base; conv: every convolution of resnet50 and mobilenet_v2; kernels: both, against OpenBLAS, MKL and "
         "oneDNN; channels: small convolutions over channel counts that fit no vectors, the worst first; shapes: narrow groups, dilated windows, few pixels, small matrices, short rows, products of few rows or of odd columns, by what they reach of the roofline, the worst first; networks: the bundled ones, or those of --model, against "
         "ONNX Runtime and OpenVINO. On a GPU, against PyTorch: dense: squares of 1024 to 4096 in float32 and float16; conv: resnet50; networks: resnet50, resnet18 "
         "and mobilenet_v2")
      .one_of({"kernels", "dense", "conv", "channels", "shapes", "networks"})
      .show_default();
  sub.option("--against", o->against, "Libraries to compare with, found at run time: openblas, mkl, onednn, onnxruntime, openvino, pytorch; all if absent")
      .separated_by(',')
      .one_of({"openblas", "mkl", "onednn", "onnxruntime", "openvino", "pytorch"});
  sub.option("--libraries", o->libraries, "Folders in which openblas, mkl and onednn are looked for before the system's; may be repeated").input();
  sub.option("--model", o->models, "Of networks: model files in place of the bundled networks; may be repeated").input();
  sub.option("--dim", o->dims, "Of a network: value of a symbolic dimension of the one --model, as name=value, or INPUT.AXIS=value; may be repeated");
  sub.option("--device", o->device, "Of gpu: cuda:0 if absent, or sim:h200 for a dry run with simulated times");
  sub.flag("--validate-sim", o->validate_sim, "Of gpu: how well the simulated GPU orders the trials that --db holds from the real one");
  sub.option("--threads", o->threads, "Numbers of threads, one table each; 1 if absent, 1 and 2 for networks").separated_by(',');
  sub.option("--only", o->only, "Only cases whose name contains this");
  sub.option("--trials", o->trials, "Trials of each task; 0: only what --db holds").range(int64_t{0}, bench::kMaxTrials).show_default();
  sub.duration("--time", o->time_s, "Time limit of the tuning, such as 90s");
  sub.option("--tuner", o->tuner, "Tuner").show_default();
  sub.option("--seed", o->seed, "Seed of the search and of the data").show_default();
  sub.option("--db", o->db, "Database that keeps the trials: what it holds is not tuned again").input();
  sub.option("--python", o->python, "Python that has the packages onnxruntime or openvino, for networks, or torch, for gpu").show_default();
  sub.option("--append", o->append, "Also append the JSON document to this file, as one line: runs of several machines and days stay together");
  sub.flag("--quick", o->quick, "One case, at most 32 trials");
  sub.flag("--json", o->json, "One JSON document on standard output");
  bench::add_tuners(sub, run);
}

}  // namespace tw::cli
