// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

/// Computations with templates that come along: what a person starts from, and examples of what can be written. One file each in operators/, whose first
/// comment says what it is.
namespace tw::space::own {

struct Operator {
  const char* name;
  const char* text;
};
/// By name.
std::span<const Operator> operators();
/// Null for a name that is none of them.
const Operator* find_operator(std::string_view name);

}  // namespace tw::space::own
