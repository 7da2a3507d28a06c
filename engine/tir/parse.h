// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/expected.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Reads one function in the form that print.h writes. Errors: parse_error with line and column.
Expected<Func> parse_func(std::string_view text);

}  // namespace tw::tir
