// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/te/dag.h"

namespace tw::graph {

/// One fused group of a graph: one kernel.
struct Group {
  int id = 0;
  std::vector<int> nodes = {};    ///< node indices, topological
  std::vector<int> inputs = {};   ///< value indices: the kernel's placeholders in order (activations and constants)
  std::vector<int> outputs = {};  ///< value indices the rest of the graph reads
  std::string name = {};          ///< such as `fused_conv2d_add_relu`
  te::DagPtr dag = {};            ///< the group as tensor expressions; placeholders correspond to `inputs`
  std::string key = {};           ///< te::structural_key(*dag)
};

/// Groups of equal computation: one tuning task.
struct Workload {
  std::string key;
  std::string name;              ///< of the first group
  te::DagPtr dag;                ///< of the first group
  std::vector<int> groups = {};  ///< indices into Partition::groups
  int weight() const { return static_cast<int>(groups.size()); }
};

struct Partition {
  std::vector<Group> groups;        ///< topological
  std::vector<Workload> workloads;  ///< in order of first appearance
};

/// Cuts a graph whose nodes carry group numbers (fuse_operators) into kernels. Nodes without a group stand alone.
/// Constants stay placeholders with Role::constant, so that equal computations with different weights share a task.
Expected<Partition> partition(const Graph& g);

}  // namespace tw::graph
