// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/reading_log.h"

#include <algorithm>

namespace tw::frontends {

void ReadingLog::note(const std::string& name, size_t nodes_before, FoldingBuilder& builder, std::span<const int> results) {
  OperatorReading& row = rows_[name];
  row.name = name;
  ++row.uses;
  const auto made = static_cast<int64_t>(builder.builder().graph().nodes.size() - nodes_before);
  row.operators += made;
  const bool known = std::all_of(results.begin(), results.end(), [&](int v) { return v < 0 || builder.value(v).constant; });
  if (made == 0) ++(known ? row.computed : row.left_out);
  if (made > 1) ++row.expanded;
}

std::vector<OperatorReading> ReadingLog::rows() const {
  std::vector<OperatorReading> out;
  for (const auto& [name, row] : rows_) out.push_back(row);
  return out;
}

}  // namespace tw::frontends
