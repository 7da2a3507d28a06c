// SPDX-License-Identifier: Apache-2.0
#include "app/cli/param_options.h"

#include <algorithm>
#include <charconv>

#include "app/cli/common.h"
#include "engine/base/duration.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

std::string option_name(const Param& p) {
  std::string name = p.name;
  if (p.kind == Param::Kind::duration && name.ends_with("_s")) name.resize(name.size() - 2);
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::string default_text(const Param& p) {
  if (p.kind == Param::Kind::duration) return duration_text(p.default_value.get<double>());
  return p.default_value.is_string() ? p.default_value.get<std::string>() : dump_json(p.default_value);
}

std::string help_text(const Param& p) {
  std::string help = p.help;
  help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
  if (p.kind == Param::Kind::duration) help += "; such as 90s or 30m";
  if (!p.choices.empty()) help += fmt::format("; one of {}", fmt::join(p.choices, ", "));
  const std::string value = default_text(p);
  return value.empty() ? help : fmt::format("{} [{}]", help, value);
}

template <class T>
Expected<Json> number_in(const std::string& option, const std::string& text, const char* what) {
  T value{};
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc() || end != text.data() + text.size())
    return Error(ErrorCode::invalid_argument, fmt::format("Expected {} for {}, found '{}'", what, option, printable(text)));
  return Json(value);
}

Expected<Json> value_in(const Param& p, const std::string& text) {
  switch (p.kind) {
    case Param::Kind::integer:
      return number_in<int64_t>(option_name(p), text, "an integer");
    case Param::Kind::real:
      return number_in<double>(option_name(p), text, "a number");
    case Param::Kind::duration: {
      TW_TRY(const double seconds, parse_duration(text));
      return Json(seconds);
    }
    case Param::Kind::boolean:
    case Param::Kind::choice:
    case Param::Kind::text:
      break;
  }
  return Json(text);
}

}  // namespace

void ParamOptions::declare(Subcommand sub) {
  for (const Param& p : schema_) {
    if (p.kind == Param::Kind::boolean)
      sub.flag(option_name(p), flags_[p.name], help_text(p));
    else
      sub.option(option_name(p), texts_[p.name], help_text(p));
  }
}

Expected<Json> ParamOptions::given() const {
  Json values = Json::object();
  for (const Param& p : schema_) {
    if (p.kind == Param::Kind::boolean) {
      if (const auto flag = flags_.find(p.name); flag != flags_.end() && flag->second) values[p.name] = true;
      continue;
    }
    const auto text = texts_.find(p.name);
    if (text == texts_.end() || text->second.empty()) continue;
    TW_TRY(values[p.name], value_in(p, text->second));
  }
  return values;
}

Expected<Json> named_values(const char* option, const std::vector<std::string>& pairs) {
  Json given = Json::object();
  for (const std::string& pair : pairs) {
    const size_t at = pair.find('=');
    if (at == std::string::npos || at == 0)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} name=value, found '{}'", option, printable(pair)));
    const std::string value = pair.substr(at + 1);
    const auto parsed = parse_json(value);
    given[pair.substr(0, at)] = parsed ? *parsed : Json(value);
  }
  return given;
}

}  // namespace tw::cli
