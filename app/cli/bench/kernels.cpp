// SPDX-License-Identifier: Apache-2.0
// Kernels against the best of OpenBLAS, MKL and oneDNN, with weights that are in no cache, on the same threads, interleaved in one run.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "app/cli/bench/bench.h"
#include "app/cli/bench/cases.h"
#include "app/cli/bench/our_kernel.h"
#include "app/cli/bench/peers.h"
#include "app/cli/common.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/peak.h"
#include "engine/measure/roofline.h"

namespace tw::cli::bench {
namespace {

constexpr int kKernelRounds = 15, kProbedKernelRounds = 24;
constexpr double kKernelSampleSeconds = 0.005;
/// All copies of a weight together take so many times the last cache, but there are at most kMaxCopies.
constexpr int64_t kCachesFull = 4, kMaxCopies = 512;
constexpr double kLargestError = 1e-3;  ///< relative to the largest element
constexpr double kRoofSeconds = 1.5;    ///< that measuring the machine's roofs takes

/// What was sampled of one case.
struct SampledKernel {
  std::vector<Sample> samples;
  size_t contenders = 1;                  ///< ours is number 0
  std::vector<int> contender_of;          ///< per peer, -1 where there is none
  std::vector<std::string> peer_reasons;  ///< why
  ChosenSchedule chosen;
};

Expected<void> check_equal(const KernelCase& c, const HostArray& ours, const HostArray& theirs, const std::string& peer) {
  const api::Difference d = api::compare(ours, theirs);
  if (d.max_rel < kLargestError) return {};
  return Error(ErrorCode::wrong_result,
               fmt::format("Expected equal results of '{}', found that ours and {}'s differ by {:.3g} of the largest element", c.name, peer, d.max_rel));
}

Expected<SampledKernel> sample_case(const Bench& bench, const Cases& cases, size_t number, const std::vector<std::unique_ptr<Peer>>& peers,
                                    const runtime::ThreadPool& pool) {
  const KernelCase& c = cases.list[number];
  const Target& target = cases.network.target;
  const graph::Group& group = *cases.groups[number];
  const KernelData data = make_data(c, bench.options.seed);
  const auto weight_bytes = std::max<int64_t>(1, static_cast<int64_t>(data.weight.data.size()));
  const auto copies = static_cast<int>(c.constant_weight() ? std::clamp<int64_t>(kCachesFull * target.l3_bytes / weight_bytes + 1, 2, kMaxCopies) : 1);

  TW_TRY(ChosenSchedule chosen, choose_schedule(bench, records::make_task(c.name, group.dag, target)));
  SampledKernel sampled{.samples = {}, .contender_of = {}, .peer_reasons = {}, .chosen = std::move(chosen)};
  TW_TRY(const auto ours, OurKernel::create(cases.network.network.optimized, group, sampled.chosen.schedule, target,
                                            {{c.name + ".x", &data.data}, {c.name + ".w", &data.weight}}, copies, pool));
  std::vector<Contender> contenders{{"ours", [&]() -> Expected<double> { return median_call_s([&] { ours->run(); }, kKernelSampleSeconds); }}};
  std::vector<std::unique_ptr<PeerKernel>> theirs;
  for (const auto& peer : peers) {
    auto kernel = peer->prepare(c, data, copies);
    sampled.peer_reasons.push_back(kernel ? "" : kernel.error().message);
    sampled.contender_of.push_back(kernel ? static_cast<int>(contenders.size()) : -1);
    if (!kernel) continue;
    theirs.push_back(std::move(*kernel));
    contenders.push_back({peer->name(), [k = theirs.back().get()]() -> Expected<double> { return median_call_s([k] { k->run(); }, kKernelSampleSeconds); }});
  }
  sampled.contenders = contenders.size();
  // On a Xeon, weights that nobody has read since they were written can take half as long again to come from memory. Networks read theirs in every run.
  for (int i = 0; i < copies; ++i) ours->run();
  for (const auto& kernel : theirs)
    for (int i = 0; i < copies; ++i) kernel->run();
  TW_TRY(sampled.samples,
         sample_by_turns(contenders, pool.threads() > 1 ? kProbedKernelRounds : kKernelRounds, pool.threads(), bench.processors, stop_token()));
  for (size_t i = 0; i < theirs.size(); ++i) TW_CHECK(check_equal(c, ours->result(), theirs[i]->result(), contenders[i + 1].name));
  return sampled;
}

/// Opens the peers; the reasons of those that are missing become notes.
std::vector<std::unique_ptr<Peer>> open_peers(const Bench& bench, int threads, std::string& notes) {
  std::vector<std::unique_ptr<Peer>> peers;
  using Open = Expected<std::unique_ptr<Peer>> (*)(const std::vector<int>&, const std::vector<std::string>&);
  const std::pair<const char*, Open> known[] = {{"openblas", openblas_peer}, {"mkl", mkl_peer}, {"onednn", onednn_peer}};
  for (const auto& [name, open] : known) {
    if (!bench.wants(name)) continue;
    auto peer = open(bench.first(threads), bench.options.libraries);
    notes += fmt::format("- {}\n", peer ? (*peer)->description() : "Not compared: " + peer.error().message);
    if (peer) peers.push_back(std::move(*peer));
  }
  return peers;
}

/// Seconds for each operation of a case over those of the one it stands beside; NaN where that was not measured.
double beside_ratio(const Cases& cases, const std::vector<Standing>& standings, size_t i) {
  const auto seconds = [&](size_t k) { return standings[k].best_s[0] / cases.list[k].flops; };
  for (size_t k = 0; k < cases.list.size(); ++k)
    if (cases.list[k].name == cases.list[i].beside) return seconds(i) / seconds(k);
  return NAN;
}

/// What arithmetic or moving data takes at least: weights that are constants come from memory, all else from the cache that it fits in.
double least_seconds(const KernelCase& c, const measure::Roofline& roof) {
  const auto bytes = [&](const std::vector<int64_t>& shape) {
    return shape.empty() ? 0.0 : static_cast<double>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()) * c.type.bytes());
  };
  const double cold = c.constant_weight() ? bytes(c.weight) : 0, warm = bytes(c.data) + bytes(c.result) + bytes(c.weight) - cold;
  return std::max(roof.least_seconds(c.flops, warm), cold > 0 && !roof.levels.empty() ? cold / roof.levels.back().bytes_per_s : 0);
}

/// Rows, ratios and JSON out of the samples, each case within one state of the machine. A sweep's begin with the worst: beside other libraries, or of shapes by what they reach of the roofline.
void fill(Section& section, const Cases& cases, const std::vector<SampledKernel>& sampled, const std::vector<std::unique_ptr<Peer>>& peers,
          const States& states, double peak, const measure::Roofline* roof) {
  const bool probed = states.count() > 1 || states.range_s(0).second > 0;
  std::vector<std::string> titles{"case", ">ours us"};
  for (const auto& peer : peers) titles.push_back(">" + peer->name() + " us");
  titles.insert(titles.end(), {">best peer / ours", ">of peak", ">trials"});
  if (probed) titles.emplace_back("state");
  const bool sweep = std::any_of(cases.list.begin(), cases.list.end(), [](const KernelCase& c) { return !c.beside.empty(); });
  if (sweep) titles.emplace_back(">time per FLOP / next 16's");
  if (roof) titles.emplace_back(">of roofline");
  Table table(titles);
  Json list = Json::array();
  std::vector<Standing> standings;
  for (const SampledKernel& s : sampled) standings.push_back(standing_of(s.samples, s.contenders, states));
  std::vector<size_t> order(sampled.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (sweep) {
    const auto best_peer_over_ours = [&](size_t i) {
      const std::vector<double>& s = standings[i].best_s;
      return s.size() > 1 ? *std::min_element(s.begin() + 1, s.end()) / s[0] : std::numeric_limits<double>::infinity();
    };
    const auto beside = [&](size_t i) {
      const double r = beside_ratio(cases, standings, i);
      return std::isfinite(r) ? r : 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(best_peer_over_ours(a), -beside(a)) < std::pair(best_peer_over_ours(b), -beside(b));
    });
  }
  const auto of_roof = [&](size_t i) { return least_seconds(cases.list[i], *roof) / standings[i].best_s[0]; };
  if (roof) std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return of_roof(a) < of_roof(b); });
  int low = 0;
  for (const size_t i : order) {
    const SampledKernel& s = sampled[i];
    const KernelCase& c = cases.list[i];
    const Standing& standing = standings[i];
    const double ours_s = standing.best_s[0];
    double best_peer_s = std::numeric_limits<double>::infinity();
    std::vector<std::string> row{c.name, cell(ours_s * 1e6, 1)};
    Json peers_s = Json::object();
    for (size_t p = 0; p < peers.size(); ++p) {
      const double seconds = s.contender_of[p] < 0 ? std::numeric_limits<double>::infinity() : standing.best_s[static_cast<size_t>(s.contender_of[p])];
      best_peer_s = std::min(best_peer_s, seconds);
      row.push_back(cell(seconds * 1e6, 1));
      peers_s[peers[p]->name()] = s.contender_of[p] < 0 ? Json(s.peer_reasons[p]) : json_number(seconds);
    }
    const double ratio = best_peer_s / ours_s, share = c.flops / ours_s / peak;
    if (std::isfinite(ratio)) section.ratios.push_back(ratio);
    row.push_back(cell(ratio, 2));
    row.push_back(peak > 0 && std::isfinite(ours_s) ? fmt::format("{:.0f} %", 100 * share) : "-");
    row.push_back(s.chosen.tuned ? std::to_string(s.chosen.trials) : "untuned");
    if (probed) row.push_back(standing.state < 0 ? "none for all" : States::name(standing.state));
    const double relative = c.beside.empty() ? NAN : beside_ratio(cases, standings, i);
    if (sweep) row.push_back(cell(relative, 2));
    if (roof) row.push_back(std::isfinite(ours_s) ? fmt::format("{:.0f} %", 100 * of_roof(i)) : "-");
    low += roof && ours_s > measure::kWorthALook && of_roof(i) < measure::kLowShare;
    table.row(row);
    list.push_back({{"name", c.name},
                    {"flops", c.flops},
                    {"ours_s", json_number(ours_s)},
                    {"peers_s", peers_s},
                    {"ratio", json_number(ratio)},
                    {"share_of_peak", json_number(peak > 0 ? share : NAN)},
                    {"trials", s.chosen.trials},
                    {"tuned", s.chosen.tuned}});
    if (!c.beside.empty()) list.back().update({{"beside", c.beside}, {"time_per_flop_ratio", json_number(relative)}});
    if (roof) list.back()["share_of_roofline"] = json_number(of_roof(i));
    if (probed) list.back()["state"] = standing.state < 0 ? Json(nullptr) : Json(States::name(standing.state));
  }
  section.table = table.markdown();
  section.json["cases"] = list;
  if (!roof) return;
  section.notes += fmt::format("- roofline: what arithmetic takes at the peak or moving each array once, constant weights from memory ({}), all else from the cache it fits in; {} of {} cases take more than {:.0f} us and stay below {:.0f} %\n",
                               si_text(roof->levels.empty() ? 0 : roof->levels.back().bytes_per_s, "B/s"), low, cases.list.size(), measure::kWorthALook * 1e6, 100 * measure::kLowShare);
}

}  // namespace

Expected<Section> kernel_section(const Bench& bench, int threads) {
  Section section;
  const std::vector<std::unique_ptr<Peer>> peers = open_peers(bench, threads, section.notes);
  Target target = host_target();
  target.cores = threads;
  Cases cases;
  TW_CHECK(load_cases(bench, target, cases));
  TW_CHECK(bench.tune(cases.network, "(made by tw bench)"));
  const runtime::ThreadPool pool(threads);
  double peak = measure::measure_peak_flops(0.3) * threads;
  std::vector<SampledKernel> sampled;
  Progress progress("Measuring", static_cast<int64_t>(cases.list.size()));
  std::vector<Sample> all;
  for (size_t i = 0; i < cases.list.size(); ++i) {
    TW_TRY(SampledKernel s, sample_case(bench, cases, i, peers, pool));
    all.insert(all.end(), s.samples.begin(), s.samples.end());
    sampled.push_back(std::move(s));
    progress.update(static_cast<int64_t>(i) + 1, cases.list[i].name);
  }
  progress.finish();
  peak = std::max(peak, measure::measure_peak_flops(0.3) * threads);
  const States states(all);
  std::optional<measure::Roofline> roof;
  if (bench.options.suite == "shapes") {
    roof = measure::measure_roofline(pool, kRoofSeconds);
    if (peak > 0) roof->flop_per_s = peak;  // one peak for both shares
  }
  fill(section, cases, sampled, peers, states, peak, roof ? &*roof : nullptr);
  section.notes +=
      fmt::format("- peak: {} in multiply-adds on {} thread{}, measured before and after\n", si_text(peak, "FLOP/s"), threads, threads > 1 ? "s" : "");
  section.notes +=
      fmt::format("- time: the least of {} samples, each the median call of {:.0f} ms; weights rotate over {} times the last cache, at most {} copies\n",
                  threads > 1 ? kProbedKernelRounds : kKernelRounds, kKernelSampleSeconds * 1e3, kCachesFull, kMaxCopies);
  section.notes += "- convolutions with bias and ReLU; % of peak counts padded taps; OpenBLAS and MKL have no convolutions\n";
  section.notes += states_note(states, all);
  section.json["peak_flop_per_s"] = peak;
  section.json["states"] = states_json(states, all);
  return section;
}

}  // namespace tw::cli::bench
