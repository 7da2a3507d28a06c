// SPDX-License-Identifier: Apache-2.0
#include "app/cli/common.h"
#include "app/cli/console.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/frontends/size_texts.h"

namespace tw::cli {
namespace {

/// Names of files and texts of others come in many a message: all of it is made harmless here, but for its lines.
std::string printable_lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : split_lines(text)) out += (out.empty() ? "" : "\n") + printable(line);
  return out;
}

int report(const Error& error, int code) {
  say("error: " + printable_lines(error.text()) + "\n");
  return code;
}

}  // namespace

int exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::cancelled:
      return kCancelled;
    case ErrorCode::invalid_argument:
    case ErrorCode::not_applicable:
      return kUsage;
    case ErrorCode::parse_error:
    case ErrorCode::unsupported:
    case ErrorCode::not_found:
    case ErrorCode::version:
    case ErrorCode::corrupt:
      return kBadInput;
    default:
      return kFailed;
  }
}

int fail(const Error& error) { return report(error, exit_code(error)); }

int fail_input(const Error& error) {
  const bool is_input = error.code != ErrorCode::cancelled && error.code != ErrorCode::out_of_memory && error.code != ErrorCode::internal &&
                        error.code != ErrorCode::infrastructure;
  return report(error, is_input ? kBadInput : exit_code(error));
}

int fail_usage(const std::string& message) { return report(Error(ErrorCode::invalid_argument, message), kUsage); }

void note(const std::string& text) { say(printable_lines(text) + "\n"); }

void note_skipped(size_t count, const std::function<std::string(size_t)>& line) {
  constexpr size_t kNamed = 20;
  for (size_t i = 0; i < std::min(kNamed, count); ++i) note("skipped: " + line(i));
  if (count > kNamed) note(fmt::format("skipped: {} further lines", count - kNamed));
}

void print_json(const Json& document) { print("{}\n", dump_json(document, 2)); }

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string time_text(double seconds) { return std::isfinite(seconds) && seconds > 0 ? si_text(seconds, "s") : "-"; }

namespace {

/// `x=1,3,224,224` or `ids=1,128:int64`.
Expected<void> add_input_shape(const std::string& text, frontends::ImportOptions& options) {
  const auto wrong = [&] { return Error(ErrorCode::invalid_argument, fmt::format("Expected --input-shape name=extents such as x=1,3,224,224 or ids=1,128:int64, found '{}'", printable(text))); };
  const size_t at = text.find('='), colon = text.find(':', at == std::string::npos ? 0 : at);
  if (at == std::string::npos || at == 0) return wrong();
  frontends::InputShape shape;
  if (colon != std::string::npos) {
    const auto type = parse_dtype(text.substr(colon + 1));
    if (!type) return wrong();
    shape.type = *type;
  }
  const std::string extents = text.substr(at + 1, colon == std::string::npos ? colon : colon - at - 1);
  for (size_t from = 0; from <= extents.size() && !extents.empty();) {
    const size_t to = std::min(extents.find(',', from), extents.size());
    int64_t value = 0;
    if (std::from_chars(extents.data() + from, extents.data() + to, value).ptr != extents.data() + to || to == from || value < 1) return wrong();
    shape.shape.push_back(value);
    from = to + 1;
  }
  if (!options.shapes.emplace(text.substr(0, at), std::move(shape)).second) return Error(ErrorCode::invalid_argument, fmt::format("Expected one --input-shape for '{}', found several", printable(text.substr(0, at))));
  return {};
}

}  // namespace

Expected<frontends::ImportOptions> import_options(const std::vector<std::string>& dims, const std::vector<std::string>& shapes) {
  frontends::ImportOptions options;
  auto sizes = frontends::sizes_from_texts(dims);
  if (!sizes) return Error(sizes.error().code, "--dim: " + sizes.error().message);
  options.dims = std::move(*sizes);
  for (const std::string& s : shapes) TW_CHECK(add_input_shape(s, options));
  return options;
}

std::string default_database_path() {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder =
      data != nullptr && *data != 0 ? std::filesystem::path(data) : std::filesystem::path(home != nullptr ? home : ".") / ".local" / "share";
  return (folder / "tilewright" / "default.twdb").string();
}

}  // namespace tw::cli
