// SPDX-License-Identifier: Apache-2.0
// Whole networks against other runtimes: tuned and untuned, on the same threads, interleaved in one run; and in plain loops without templates.
#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <limits>
#include <set>

#include "app/cli/bench/affinity.h"
#include "app/cli/bench/bench.h"
#include "app/cli/bench/peer_process.h"
#include "app/cli/bench/peer_scripts.h"
#include "app/cli/common.h"
#include "app/cli/running.h"
#include "app/cli/table.h"
#include "engine/api/import_apart.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/network_run.h"
#include "engine/process/temporary_folder.h"

namespace tw::cli::bench {
namespace {

constexpr int kNetworkRounds = 15, kProbedNetworkRounds = 30;
constexpr double kNetworkSampleSeconds = 0.05;
/// Threads of other runtimes spin far longer than ours: what ran right after them was up to half as fast.
constexpr auto kPeerRest = std::chrono::milliseconds(200);
/// Plain loops take up to twenty times as long, and a coarse figure does: the least of so many runs, after the others.
constexpr int kPlainRuns = 3;

struct Runtime {
  const char* name;
  const char* package;  ///< of Python
  std::string_view (*script)();
};
constexpr Runtime kRuntimes[] = {{"ONNX Runtime", "onnxruntime", onnxruntime_script}, {"OpenVINO", "openvino", openvino_script}};
constexpr size_t kTuned = 0, kDefault = 1, kFirstPeer = 2;  ///< contenders

struct Subject {
  std::string name, path;
  bool bundled = false;
};

struct SampledNetwork {
  std::string name;
  std::vector<Sample> samples;
  size_t contenders = kFirstPeer;
  std::vector<std::pair<std::string, std::optional<size_t>>> peers;  ///< names of those asked for, and which contender each is
  double plain_s = 0;
  std::optional<double> alone_s;  ///< what the trials of all kernels of the tuned network add up to
};

struct Built {
  std::shared_ptr<const runtime::Executable> executable;
  std::unique_ptr<runtime::GraphExecutor> executor;

  Expected<double> sample() const {
    return median_call_s([this] { executor->run().value(); }, kNetworkSampleSeconds);
  }
};

Expected<Built> build(const LoadedNetwork& loaded, records::RecordSource* source, bool plain, uint64_t seed) {
  api::CompileOptions options;
  options.plain = plain;
  options.stop = stop_token();
  TW_TRY(runtime::Executable compiled, api::compile(loaded.network, loaded.target, source, options));
  Built built{std::make_shared<const runtime::Executable>(std::move(compiled)), nullptr};
  TW_TRY(built.executor, make_executor(built.executable));
  TW_CHECK(built.executor->set_inputs(measure::random_inputs(*built.executable, seed)));
  return built;
}

/// None unless every kernel was measured.
std::optional<double> alone_seconds(const runtime::Executable& e) {
  double sum = 0;
  for (const runtime::Call& call : e.calls) {
    if (call.alone_s <= 0) return std::nullopt;
    sum += call.alone_s;
  }
  return sum;
}

Expected<SampledNetwork> sample_network(const Bench& bench, const Subject& subject, int threads, std::set<std::string>& notes) {
  LoadedNetwork loaded{{}, host_target()};
  loaded.target.cores = threads;
  TW_TRY(const frontends::ImportOptions sizes, import_options(bench.options.dims));
  TW_TRY(loaded.network, subject.bundled ? api::import_network(subject.path, loaded.target)
                                         : api::import_network_apart(subject.path, loaded.target, sizes, {}, stop_token()));
  TW_CHECK(bench.tune_in_network(loaded, subject.path));
  TW_TRY(const Built tuned, build(loaded, bench.db.get(), false, bench.options.seed));
  TW_TRY(const Built untuned, build(loaded, nullptr, false, bench.options.seed));
  std::vector<Contender> contenders{{"tuned", [&] { return tuned.sample(); }}, {"default", [&] { return untuned.sample(); }}};
  SampledNetwork sampled{subject.name, {}, 0, {}, 0, alone_seconds(*tuned.executable)};
  std::deque<PeerProcess> processes;
  Json shapes = sizes.dims;  // an input that was fixed has its number there; other names are no inputs
  for (const int v : loaded.network.imported.inputs) {
    const graph::Value& input = loaded.network.imported.values[static_cast<size_t>(v)];
    shapes[input.name] = input.type.shape;
  }
  for (const Runtime& r : kRuntimes) {
    if (!bench.wants(r.package)) continue;
    sampled.peers.emplace_back(r.name, std::nullopt);
    auto peer = [&] {
      const Affinity affinity(bench.first(threads));
      return PeerProcess::start(bench.options.python, std::string(r.script()), r.package, {subject.path, std::to_string(threads), dump_json(shapes)}, stop_token());
    }();
    if (!peer && peer.error().code == ErrorCode::cancelled) return peer.error();
    notes.insert(peer ? fmt::format("{} {}", r.name, peer->version()) : fmt::format("{} not compared with {}: {}", subject.name, r.name, peer.error().message));
    if (!peer) continue;
    sampled.peers.back().second = contenders.size();
    processes.push_back(std::move(*peer));
    contenders.push_back({r.name, [p = &processes.back()]() { return p->ask_seconds(std::to_string(kNetworkSampleSeconds)); }, kPeerRest});
  }
  sampled.contenders = contenders.size();
  TW_TRY(sampled.samples, sample_by_turns(contenders, threads > 1 ? kProbedNetworkRounds : kNetworkRounds, threads, bench.processors, stop_token()));
  TW_TRY(const Built plain, build(loaded, nullptr, true, bench.options.seed));
  sampled.plain_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kPlainRuns; ++i) sampled.plain_s = std::min(sampled.plain_s, median_call_s([&] { plain.executor->run().value(); }, 0));
  return sampled;
}

/// The networks that the options ask for, written into the folder where they are bundled.
Expected<std::vector<Subject>> subjects_of(const Options& o, const std::string& folder) {
  std::vector<Subject> list;
  for (const std::string& path : o.models) list.push_back({std::filesystem::path(path).stem().string(), path});
  if (o.models.empty())
    for (const frontends::ZooModel& m : frontends::zoo()) list.push_back({m.name, folder + "/" + m.name + ".onnx", true});
  std::erase_if(list, [&](const Subject& s) { return s.name.find(o.only) == std::string::npos; });
  if (list.empty()) return Error(ErrorCode::invalid_argument, fmt::format("No network's name has '{}' in it", printable(o.only)));
  if (o.quick) list.resize(1);
  return list;
}

struct Row {
  std::vector<std::string> cells;
  double ratio;
};

}  // namespace

Expected<Section> network_section(const Bench& bench, int threads) {
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  TW_TRY(const std::vector<Subject> subjects, subjects_of(bench.options, folder.path()));
  std::set<std::string> notes;
  std::vector<SampledNetwork> networks;
  std::vector<Sample> all;
  for (const Subject& subject : subjects) {
    if (subject.bundled) TW_CHECK(frontends::write_zoo_model(subject.name, {}, subject.path));
    TW_TRY(SampledNetwork s, sample_network(bench, subject, threads, notes));
    if (subject.bundled) std::filesystem::remove(subject.path);
    all.insert(all.end(), s.samples.begin(), s.samples.end());
    networks.push_back(std::move(s));
  }
  const States states(all);
  std::vector<std::string> titles{"network", ">tuned ms", ">default ms", ">plain ms"};
  for (const auto& [name, contender] : networks.front().peers) titles.push_back(fmt::format(">{} ms", name));
  titles.insert(titles.end(), {">best peer / tuned", ">best peer / default", ">/ tuned by medians", ">/ default by medians", ">tuned / kernels alone"});
  if (threads > 1) titles.emplace_back("state");
  Section section;
  std::vector<Row> rows;
  Json list = Json::array();
  for (const SampledNetwork& s : networks) {
    const Standing standing = standing_of(s.samples, s.contenders, states);
    const auto &least = standing.best_s, &median = standing.median_s;
    double least_peer_s = NAN, median_peer_s = NAN;
    Row row{{s.name, cell(least[kTuned] * 1e3, 2), cell(least[kDefault] * 1e3, 2), cell(s.plain_s * 1e3, 2)}, 0};
    Json peers = Json::object();
    for (const auto& [name, contender] : s.peers) {
      row.cells.push_back(cell(contender ? least[*contender] * 1e3 : NAN, 2));
      peers[name] = contender ? Json{{"least_s", json_number(least[*contender])}, {"median_s", json_number(median[*contender])}} : Json();
      if (!contender) continue;
      least_peer_s = std::fmin(least_peer_s, least[*contender]);
      median_peer_s = std::fmin(median_peer_s, median[*contender]);
    }
    const double ratio = least_peer_s / least[kTuned], untuned_ratio = least_peer_s / least[kDefault];
    const double median_ratio = median_peer_s / median[kTuned], median_untuned = median_peer_s / median[kDefault];
    const double in_place = s.alone_s ? median[kTuned] / *s.alone_s : NAN;
    for (const double r : {ratio, untuned_ratio, median_ratio, median_untuned, in_place}) row.cells.push_back(cell(r, 2));
    if (threads > 1) row.cells.push_back(standing.state < 0 ? "none for all" : States::name(standing.state));
    row.ratio = ratio;
    if (std::isfinite(ratio)) section.ratios.push_back(ratio);
    rows.push_back(std::move(row));
    list.push_back({{"name", s.name},
                    {"tuned", {{"least_s", json_number(least[kTuned])}, {"median_s", json_number(median[kTuned])}}},
                    {"default", {{"least_s", json_number(least[kDefault])}, {"median_s", json_number(median[kDefault])}}},
                    {"plain_s", json_number(s.plain_s)},
                    {"peers", peers},
                    {"ratio", json_number(ratio)},
                    {"default_ratio", json_number(untuned_ratio)},
                    {"median_ratio", json_number(median_ratio)},
                    {"median_default_ratio", json_number(median_untuned)},
                    {"over_kernels_alone", json_number(in_place)}});
  }
  // Those without a peer come last.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.ratio < b.ratio || (std::isnan(b.ratio) && !std::isnan(a.ratio)); });
  Table table(titles);
  for (const Row& row : rows) table.row(row.cells);
  section.table = table.markdown();
  for (const std::string& note : notes) section.notes += fmt::format("- {}\n", note);
  section.notes += fmt::format(
      "- batch 1; times are the least of {} samples, each the median run of {:.0f} ms, behind one that does not count; ratios by medians of the "
      "samples too; plain loops: the least of {} runs; at most {} trials a task, what won alone tried in the network\n",
      threads > 1 ? kProbedNetworkRounds : kNetworkRounds, kNetworkSampleSeconds * 1e3, kPlainRuns, bench.options.trials);
  section.notes += states_note(states, all);
  section.json["cases"] = list;
  section.json["states"] = states_json(states, all);
  return section;
}

}  // namespace tw::cli::bench
