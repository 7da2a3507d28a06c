// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"
#include "engine/api/network_selection.h"
#include "engine/api/pass_list.h"
#include "engine/measure/network_runner.h"

namespace tw::api {

/// What a compiled network consists of.
struct NetworkSize {
  int calls = 0;            ///< kernels that run
  int kernels = 0;          ///< distinct ones
  int tuned = 0;            ///< calls that rest on a record
  int64_t arena_bytes = 0;  ///< of intermediates
  int64_t code_bytes = 0;
};

/// A network compiled with all passes beside the same without one. Times in seconds.
struct PassCost {
  std::string pass, task;     ///< key of the task whose kernels alone it is left out of; empty: of all
  NetworkSize with, without;  ///< `without` is empty if it cannot be compiled
  bool differs = true;        ///< the two programs are not the same, byte for byte
  bool measured = false;      ///< they ran
  std::string problem;        ///< why it cannot be compiled without the pass, or what is wrong with its results then; else empty
  std::string unmeasured;     ///< why they did not run; empty if they did
  PairedRatio ratio;          ///< time without ÷ time with
  double with_s = 0, without_s = 0;
  int launches = 0;  ///< processes in which both ran by turns
};

struct PassCostRequest {
  const Network* network = nullptr;  ///< with all passes
  const Target* target = nullptr;
  records::RecordSource* records = nullptr;  ///< kernels are as tw compile makes them of these; null: untuned. Only read
  std::string device;                        ///< by measure::open_device's names
  std::vector<std::string> passes;           ///< one after the other; none of them needed
  std::string task;                          ///< key of a task: kernel passes are left out of its kernels alone. Empty: of all
  bool measure = true;                       ///< else both are compiled and compared, and not run
  measure::WorkerOptions workers;
  SelectionOptions selection;  ///< of the comparison of each pass
  /// What is done, and how many of the passes are done.
  std::function<void(const std::string& what, int done, int total)> progress;
  std::function<void(const PassCost&)> on_cost;  ///< as soon as one is known
  StopToken stop;
};

/// What passes are worth in the network: it is compiled with all of them and without each, and both run by turns in fresh processes of `tw-worker`, whose
/// results are compared. The mechanism and the statistics are those of finals in the network (network_selection.h). Nothing is stored. Nothing runs for
/// simulated devices and replays. A network that cannot be compiled without a pass, or is wrong then, is an answer. Errors: those of left_out() and of
/// compiling with all passes; the runner's; invalid_argument for a graph pass of a task; cancelled.
Expected<std::vector<PassCost>> pass_costs(const PassCostRequest& request);
/// The same with another runner than tw-worker.
Expected<std::vector<PassCost>> pass_costs(const PassCostRequest& request, measure::NetworkRunner& runner);

/// Such as "surely slower without it".
std::string verdict_text(const PassCost& cost);
/// Stable name for documents: "slower", "faster", "no_difference", "same_program", "wrong", "not_compiled", "not_measured".
const char* verdict_name(const PassCost& cost);
/// The dearest to leave out first; what was not measured last.
void sort_by_cost(std::vector<PassCost>& costs);

}  // namespace tw::api
