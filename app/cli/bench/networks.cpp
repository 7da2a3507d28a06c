// SPDX-License-Identifier: Apache-2.0
// Whole networks against ONNX Runtime: tuned, untuned, and in plain loops without templates, on the same threads, interleaved in one run.
#include <cmath>

#include "app/cli/bench/affinity.h"
#include "app/cli/bench/bench.h"
#include "app/cli/bench/peer_process.h"
#include "app/cli/bench/peer_scripts.h"
#include "app/cli/common.h"
#include "app/cli/running.h"
#include "app/cli/table.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/network_executor.h"
#include "engine/process/temporary_folder.h"

namespace tw::cli::bench {
namespace {

constexpr const char* kNetworks[] = {"resnet50", "resnet18", "mobilenet_v2", "bert_base"};
constexpr int kNetworkRounds = 15, kProbedNetworkRounds = 30;
constexpr double kNetworkSampleSeconds = 0.05;
/// ONNX Runtime's threads spin far longer than ours: what ran right after it was up to half as fast.
constexpr auto kPeerRest = std::chrono::milliseconds(200);

struct SampledNetwork {
  std::string name;
  std::vector<Sample> samples;  ///< contender 0 is tuned, 1 the default, 2 the plain one, 3 the peer
  size_t contenders = 3;
};

Expected<std::unique_ptr<runtime::GraphExecutor>> executor_of(const LoadedNetwork& loaded, records::RecordSource* source, bool plain, uint64_t seed) {
  api::CompileOptions options;
  options.plain = plain;
  options.stop = stop_token();
  TW_TRY(runtime::Executable compiled, api::compile(loaded.network, loaded.target, source, options));
  const auto shared = std::make_shared<const runtime::Executable>(std::move(compiled));
  TW_TRY(auto executor, make_executor(shared));
  TW_CHECK(executor->set_inputs(measure::random_inputs(*shared, seed)));
  return executor;
}

Expected<SampledNetwork> sample_network(const Bench& bench, const std::string& name, const std::string& folder, int threads, std::string& peer_note) {
  const std::string path = folder + "/" + name + ".onnx";
  TW_CHECK(frontends::write_zoo_model(name, {}, path));
  LoadedNetwork loaded{{}, host_target()};
  loaded.target.cores = threads;
  TW_TRY(loaded.network, api::import_network(path, loaded.target));
  TW_CHECK(bench.tune(loaded, path));
  TW_TRY(const auto tuned, executor_of(loaded, bench.db.get(), false, bench.options.seed));
  TW_TRY(const auto untuned, executor_of(loaded, nullptr, false, bench.options.seed));
  TW_TRY(const auto plain, executor_of(loaded, nullptr, true, bench.options.seed));
  const auto timed = [](runtime::GraphExecutor& e) {
    return [&e]() -> Expected<double> { return median_call_s([&e] { e.run().value(); }, kNetworkSampleSeconds); };
  };
  std::vector<Contender> contenders{{"tuned", timed(*tuned)}, {"default", timed(*untuned)}, {"plain", timed(*plain)}};
  auto peer = [&]() -> Expected<PeerProcess> {
    if (!bench.wants("onnxruntime")) return Error(ErrorCode::not_applicable, "--against leaves it out");
    const Affinity affinity(bench.first(threads));
    return PeerProcess::start(bench.options.python, std::string(onnxruntime_script()), "onnxruntime", {path, std::to_string(threads)}, stop_token());
  }();
  if (!peer && peer.error().code == ErrorCode::cancelled) return peer.error();
  peer_note = peer ? fmt::format("ONNX Runtime {}", peer->version()) : "Not compared with ONNX Runtime: " + peer.error().message;
  if (peer) contenders.push_back({"ONNX Runtime", [&]() -> Expected<double> { return peer->ask_seconds(std::to_string(kNetworkSampleSeconds)); }, kPeerRest});
  SampledNetwork sampled{name, {}, contenders.size()};
  TW_TRY(sampled.samples, sample_by_turns(contenders, threads > 1 ? kProbedNetworkRounds : kNetworkRounds, threads, bench.processors, stop_token()));
  return sampled;
}

}  // namespace

Expected<Section> network_section(const Bench& bench, int threads) {
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  Section section;
  std::string peer_note;
  std::vector<SampledNetwork> networks;
  std::vector<Sample> all;
  for (const char* name : kNetworks) {
    if (std::string(name).find(bench.options.only) == std::string::npos || (bench.options.quick && !networks.empty())) continue;
    TW_TRY(SampledNetwork s, sample_network(bench, name, folder.path(), threads, peer_note));
    all.insert(all.end(), s.samples.begin(), s.samples.end());
    networks.push_back(std::move(s));
  }
  if (networks.empty()) return Error(ErrorCode::invalid_argument, fmt::format("No network's name has '{}' in it", printable(bench.options.only)));
  const States states(all);
  std::vector<std::string> titles{"network",          ">tuned ms",     ">default ms", ">plain ms", ">ONNX Runtime ms", ">ONNX Runtime / tuned",
                                  ">default / tuned", ">plain / tuned"};
  if (threads > 1) titles.emplace_back("state");
  Table table(titles);
  Json list = Json::array();
  for (const SampledNetwork& s : networks) {
    const Standing standing = standing_of(s.samples, s.contenders, states);
    const double tuned_s = standing.best_s[0], default_s = standing.best_s[1], plain_s = standing.best_s[2],
                 peer_s = s.contenders > 3 ? standing.best_s[3] : NAN;
    const double ratio = peer_s / tuned_s;
    if (std::isfinite(ratio)) section.ratios.push_back(ratio);
    std::vector<std::string> row{s.name,         cell(tuned_s * 1e3, 2),       cell(default_s * 1e3, 2),  cell(plain_s * 1e3, 2), cell(peer_s * 1e3, 2),
                                 cell(ratio, 2), cell(default_s / tuned_s, 2), cell(plain_s / tuned_s, 2)};
    if (threads > 1) row.push_back(standing.state < 0 ? "none for all" : States::name(standing.state));
    table.row(row);
    list.push_back({{"name", s.name},
                    {"ours_s", json_number(tuned_s)},
                    {"default_s", json_number(default_s)},
                    {"plain_s", json_number(plain_s)},
                    {"peers_s", {{"ONNX Runtime", json_number(peer_s)}}},
                    {"ratio", json_number(ratio)}});
  }
  section.table = table.markdown();
  section.notes = fmt::format("- {}\n- batch 1; time: the least of {} samples, each the median run of {:.0f} ms; at most {} trials a task\n", peer_note,
                              threads > 1 ? kProbedNetworkRounds : kNetworkRounds, kNetworkSampleSeconds * 1e3, bench.options.trials);
  section.notes += states_note(states, all);
  section.json["cases"] = list;
  section.json["states"] = states_json(states, all);
  return section;
}

}  // namespace tw::cli::bench
