// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/target/target.h"
#include "engine/te/dag.h"

/// What a cost model may be told beside the schedule: numbers of the machine and of the computation, which all candidates of a task share.
namespace tw::cost {

struct NamedNumber {
  std::string name;  ///< for people, with its unit
  double value = 0;
};

/// Widths, sizes, counts and rates of a processor or a GPU (target/gpu.h), in a fixed order for each.
std::vector<NamedNumber> hardware_facts(const Target& target);

/// Operations, bytes of arguments and results, operations for each byte, elements of the results, and terms of the largest reduction, of one run; in a fixed order.
std::vector<NamedNumber> operator_properties(const te::Dag& dag);

}  // namespace tw::cost
