// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>

#include "engine/base/stop_token.h"
#include "engine/frontends/frontend.h"
#include "engine/graph/partition.h"
#include "engine/graph/pass.h"
#include "engine/records/record_sink.h"
#include "engine/runtime/executable.h"
#include "engine/schedule/schedule.h"

/// What the programs use: import, tasks, compile.
namespace tw::api {

/// What a pass over the graph made of the number of its operators.
struct PassEffect {
  std::string name;
  int64_t before = 0, after = 0;
};

/// An imported network ready for tuning.
struct Network {
  graph::Graph imported;   ///< as in the file
  graph::Graph optimized;  ///< after all graph passes, with groups
  graph::Partition partition;
  std::string content_key;  ///< of the model file
  std::vector<frontends::OperatorReading> reading;  ///< what became of the file's operators
  std::vector<PassEffect> passes;                   ///< those that changed the graph, in order
  std::vector<std::string> enabled;                 ///< passes that ran because they were asked for
};

Expected<Network> import_network(const std::string& path, const Target& target, const frontends::ImportOptions& options = {},
                                 const graph::PassHooks& hooks = {});

/// One task per distinct workload, heaviest first.
/// Where the constants of a network are when its kernels come to them; trials of its tasks are timed so.
records::Weights weights_of(const Network& network, const Target& target);

struct NetworkTask {
  records::Task task;
  int weight = 1;
  records::Weights constants = records::Weights::unknown;     ///< weights_of the network
  double flops_share = 0;                                     ///< of the network's FLOPs
  std::string space;                                          ///< names of its templates, or "default"
  int64_t space_size = 1;                                     ///< points of all of them
  std::vector<std::pair<std::string, int64_t>> other_spaces;  ///< of further templates that match, searched when asked for by name, and their sizes
};
/// `progress`, if there is one, is told before each; false ends it, with those that there are.
std::vector<NetworkTask> network_tasks(const Network& network, const Target& target, const std::function<bool(int done, int total)>& progress = {});

struct CompileOptions {
  std::function<void(const std::string& what, int done, int total)> progress;
  StopToken stop;
  std::string symbols;  ///< prefix of the kernels' symbols; the network's name if empty
  /// Kernels without a record get plain loops, scheduled by rules that know no templates: what tuning starts from.
  bool plain = false;
  std::vector<std::string> without;  ///< names of kernel passes (tir::passes) to leave out, none of them needed
  std::string without_in;            ///< key of the task whose kernels only they are left out of; empty: of all
  /// Operators, such as "softmax", whose groups the processor computes in a network for a GPU, beside those that the GPU cannot.
  std::vector<std::string> on_host;
  /// For a GPU: machine code is made if wanted and where NVRTC is installed; without it the result holds loops and CUDA C++ only.
  bool machine_code = true;
  std::vector<std::string>* notes = nullptr;  ///< what a person should know: groups that the processor computes, missing machine code, defaults whose code is too long
  /// Called once for every distinct kernel of the result, in order.
  std::function<void(const std::string& symbol, const schedule::Schedule& schedule)> on_kernel;
};

/// Every group with the best record of its task (default schedule where there is none or where its steps no longer apply), layouts matched,
/// constants packed, storage planned. For a GPU, groups that it cannot run are for the processor (Call::on_host). Calls without a task key are changes of
/// layout between kernels that disagree. Memory: a network that is moved in needs its weights twice, as imported and packed; of one that is copied in, what the
/// passes made of them stays as well.
Expected<runtime::Executable> compile(Network network, const Target& target, records::RecordSource* records, const CompileOptions& options = {});

/// Runs the imported graph operator by operator with unscheduled code, without passes and fusion: the reference that `tw run --check` compares with.
/// The unscheduled kernels are themselves checked against te::interpret_at on sampled elements. Runs in the calling process; callers isolate it.
Expected<std::vector<HostArray>> run_reference(const graph::Graph& imported, const std::map<std::string, HostArray>& inputs, const Target& target,
                                               StopToken stop = {});

/// Error allowed for each output of an imported graph, relative to its largest magnitude. Every operator on the way adds what it may differ by;
/// the worst path counts, with errors of different operators taken as independent. 0 for outputs without a fraction.
/// `tf32`: products in float32 may be rounded, as the target says. Errors: what the operators say when written as tensor expressions.
Expected<std::vector<double>> output_tolerances(const graph::Graph& imported, bool tf32 = false);

/// What errors are relative to at least: sums of smaller numbers have terms below the normal range of float32, which have fewer digits.
inline constexpr double kLeastScale = double{std::numeric_limits<float>::min()} / std::numeric_limits<float>::epsilon();
/// Largest error of `got` against `want`: absolute, and relative to the largest magnitude of `want`, or to kLeastScale.
struct Difference {
  double max_abs = 0, max_rel = 0;
  int64_t at = -1;  ///< row-major position of the largest
};
Difference compare(const HostArray& got, const HostArray& want);

}  // namespace tw::api
