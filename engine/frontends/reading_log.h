// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/frontends/folding_builder.h"
#include "engine/frontends/frontend.h"

namespace tw::frontends {

/// Counts what becomes of the operators of a file while it is read.
class ReadingLog {
 public:
  /// One use of an operator, after it was converted. `nodes_before`: how many the graph had. `results`: its values; below 0 for what is none, such as a
  /// number or a sequence, which are known then.
  void note(const std::string& name, size_t nodes_before, FoldingBuilder& builder, std::span<const int> results);
  /// By name.
  std::vector<OperatorReading> rows() const;

 private:
  std::map<std::string, OperatorReading> rows_;
};

}  // namespace tw::frontends
