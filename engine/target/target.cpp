// SPDX-License-Identifier: Apache-2.0
#include "engine/target/target.h"

#include <algorithm>
#include <charconv>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/target/cpu_table.h"

namespace tw {

namespace {

constexpr int kMaxCores = 4096;

/// A target with everything that the name of the processor decides; one core.
Target named_target(const target::CpuInfo& cpu) {
  Target t;
  t.cpu = cpu.name;
  t.vector_bits = target::vector_bits(cpu.features);
  t.vector_registers = target::vector_registers(cpu.features);
  t.l1d_bytes = cpu.l1d_kb * 1024;
  t.l1d_ways = cpu.l1d_ways;
  t.l2_bytes = cpu.l2_kb * 1024;
  t.l3_bytes = cpu.l3_kb * 1024;
  return t;
}

Error bad_target(std::string message, std::string_view text) {
  return {ErrorCode::invalid_argument, std::move(message), fmt::format("target '{}'", printable(text))};
}

Expected<int> parse_count(std::string_view value, int highest, std::string_view flag, std::string_view text) {
  int n = 0;
  const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (ec != std::errc() || end != value.data() + value.size() || n < 1 || n > highest)
    return bad_target(fmt::format("Expected a number from 1 to {} after '{}', found '{}'", highest, flag, printable(value)), text);
  return n;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

Expected<void> set_features(Target& t, std::string_view list, std::string_view text) {
  const target::FeatureSet base = target::find_cpu(t.cpu)->features;
  std::vector<std::string> flags;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string flag(list.substr(at, end - at));
    bool known = false;
    for (int i = 0; i < static_cast<int>(target::X86Feature::count); ++i)
      known |= flag.size() > 1 && (flag[0] == '+' || flag[0] == '-') && flag.substr(1) == target::feature_name(static_cast<target::X86Feature>(i));
    if (!known) return bad_target(fmt::format("Expected '+' or '-' and a feature name in '-mattr', found '{}'", printable(flag)), text);
    flags.push_back(flag);
    at = end + 1;
  }
  const target::FeatureSet actual = target::apply_features(base, flags);
  t.features = target::feature_delta(base, actual);
  t.vector_bits = target::vector_bits(actual);
  t.vector_registers = target::vector_registers(actual);
  return {};
}

Expected<Target> parse_flags(const std::vector<std::string_view>& flags, std::string_view text) {
  std::string_view attributes;
  std::optional<int> cores;
  const target::CpuInfo* cpu = nullptr;
  for (const std::string_view word : flags) {
    const size_t eq = word.find('=');
    const std::string_view name = word.substr(0, eq), value = eq == std::string_view::npos ? std::string_view() : word.substr(eq + 1);
    if (name == "-mcpu") {
      cpu = target::find_cpu(value);
      if (cpu == nullptr)
        return bad_target(fmt::format("Expected a known processor after '-mcpu', found '{}'", printable(value)), text)
            .note(fmt::format("known are {}", fmt::join(target_presets(), ", ")));
    } else if (name == "-num-cores") {
      TW_TRY(cores, parse_count(value, kMaxCores, name, text));
    } else if (name == "-mattr") {
      attributes = value;
      if (value.empty()) return bad_target("Expected a list of features after '-mattr', found nothing", text);
    } else if (name != "-keys" || value != "cpu") {  // TVM's logs carry -keys=cpu, which says nothing
      return bad_target(fmt::format("Expected '-mcpu', '-mattr' or '-num-cores', found '{}'", printable(word)), text);
    }
  }
  if (cpu == nullptr && !attributes.empty()) return bad_target("Expected '-mcpu' beside '-mattr', found none", text);
  Target t = cpu != nullptr ? named_target(*cpu) : host_target();
  if (!attributes.empty()) TW_CHECK(set_features(t, attributes, text));
  if (cores) t.cores = *cores;
  return t;
}

}  // namespace

std::string Target::str() const {
  std::string s = kind + " -mcpu=" + cpu;
  if (!features.empty()) s += fmt::format(" -mattr={}", fmt::join(features, ","));
  return s + fmt::format(" -num-cores={}", cores);
}

Expected<Target> parse_target(std::string_view text) {
  const auto parts = words(text);
  if (parts.empty()) return bad_target("Expected a target such as 'llvm -mcpu=znver4', found an empty text", text);
  if (parts[0] == "llvm") return parse_flags({parts.begin() + 1, parts.end()}, text);
  if (const target::CpuInfo* cpu = target::find_cpu(parts[0]); cpu != nullptr && parts.size() == 1) return named_target(*cpu);
  return bad_target(fmt::format("Expected 'llvm' with flags or the name of a processor, found '{}'", printable(parts[0])), text)
      .note(fmt::format("known are {}", fmt::join(target_presets(), ", ")));
}

std::vector<std::string> target_presets() {
  std::vector<std::string> names;
  for (const target::CpuInfo& c : target::cpu_table()) names.emplace_back(c.name);
  return names;
}

Json to_json(const Target& t) {
  return Json{{"kind", t.kind},
              {"cpu", t.cpu},
              {"features", t.features},
              {"vector_bits", t.vector_bits},
              {"vector_registers", t.vector_registers},
              {"cores", t.cores},
              {"l1d_bytes", t.l1d_bytes},
              {"l1d_ways", t.l1d_ways},
              {"l2_bytes", t.l2_bytes},
              {"l3_bytes", t.l3_bytes}};
}

namespace {

Expected<int64_t> positive(const Json& j, const char* key) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_number_integer() || it->get<int64_t>() < 1)
    return Error(ErrorCode::parse_error, fmt::format("Expected a positive number for '{}', found {}", key, it == j.end() ? "nothing" : printable(it->dump())),
                 "target");
  return it->get<int64_t>();
}

Expected<std::string> text_of(const Json& j, const char* key) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_string())
    return Error(ErrorCode::parse_error, fmt::format("Expected a text for '{}', found {}", key, it == j.end() ? "nothing" : printable(it->dump())), "target");
  return it->get<std::string>();
}

}  // namespace

Expected<Target> target_from_json(const Json& j) {
  if (!j.is_object()) return Error(ErrorCode::parse_error, "Expected an object, found " + printable(dump_json(j)), "target");
  Target t;
  TW_TRY(t.kind, text_of(j, "kind"));
  TW_TRY(t.cpu, text_of(j, "cpu"));
  if (t.kind != "llvm") return Error(ErrorCode::unsupported, fmt::format("Expected kind 'llvm', found '{}'", printable(t.kind)), "target");
  const auto features = j.find("features");
  if (features == j.end() || !features->is_array()) return Error(ErrorCode::parse_error, "Expected a list for 'features'", "target");
  for (const Json& f : *features) {
    if (!f.is_string()) return Error(ErrorCode::parse_error, "Expected texts in 'features', found " + printable(dump_json(f)), "target");
    t.features.push_back(f.get<std::string>());
  }
  TW_TRY(t.l1d_bytes, positive(j, "l1d_bytes"));
  TW_TRY(t.l2_bytes, positive(j, "l2_bytes"));
  TW_TRY(t.l3_bytes, positive(j, "l3_bytes"));
  for (const auto& [key, field] : {std::pair{"vector_bits", &Target::vector_bits},
                                   {"vector_registers", &Target::vector_registers},
                                   {"cores", &Target::cores},
                                   {"l1d_ways", &Target::l1d_ways}}) {
    TW_TRY(const int64_t value, positive(j, key));
    if (value > 1 << 20) return Error(ErrorCode::parse_error, fmt::format("Expected a smaller number for '{}', found {}", key, value), "target");
    t.*field = static_cast<int>(value);
  }
  return t;
}

}  // namespace tw
