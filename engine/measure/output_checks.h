// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/host_array.h"
#include "engine/measure/measure_job.h"

/// What a candidate's process looks at in its own outputs, before anybody else compares them.
namespace tw::measure {

/// What outputs are filled with before the first run (a NaN in every float type) and before the second.
inline constexpr int kFirstPattern = 0xff, kSecondPattern = 0xa5;

/// Says how two runs over these old contents differ, or nothing.
std::string difference(const HostArray& first, const HostArray& second, const std::string& name);
/// Row-major position, -1 if there is none.
int64_t first_nan(const HostArray& a);
/// Appends the elements asked for, as raw bytes. False if a position lies outside.
bool collect_values(const MeasureJob& job, const std::vector<HostArray>& outputs, std::vector<std::byte>& payload);

}  // namespace tw::measure
