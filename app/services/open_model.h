// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <memory>
#include <vector>

#include "db/database.h"
#include "engine/api/compile.h"

namespace tw::app {

/// The network on screen: an immutable value shared by all views.
struct OpenModel {
  QString name, path;
  Target target;
  api::Network network;
  std::vector<api::NetworkTask> tasks;
  double extractSeconds = 0;     ///< that finding the tasks in the network took; 0: they came otherwise
  QStringList titles;            ///< per task: what it computes, in words (widgets::taskTitle); the name in the log where that is all there is
  std::vector<int> taskOfGroup;  ///< per group of the partition, -1 for none
  ModelId id;                    ///< none without a workspace
  std::vector<TaskId> taskIds;   ///< per task, empty without a workspace
  bool isWhole = true;           ///< false: its graph is here, its tasks are being made

  /// Whether this is what that one is to become: the same graph, with its tasks.
  bool completes(const OpenModel& begun) const { return isWhole && !begun.isWhole && path == begun.path && network.content_key == begun.network.content_key; }
  QString titleOf(int task) const { return titles.value(task, QString::fromStdString(tasks[static_cast<size_t>(task)].task.name)); }
  int taskOfNode(int node) const {
    const int group = groupOfNode(node);
    return group < 0 || static_cast<size_t>(group) >= taskOfGroup.size() ? -1 : taskOfGroup[static_cast<size_t>(group)];
  }
  /// Index in network.partition.groups of a node of the optimised graph, -1 if none computes it.
  int groupOfNode(int node) const { return node < 0 || static_cast<size_t>(node) >= groupOfNodes.size() ? -1 : groupOfNodes[static_cast<size_t>(node)]; }
  std::vector<int> groupOfNodes;  ///< per node of the optimised graph
  int taskByKey(const std::string& key) const {
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].task.key == key) return static_cast<int>(i);
    }
    return -1;
  }
};
using OpenModelPtr = std::shared_ptr<const OpenModel>;

}  // namespace tw::app
