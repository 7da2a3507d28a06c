// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "engine/api/compile.h"
#include "engine/schedule/schedule.h"
#include "engine/tir/stmt.h"

namespace tw::api {

using Layout = std::vector<runtime::LayoutPiece>;

/// One value of the graph in one layout.
struct PlannedArray {
  int value = -1;      ///< index in the optimised graph
  Layout layout = {};  ///< empty means row-major
  int base = -1;       ///< the array whose storage it lies in, -1: storage of its own
  int64_t offset = 0;  ///< bytes into `base`
};

/// One kernel call.
struct PlannedKernel {
  schedule::Schedule schedule;
  std::vector<int> arrays;  ///< arguments: inputs in placeholder order, then outputs
  int group = -1;           ///< index in the partition; -1 for a change of layout
  std::string name;
  std::string task_key;  ///< empty for a change of layout
  std::string origin;    ///< as in runtime::Call
  std::string space, record;
  bool tuned = false;
  bool claimed = false;  ///< as in runtime::Call
  bool on_host = false;  ///< of a network for a GPU: for the processor
};

/// What is computed in which order and layout.
struct KernelPlan {
  std::vector<PlannedArray> arrays;
  std::vector<PlannedKernel> kernels;
  int copies = 0;  ///< kernels that only change a layout
};

/// The schedule of a usable record.
struct Tuned {
  schedule::Schedule schedule;
  /// The same point with the layouts of its neighbours, where the record's template leaves them open; may be empty.
  std::function<Expected<schedule::Schedule>(const std::vector<schedule::LayoutStep>&)> in_layouts;
  tir::Func func;                     ///< lowered, under any name
  std::string origin, space, record;  ///< as in runtime::Call
  double alone_s = 0;
  std::string alone_weights;
  bool claimed = false;
};

/// Layouts of a kernel's arguments: placeholders, then outputs.
std::vector<Layout> argument_layouts(const schedule::Schedule& s);

/// Groups that the processor computes in a network for a GPU.
struct HostGroups {
  Target target;         ///< the processor's
  std::set<int> groups;  ///< indices in the partition
};

/// How a group is scheduled that was not tuned: each form is simpler than the one before it.
enum class DefaultForm : uint8_t { of_template, rule, loops };

/// Chooses layouts and orders the kernels. Tuned schedules and the fallback points of templates fix the layouts of their arguments; groups without either, those
/// tuned where layouts are open, and those that are faster in rows (space::Template::rows_suit) and have no blocks around them, are scheduled by rule and adopt
/// the layouts of their neighbours. Where a kernel wants another layout than there is, one that copies goes in between. Inputs and outputs of the graph are
/// row-major. Without `templates` all that is not tuned is scheduled by rule, and so is what the processor computes for a GPU, row-major where its neighbours
/// are. `forms`: of groups (indices in the partition) whose default is not the first that there is; loops are the dag's own, one after the other, in the layouts
/// that the rule would have.
Expected<KernelPlan> plan_kernels(const graph::Graph& g, const graph::Partition& p, const Target& target, const std::map<std::string, Tuned>& tuned,
                                  bool templates, const HostGroups& host, const std::map<int, DefaultForm>& forms, StopToken stop);

}  // namespace tw::api
