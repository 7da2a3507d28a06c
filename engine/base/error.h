// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// What kind of thing went wrong; callers branch on this, never on the text.
enum class ErrorCode {
  invalid_argument,  ///< the caller's value is out of its domain
  not_applicable,    ///< legal question, does not apply here; the caller may try something else
  not_divisible,     ///< an exact split was asked for and the extent is not a multiple
  illegal_schedule,  ///< a schedule step breaks a dependence or a structural rule
  parse_error,       ///< text or bytes are not in the expected format
  unsupported,       ///< understood, but outside what is built
  not_found,
  io_error,
  no_space,  ///< disk or database full
  version,   ///< written by a newer version, or too old to migrate
  corrupt,
  timeout,
  crash,
  out_of_memory,
  wrong_result,
  resource_limit,  ///< a hardware or safety limit would be exceeded
  cancelled,
  infrastructure,  ///< our own machinery failed, not the candidate
  internal,
};

/// Stable snake_case name of a code, as stored in records and JSON.
std::string_view error_code_name(ErrorCode code);
/// Inverse of error_code_name; unknown names give `internal`.
ErrorCode error_code_from_name(std::string_view name);

/// One failure: a sentence that says what was expected and what was found, where, and optional notes.
/// The sentence starts with a capital, quotes names and has no final period.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::string where;               ///< file, node, line or step; empty if the message says it
  std::vector<std::string> notes;  ///< further lines, most important first

  Error() = default;
  Error(ErrorCode c, std::string m, std::string w = {}) : code(c), message(std::move(m)), where(std::move(w)) {}

  /// The message with its place: `message (at where)`, then one indented line per note.
  std::string text() const;
  Error&& note(std::string n) && {
    notes.push_back(std::move(n));
    return std::move(*this);
  }
};

}  // namespace tw
