// SPDX-License-Identifier: Apache-2.0
#include "app/logs/campaign_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/logs/plan_fields.h"
#include "app/logs/toml.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/process/find_program.h"
#include "engine/space/own/operators.h"
#include "engine/te/source.h"

namespace tw::logs {
namespace {

Expected<int64_t> number_at(const Json& object, const char* key, int64_t least, int64_t otherwise, const std::string& file) {
  if (!object.contains(key)) return otherwise;
  if (!object[key].is_number_integer() || object[key].get<int64_t>() < least)
    return wrong_plan(fmt::format("Expected a whole number from {} on for '{}', found {}", least, key, printable(dump_json(object[key]))), file);
  return object[key].get<int64_t>();
}

/// A list of whole numbers; what they may be is said by who uses them.
Expected<std::vector<int64_t>> numbers_of(const Json& json, const char* what, const std::string& file) {
  std::vector<int64_t> out;
  if (json.is_array())
    for (const Json& n : json)
      if (n.is_number_integer() && n.get<int64_t>() >= 0) out.push_back(n.get<int64_t>());
  if (out.empty() || out.size() != json.size()) return wrong_plan(fmt::format("Expected {} as a list of whole numbers, found {}", what, printable(dump_json(json))), file);
  return out;
}

/// The operator's text with each shape, and what the shape is called.
Expected<std::vector<std::pair<std::string, std::string>>> texts_of_operator(const Json& json, std::string& name, const std::string& file) {
  TW_CHECK(only_keys(json, "an operator", {"operator", "file", "shapes"}, file));
  TW_TRY(const auto bundled, text_field(json, "operator", file));
  TW_TRY(const auto path, text_field(json, "file", file));
  if (bundled.has_value() == path.has_value()) return wrong_plan("Expected an operator with one of 'operator' and 'file'", file);
  std::string text;
  if (bundled) {
    name = *bundled;
    const space::own::Operator* op = space::own::find_operator(name);
    if (!op) return wrong_plan(fmt::format("Expected an operator of `tw task list`, found '{}'", printable(name)), file);
    text = op->text;
  } else {
    const std::filesystem::path beside = std::filesystem::path(file).parent_path() / *path;  // an absolute one stays
    TW_TRY(text, read_file(beside.string()));
    name = beside.stem().string();
  }
  std::vector<std::pair<std::string, std::string>> out;
  if (!json.contains("shapes")) return std::vector{std::pair(text, std::string("its own sizes"))};
  if (!json["shapes"].is_array() || json["shapes"].empty()) return wrong_plan("Expected 'shapes' as a list of lists of whole numbers", file);
  for (const Json& shape : json["shapes"]) {
    TW_TRY(const auto numbers, numbers_of(shape, "a shape", file));
    auto with = te::with_args(text, numbers, std::nullopt);
    if (!with) return wrong_plan(with.error().message, file);
    out.emplace_back(std::move(*with), fmt::format("{}", fmt::join(numbers, " x ")));
  }
  return out;
}

}  // namespace

std::string CampaignPlan::Cell::title() const { return fmt::format("{}, {}, {}", printable(name), shape, printable(target.str())); }

std::string campaign_workspace(const std::string& file) { return std::filesystem::path(file).replace_extension(".twdb").string(); }

std::vector<std::string> shipped_campaigns() {
  std::vector<std::string> files;
  const auto self = process::own_path();
  std::error_code ec;
  const std::filesystem::path folder = self ? std::filesystem::path(*self).parent_path().parent_path() / "share" / "tilewright" / "campaigns" : std::filesystem::path();
  for (std::filesystem::directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec))
    if (at->path().extension() == ".twz") files.push_back(at->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Expected<CampaignPlan> read_campaign(const std::string& file) {
  TW_TRY(const std::string text, read_file(file));
  TW_TRY(const Json json, parse_toml(text, file));
  TW_CHECK(only_keys(json, "a campaign", {"name", "points", "repeats", "seed", "operators", "targets"}, file));
  CampaignPlan plan;
  TW_TRY(const auto title, text_field(json, "name", file));
  plan.name = title ? *title : std::filesystem::path(file).stem().string();
  TW_TRY(const int64_t points, number_at(json, "points", 0, 0, file));
  TW_TRY(const int64_t repeats, number_at(json, "repeats", 0, 0, file));
  TW_TRY(const int64_t seed, number_at(json, "seed", 0, 1, file));
  constexpr int64_t kAllPoints = int64_t{1} << 40;  // the most that a session may be told
  Json options = tune::to_json(tune::SessionOptions());
  options["tuner"] = points > 0 ? "random" : "grid", options["seed"] = seed, options["trials_per_task"] = points > 0 ? points : kAllPoints;
  options["batch"] = 64, options["finalists"] = 0, options["repeats"] = repeats;
  auto checked = tune::session_options(options);
  if (!checked) return wrong_plan(checked.error().message, file);
  plan.options = std::move(*checked);
  for (const char* key : {"operators", "targets"})
    if (!json.contains(key) || !json[key].is_array() || json[key].empty()) return wrong_plan(fmt::format("Expected at least one [[{}]]", key), file);
  for (const Json& op : json["operators"]) {
    std::string name;
    TW_TRY(const auto texts, texts_of_operator(op, name, file));
    for (const auto& [with_shape, shape] : texts)
      for (const Json& t : json["targets"]) {
        TW_CHECK(only_keys(t, "a target", {"target", "device", "threads"}, file));
        TW_TRY(const auto named, text_field(t, "target", file));
        TW_TRY(const auto on, text_field(t, "device", file));
        const std::string device = on.value_or(std::string(measure::kLocalDevice));
        std::vector<std::string> targets;
        if (t.contains("threads")) {
          TW_TRY(const auto threads, numbers_of(t["threads"], "'threads'", file));
          for (const int64_t n : threads) targets.push_back(fmt::format("{} -num-cores={}", named.value_or("llvm"), n));
        } else {
          targets.push_back(named.value_or("llvm"));
        }
        for (const std::string& spelled : targets) {
          const auto target = measure::target_named(spelled);
          if (!target) return wrong_plan(target.error().message, file);
          plan.cells.push_back({name, with_shape, *target, device, shape});
        }
      }
  }
  return plan;
}

}  // namespace tw::logs
