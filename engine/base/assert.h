// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace tw {

/// A bug of ours. Caught in three places only: the worker's main, the app's job runner and the test main.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void assertion_failed(const char* condition, const std::string& message, const char* file, int line);

}  // namespace tw

/// Checks an invariant of our own code, in every build type; never used on user input.
#define TW_ASSERT(cond, msg) \
  ((cond) ? static_cast<void>(0) : ::tw::assertion_failed(#cond, (msg), __FILE__, __LINE__))
#define TW_UNREACHABLE(msg) ::tw::assertion_failed("unreachable", (msg), __FILE__, __LINE__)
