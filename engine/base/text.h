// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

std::vector<std::string_view> split_lines(std::string_view text);
std::string_view trim(std::string_view text);
/// Shapes and index lists as in `[1, 64, 56, 56]`.
inline std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }
/// 3 significant digits with an SI prefix: si_text(1.5e9, "FLOP/s") is `1.50 GFLOP/s`.
std::string si_text(double value, std::string_view unit);
/// Control characters and bytes that are no UTF-8 as \xNN, characters that cannot be seen or turn the direction of writing as \u{NNNN}: foreign text neither
/// drives a terminal nor looks like another one.
std::string printable(std::string_view text);

}  // namespace tw
