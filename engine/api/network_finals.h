// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"
#include "engine/api/network_selection.h"
#include "engine/measure/network_runner.h"

namespace tw::api {

/// A task of a network with what its trials say. Times in seconds.
struct TriedTask {
  NetworkTask task;
  double default_s = 0;                 ///< of the default schedule alone; infinity if it is not known
  std::optional<records::Record> best;  ///< what won alone; nothing if nothing succeeded
};

struct NetworkFinalsRequest {
  const Network* network = nullptr;
  const Target* target = nullptr;
  std::vector<TriedTask> tasks;  ///< all of the network, or some; the others run with their default schedules
  std::string device;            ///< that measured the trials, by measure::open_device's names, or `farm:KIND`
  measure::WorkerOptions workers;
  SelectionOptions selection;
  std::function<void(const std::string&)> progress;
  StopToken stop;
};

/// What became of one task.
struct KernelFinal {
  std::string task_key, name;
  int weight = 1;
  double default_s = 0, best_s = 0;           ///< alone
  bool tried = false;                         ///< another schedule than the default one won alone, and it compiles
  Standing standing = Standing::taken;        ///< if it was tried
  PairedRatio in_place;                       ///< if it was tried: its time in its place ÷ that of the default schedule there
  double place_default_s = 0, place_s = 0;    ///< mean of its calls in the network: all by default, and with what is taken; without layout changes
  double layouts_s = 0;                       ///< of layout changes around one call, in the network with what is taken
  std::string reason;                         ///< why its place differs from its trial (calls_in_place)
  std::optional<records::Record> record = {};  ///< what was tried
};

struct NetworkFinals {
  bool measured = true;  ///< false where there is nothing to measure: a simulated network takes the sum of its kernels by definition
  std::vector<KernelFinal> kernels;  ///< in the order of the tasks
  double default_s = 0, tuned_s = 0;  ///< of the network; equal if nothing is taken
  PairedRatio network;                ///< tuned ÷ default, of what was tried last if nothing is taken
  int tried = 0, taken = 0;
  double default_estimate_s = 0, tuned_estimate_s = 0;  ///< sums of weight × time alone: of default schedules, and of what is taken
  int launches = 0;
  double seconds = 0;  ///< that it took
};

/// Tries what won alone inside the network (network_selection.h): compiled, run by turns in fresh processes of `tw-worker`, results compared with those of the
/// default network. For a device of a farm they run there, all on one device. Nothing is measured for simulated devices and replays: all that won is taken there.
/// Errors: those of compile and of the runner; cancelled.
Expected<NetworkFinals> run_network_finals(const NetworkFinalsRequest& request);
/// The same with another runner than tw-worker.
Expected<NetworkFinals> run_network_finals(const NetworkFinalsRequest& request, measure::NetworkRunner& runner);

/// Sum of weight × time over tasks: what a network would take if its kernels ran as they do alone. Tasks without a time are left out.
double summed_seconds(std::span<const TriedTask> tasks, const std::function<double(const TriedTask&)>& seconds);

/// Such as "no gain in its place".
const char* standing_text(Standing s);
/// Stable name for files and documents, such as "no_gain_in_place".
const char* standing_name(Standing s);

}  // namespace tw::api
