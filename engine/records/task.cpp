// SPDX-License-Identifier: Apache-2.0
#include "engine/records/task.h"

#include "engine/base/hash.h"

namespace tw::records {

Task make_task(std::string name, te::DagPtr dag, const Target& target) {
  TW_ASSERT(dag != nullptr, "a task needs a dag");
  Task task;
  task.key = content_key(te::structural_key(*dag) + "\n" + target.str());
  task.name = std::move(name);
  task.flops = te::flops(*dag);
  task.dag = std::move(dag);
  task.target = target;
  return task;
}

}  // namespace tw::records
