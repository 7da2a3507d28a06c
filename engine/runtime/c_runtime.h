// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tw::runtime {

/// The source of c/tilewright_runtime.c, which runs networks that were linked into C programs.
std::string_view c_runtime_source();

}  // namespace tw::runtime
