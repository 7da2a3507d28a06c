// SPDX-License-Identifier: Apache-2.0
// Kernels and networks on a GPU against PyTorch's calls of cuBLAS and cuDNN, and the simulated GPU against what was measured.
#include <cmath>
#include <limits>
#include <numeric>

#include "app/cli/bench/cases.h"
#include "app/cli/bench/peer_process.h"
#include "app/cli/bench/peer_scripts.h"
#include "app/cli/common.h"
#include "app/cli/progress.h"
#include "app/cli/running.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "db/session_workspace.h"
#include "engine/base/json.h"
#include "engine/base/rank_correlation.h"
#include "engine/base/text.h"
#include "engine/codegen/cuda/gpu_function.h"
#include "engine/lower/lower.h"
#include "engine/measure/gpu_timing.h"
#include "engine/measure/interpreted_gpu.h"
#include "engine/measure/network_run.h"
#include "engine/measure/signature.h"
#include "engine/measure/simulated_gpu.h"
#include "engine/process/temporary_folder.h"

namespace tw::cli::bench {
namespace {

constexpr const char* kGpuNetworks[] = {"resnet50", "resnet18", "mobilenet_v2"};
constexpr int kGpuSamples = 15, kNetworkRuns = 50;
/// Orders of fewer trials say little.
constexpr size_t kLeastTrials = 8;

/// The GPU that all sections use, and the target that code is made for.
struct BenchedGpu {
  std::shared_ptr<runtime::GpuDevice> device;
  Target target;
};

Expected<BenchedGpu> open_benched(const Bench& bench) {
  BenchedGpu g;
  TW_TRY(g.device, gpu_device(bench.options.device));
  TW_TRY(g.target, measure::target_of(g.device->properties()));
  return g;
}

std::string device_note(const runtime::GpuDevice& device) {
  return fmt::format("- {}: {}{}\n", device.name(), printable(device.properties().name),
                     device.simulated() ? ", simulated: times from a formula, none measured" : "");
}

/// One call of a schedule's kernel, in seconds.
Expected<double> kernel_seconds(const BenchedGpu& gpu, const schedule::Schedule& schedule) {
  if (gpu.device->simulated()) return measure::simulated_seconds(schedule, gpu.target);
  TW_TRY(const tir::Func func, lower::lower_and_optimize(schedule, "kernel", gpu.target));
  TW_TRY(runtime::GpuFunction function, codegen::gpu_function(func));
  TW_CHECK(codegen::add_image(function, gpu.device->properties().capability));
  TW_TRY(const auto loaded, gpu.device->load(function));
  std::vector<runtime::GpuArray> arrays;
  std::vector<runtime::DeviceAddress> at;
  const runtime::KernelSignature signature = measure::signature_of(schedule, "kernel");
  for (size_t i = 0; i < signature.args.size(); ++i) {
    const runtime::ArgSpec& spec = signature.args[i];
    TW_TRY(runtime::GpuArray array, runtime::GpuArray::make(*gpu.device, spec.physical_bytes()));
    if (!spec.output) {
      std::vector<std::byte> row_major(static_cast<size_t>(spec.num_elements() * spec.dtype.bytes())), physical(static_cast<size_t>(spec.physical_bytes()));
      measure::fill_random(spec.dtype, spec.num_elements(), {}, measure::input_seed(1, static_cast<int>(i)), row_major.data());
      runtime::pack_layout(spec, row_major.data(), physical.data());
      TW_CHECK(gpu.device->upload(array.at(), physical));
    }
    at.push_back(array.at());
    arrays.push_back(std::move(array));
  }
  measure::TimingOptions options;
  options.samples = kGpuSamples;
  TW_TRY(const measure::Timing timing, measure::time_on_gpu(
                                           *gpu.device, [&] { return gpu.device->launch(*loaded, at); }, options));
  return *std::min_element(timing.samples_s.begin(), timing.samples_s.end());
}

/// PyTorch on the same GPU; nothing, and a note, where it cannot be asked.
std::optional<PeerProcess> start_pytorch(const Bench& bench, const BenchedGpu& gpu, std::string& notes) {
  const auto ordinal = measure::cuda_ordinal(gpu.device->name());
  auto peer = !ordinal ? Expected<PeerProcess>(Error(ErrorCode::not_applicable, "the device is simulated"))
              : !bench.wants("pytorch")
                  ? Expected<PeerProcess>(Error(ErrorCode::not_applicable, "--against leaves it out"))
                  : PeerProcess::start(bench.options.python, std::string(pytorch_script()), "torch", {std::to_string(*ordinal)}, stop_token());
  notes += fmt::format("- {}\n", peer ? printable(peer->version()) : "Not compared with PyTorch: " + peer.error().message);
  if (!peer) return std::nullopt;
  return std::optional<PeerProcess>(std::move(*peer));
}

Json question(const KernelCase& c, bool tf32) {
  if (c.kind == Kind::dense) return {{"kind", "dense"}, {"m", c.data[0]}, {"n", c.weight[0]}, {"k", c.data[1]}, {"dtype", c.type.name()}};
  return {{"kind", "conv2d"},   {"c", c.data[1]}, {"h", c.data[2]},     {"o", c.weight[0]}, {"k", c.weight[2]},
          {"stride", c.stride}, {"pad", c.pad},   {"groups", c.groups}, {"tf32", tf32}};
}

/// Seconds, or not a number with a note.
double peer_seconds(std::optional<PeerProcess>& peer, const Json& asked, std::string& notes) {
  if (!peer) return NAN;
  const auto answer = peer->ask_seconds(dump_json(asked));
  if (!answer) notes += fmt::format("- {}: {}\n", dump_json(asked), answer.error().message);
  return answer ? *answer : NAN;
}

}  // namespace

Expected<Section> gpu_kernel_section(const Bench& bench) {
  TW_TRY(const BenchedGpu gpu, open_benched(bench));
  Section section;
  section.notes = device_note(*gpu.device);
  Cases cases;
  TW_CHECK(load_cases(bench, gpu.target, cases));
  TW_CHECK(bench.tune(cases.network, "(made by tw bench)"));
  std::optional<PeerProcess> peer = start_pytorch(bench, gpu, section.notes);
  Table table({"case", ">ours us", ">ours TFLOP/s", ">PyTorch us", ">PyTorch / ours", ">with TF32 us", ">trials"});
  Json list = Json::array();
  Progress progress("Measuring", static_cast<int64_t>(cases.list.size()));
  for (size_t i = 0; i < cases.list.size(); ++i) {
    if (stop_token().stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
    const KernelCase& c = cases.list[i];
    TW_TRY(const ChosenSchedule chosen, choose_schedule(bench, records::make_task(c.name, cases.groups[i]->dag, gpu.target)));
    TW_TRY(const double ours, kernel_seconds(gpu, chosen.schedule));
    const double theirs = peer_seconds(peer, question(c, false), section.notes);
    const double tf32 = c.kind == Kind::conv2d ? peer_seconds(peer, question(c, true), section.notes) : NAN;
    if (std::isfinite(theirs)) section.ratios.push_back(theirs / ours);
    table.row({c.name, cell(ours * 1e6, 1), cell(c.flops / ours * 1e-12, 2), cell(theirs * 1e6, 1), cell(theirs / ours, 2), cell(tf32 * 1e6, 1),
               chosen.tuned ? std::to_string(chosen.trials) : "untuned"});
    list.push_back({{"name", c.name},
                    {"flops", c.flops},
                    {"ours_s", ours},
                    {"peers_s", {{"PyTorch", json_number(theirs)}, {"PyTorch with TF32", json_number(tf32)}}},
                    {"ratio", json_number(theirs / ours)},
                    {"trials", chosen.trials},
                    {"tuned", chosen.tuned}});
    progress.update(static_cast<int64_t>(i) + 1, c.name);
  }
  progress.finish();
  section.table = table.markdown();
  section.notes += fmt::format(
      "- time: the least of {} samples, by events in the queue; one call after the level-2 cache was overwritten, a recorded series of calls below 20 us\n",
      kGpuSamples);
  section.notes +=
      "- convolutions with bias and ReLU, batch 1; PyTorch, recorded as a CUDA graph, calls cuBLAS for dense and cuDNN (with its search) for conv2d, in float32 without TF32\n";
  section.json["cases"] = list;
  section.json["device"] = gpu.device->name();
  section.json["simulated"] = gpu.device->simulated();
  return section;
}

namespace {

Expected<double> network_seconds(const Bench& bench, const BenchedGpu& gpu, const LoadedNetwork& loaded, records::RecordSource* source) {
  api::CompileOptions options;
  options.stop = stop_token();
  options.machine_code = !gpu.device->simulated();
  TW_TRY(runtime::Executable compiled, api::compile(loaded.network, loaded.target, source, options));
  const auto shared = std::make_shared<const runtime::Executable>(std::move(compiled));
  if (gpu.device->simulated()) return simulated_network_seconds(*shared, *gpu.target.gpu);
  TW_TRY(const auto executor, make_executor(shared, bench.options.device));
  TW_CHECK(executor->set_inputs(measure::random_inputs(*shared, bench.options.seed)));
  TW_TRY(const Latency latency, time_runs(*executor, kNetworkRuns, nullptr, stop_token()));
  return latency.median_s();
}

}  // namespace

Expected<double> simulated_network_seconds(const runtime::Executable& executable, const target::Gpu& gpu) {
  double seconds = 0;
  for (const runtime::GpuFunction& f : executable.artifact.gpu) {
    TW_TRY(const double once, measure::simulated_seconds(f, gpu));
    seconds += once * static_cast<double>(std::count_if(executable.calls.begin(), executable.calls.end(), [&](const runtime::Call& c) { return c.symbol == f.symbol; }));
  }
  return seconds;
}

Expected<Section> gpu_network_section(const Bench& bench) {
  TW_TRY(const BenchedGpu gpu, open_benched(bench));
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  Section section;
  section.notes = device_note(*gpu.device);
  std::optional<PeerProcess> peer = start_pytorch(bench, gpu, section.notes);
  Table table({"network", ">tuned ms", ">default ms", ">PyTorch ms", ">PyTorch / tuned", ">default / tuned"});
  Json list = Json::array();
  for (const std::string name : kGpuNetworks) {
    if (name.find(bench.options.only) == std::string::npos || (bench.options.quick && !list.empty())) continue;
    const std::string path = folder.path() + "/" + name + ".onnx";
    TW_CHECK(frontends::write_zoo_model(name, {}, path));
    LoadedNetwork loaded{{}, gpu.target};
    TW_TRY(loaded.network, api::import_network(path, loaded.target));
    TW_CHECK(bench.tune_in_network(loaded, path));
    TW_TRY(const double tuned, network_seconds(bench, gpu, loaded, bench.db.get()));
    TW_TRY(const double untuned, network_seconds(bench, gpu, loaded, nullptr));
    const double theirs = peer_seconds(peer, {{"kind", "network"}, {"name", name}}, section.notes);
    if (std::isfinite(theirs)) section.ratios.push_back(theirs / tuned);
    table.row({name, cell(tuned * 1e3, 3), cell(untuned * 1e3, 3), cell(theirs * 1e3, 3), cell(theirs / tuned, 2), cell(untuned / tuned, 2)});
    list.push_back(
        {{"name", name}, {"ours_s", tuned}, {"default_s", untuned}, {"peers_s", {{"PyTorch", json_number(theirs)}}}, {"ratio", json_number(theirs / tuned)}});
  }
  if (list.empty()) return Error(ErrorCode::invalid_argument, fmt::format("No network's name has '{}' in it", printable(bench.options.only)));
  section.table = table.markdown();
  section.notes +=
      fmt::format("- batch 1, float32 without TF32; median wall time of {} runs, inputs and outputs on the GPU; PyTorch recorded as a CUDA graph or eager, whichever is faster; at most {} trials a task\n",
                  kNetworkRuns, bench.options.trials);
  section.json["cases"] = list;
  section.json["device"] = gpu.device->name();
  section.json["simulated"] = gpu.device->simulated();
  return section;
}

Expected<Section> simulation_section(const Bench& bench) {
  TW_TRY(const BenchedGpu gpu, open_benched(bench));
  if (gpu.device->simulated())
    return Error(ErrorCode::invalid_argument, "Expected a GPU of this machine to hold the simulated one against, found a simulated device");
  Section section;
  section.notes = device_note(*gpu.device);
  Table table({"task", ">trials", ">Spearman", ">Kendall", ">simulated / measured"});
  Json list = Json::array();
  std::vector<double> rhos, medians;
  TW_TRY(const auto sessions, bench.db->sessions());
  TW_TRY(const auto tasks, bench.db->tasks());
  for (const db::TaskRow& row : tasks) {
    if (row.target != gpu.target.str() || row.dag_text.empty()) continue;
    const auto task = db::readable_task(*bench.db, row);
    if (!task) continue;
    std::vector<double> measured, simulated, ratios;
    for (const db::SessionRow& session : sessions) {
      if (session.options.value("device", "") != bench.options.device) continue;
      TW_TRY(const auto trials, bench.db->trials(session.id, row.id, {}, -1, true));
      for (const db::TrialRow& t : trials) {
        if (!t.record.result.ok()) continue;  // those stopped early too: without the slow ones there is little to order
        const auto schedule = schedule::Schedule::replay(task->dag, t.record.candidate.steps);
        const auto seconds = schedule ? measure::simulated_seconds(*schedule, gpu.target) : Expected<double>(schedule.error());
        if (!seconds) continue;
        measured.push_back(t.record.result.seconds());
        simulated.push_back(*seconds);
        ratios.push_back(*seconds / measured.back());
      }
    }
    if (measured.size() < kLeastTrials) continue;
    std::sort(ratios.begin(), ratios.end());
    const double rho = spearman(measured, simulated), tau = kendall(measured, simulated);
    rhos.push_back(rho);
    medians.push_back(ratios[ratios.size() / 2]);
    table.row({row.name, std::to_string(measured.size()), cell(rho, 2), cell(tau, 2), cell(ratios[ratios.size() / 2], 2)});
    list.push_back({{"task", row.name}, {"trials", measured.size()}, {"spearman", rho}, {"kendall", tau}, {"median_ratio", ratios[ratios.size() / 2]}});
  }
  if (list.empty())
    return Error(ErrorCode::not_found,
                 fmt::format("Expected tasks with {} trials or more that {} measured in --db, found none", kLeastTrials, bench.options.device));
  section.table = table.markdown();
  std::sort(rhos.begin(), rhos.end());
  std::sort(medians.begin(), medians.end());
  section.notes += fmt::format("- over {} tasks: median Spearman {:.2f}, median of simulated / measured {:.2f}\n", rhos.size(), rhos[rhos.size() / 2], medians[medians.size() / 2]);
  section.notes += "- how the formula orders the trials of one task that were measured, those stopped early as slow among them; the last column is the median over them\n";
  section.json["tasks"] = list;
  return section;
}

}  // namespace tw::cli::bench
