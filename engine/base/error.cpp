// SPDX-License-Identifier: Apache-2.0
#include "engine/base/error.h"

#include <array>

#include "engine/base/assert.h"
#include "engine/base/text.h"

namespace tw {

namespace {
constexpr std::array<std::pair<ErrorCode, std::string_view>, 19> kNames{{
    {ErrorCode::invalid_argument, "invalid_argument"},
    {ErrorCode::not_applicable, "not_applicable"},
    {ErrorCode::not_divisible, "not_divisible"},
    {ErrorCode::illegal_schedule, "illegal_schedule"},
    {ErrorCode::parse_error, "parse_error"},
    {ErrorCode::unsupported, "unsupported"},
    {ErrorCode::not_found, "not_found"},
    {ErrorCode::io_error, "io_error"},
    {ErrorCode::no_space, "no_space"},
    {ErrorCode::version, "version"},
    {ErrorCode::corrupt, "corrupt"},
    {ErrorCode::timeout, "timeout"},
    {ErrorCode::crash, "crash"},
    {ErrorCode::out_of_memory, "out_of_memory"},
    {ErrorCode::wrong_result, "wrong_result"},
    {ErrorCode::resource_limit, "resource_limit"},
    {ErrorCode::cancelled, "cancelled"},
    {ErrorCode::infrastructure, "infrastructure"},
    {ErrorCode::internal, "internal"},
}};
}  // namespace

std::string_view error_code_name(ErrorCode code) {
  for (const auto& [c, name] : kNames)
    if (c == code) return name;
  return "internal";
}

ErrorCode error_code_from_name(std::string_view name) {
  for (const auto& [c, n] : kNames)
    if (n == name) return c;
  return ErrorCode::internal;
}

std::string Error::text() const {
  std::string out = message;
  if (!where.empty()) out += " (at " + printable(where) + ")";
  for (const auto& n : notes) out += "\n  " + n;
  return out;
}

void assertion_failed(const char* condition, const std::string& message, const char* file, int line) {
  std::string text = std::string("Assertion '") + condition + "' failed at " + file + ":" + std::to_string(line);
  if (!message.empty()) text += ": " + message;
  throw InternalError(text);
}

}  // namespace tw
