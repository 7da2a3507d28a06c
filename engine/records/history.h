// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>

#include "engine/records/autotvm_json.h"

namespace tw::records {

/// What a TVM target string says of the device.
struct TargetNames {
  std::string model = "unknown";  ///< the flag -model
  std::vector<std::string> keys;  ///< the flag -keys, else those of the kind with -device before them: {"cpu"} for llvm, {"cuda", "gpu"} for cuda
};
TargetNames target_names(std::string_view target);

/// Which record of a log AutoTVM applies to a workload: the one with the least mean cost for the device's model, else for the first of its target's keys that
/// has one. The processor (-mcpu, -arch) is no part of the question, as in AutoTVM. Source: TVM v0.9.0, python/tvm/autotvm/task/dispatcher.py (the order only).
class HistoryBest {
 public:
  /// Failures are passed over.
  void load(const AutotvmRecord& record);
  /// Null where the fallback has to serve. The pointer stays valid.
  const AutotvmRecord* query(std::string_view target, const std::string& name, const Json& args) const;

 private:
  using Key = std::pair<std::string, std::string>;  ///< model or target key, workload
  std::deque<AutotvmRecord> records_;
  std::map<std::string, std::string> workloads_;  ///< by name and arguments as logged
  std::map<Key, const AutotvmRecord*> by_model_, by_target_key_;
};

}  // namespace tw::records
