// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace tw::frontends {

/// A symbolic size as SymPy writes it, such as `Mul(Integer(2), Symbol('s0', integer=True))`.
/// The value for the given symbols. Errors: parse_error; not_found naming a symbol without a value; resource_limit for nesting; unsupported functions.
Expected<double> evaluate_size(std::string_view text, const std::map<std::string, int64_t>& symbols);
/// The one symbol that the text is, or of which it is a linear function; nullopt if there are several or none.
std::optional<std::string> only_symbol(std::string_view text);
/// The least value of a symbol whose range begins at `low`: PyTorch begins at 2 where it did not look at the sizes 0 and 1, and 1 is no other program here.
inline int64_t least_size(int64_t low) { return low == 2 ? 1 : low; }
/// The symbol's value for which a size that is linear in it is `wanted`; nullopt if there is none.
std::optional<int64_t> symbol_for(std::string_view text, const std::string& symbol, int64_t wanted);

}  // namespace tw::frontends
