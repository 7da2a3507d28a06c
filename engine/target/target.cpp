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

constexpr std::string_view kTf32 = "+tf32";
/// TF32 came with it.
constexpr int kTf32Capability = 80;

constexpr std::string_view kImpliedGpuFlags[] = {
    "-keys", "-max_num_threads", "-max_threads_per_block", "-thread_warp_size", "-max_shared_memory_per_block", "-registers_per_block", "-l2_cache_size_bytes",
    "-libs", "-host", "-tag", "-max_shared_memory_per_multiprocessor", "-max_local_memory_per_block", "-device_type"};

/// A target with everything that the name of the processor decides; one core.
Target named_target(const target::CpuInfo& cpu) {
  Target t;
  t.cpu = cpu.name;
  t.vector_bits = target::vector_bits(cpu.features, cpu.sve_bits);
  t.vector_registers = target::vector_registers(cpu.features);
  t.l1d_bytes = cpu.l1d_kb * 1024;
  t.l1d_ways = cpu.l1d_ways;
  t.l2_bytes = cpu.l2_kb * 1024;
  t.l3_bytes = cpu.l3_kb * 1024;
  t.l3_share_bytes = t.l3_bytes / cpu.l3_cores;
  return t;
}

Target board_target(const target::Board& board) {
  target::CpuInfo cpu = *target::find_cpu(board.cpu);
  cpu.l2_kb = board.l2_kb, cpu.l3_kb = board.l3_kb, cpu.l3_cores = board.l3_cores;
  Target t = named_target(cpu);
  t.cores = board.cores;
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

/// Flags as TVM writes them, all in one form: one dash, and the value behind '='. `--model=a100`, `-model a100` and `-model=a100` are one.
std::vector<std::string> flags_of(std::string_view text) {
  std::vector<std::string> out;
  const auto parts = words(text);
  for (size_t i = 1; i < parts.size(); ++i) {
    std::string flag(parts[i].starts_with("--") ? parts[i].substr(1) : parts[i]);
    const bool open = flag.starts_with('-') && flag.find('=') == std::string::npos;
    // A value never begins with a dash followed by a letter: features do begin with a sign, but stand behind '=' or a comma.
    if (open && i + 1 < parts.size() && !parts[i + 1].starts_with('-')) flag += "=" + std::string(parts[++i]);
    out.push_back(std::move(flag));
  }
  return out;
}

Expected<void> set_features(Target& t, std::string_view list, std::string_view text) {
  const target::CpuInfo& cpu = *target::find_cpu(t.cpu);
  std::vector<std::string> flags;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string flag(list.substr(at, end - at));
    bool known = false;
    for (const target::NamedFeature& f : target::all_features()) known |= flag.size() > 1 && (flag[0] == '+' || flag[0] == '-') && flag.substr(1) == f.name;
    if (!known) return bad_target(fmt::format("Expected '+' or '-' and a feature name in '-mattr', found '{}'", printable(flag)), text);
    flags.push_back(flag);
    at = end + 1;
  }
  const target::FeatureSet actual = target::apply_features(cpu.features, flags);
  t.features = target::feature_delta(cpu.features, actual);
  t.vector_bits = target::vector_bits(actual, cpu.sve_bits);
  t.vector_registers = target::vector_registers(actual);
  return {};
}

/// Of TVM's targets for processors, what decides nothing here.
constexpr std::string_view kImpliedCpuFlags[] = {"-keys",  "-libs",       "-link-params", "-model",      "-device",   "-runtime",         "-system-lib",
                                                 "-host",  "-opt-level",  "-mabi",        "-fast-math",  "-mfloat-abi", "-vector-width", "-executor",
                                                 "-tag",   "-cl-opt",     "-jit",         "-unpacked-api", "-interface-api"};

Expected<Target> parse_flags(const std::vector<std::string>& flags, std::string_view text) {
  std::string_view attributes, triple;
  std::optional<int> cores;
  const target::CpuInfo* cpu = nullptr;
  for (const std::string_view word : flags) {
    if (!word.starts_with('-')) return bad_target(fmt::format("Expected a flag such as '-mcpu=znver4', found '{}'", printable(word)), text);
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
    } else if (name == "-mtriple") {
      triple = value.substr(0, value.find('-'));
      if (triple != "x86_64" && triple != "aarch64")
        return bad_target(fmt::format("Expected a triple of x86-64 or AArch64 after '-mtriple', found '{}'", printable(value)), text);
    } else if (std::none_of(std::begin(kImpliedCpuFlags), std::end(kImpliedCpuFlags), [&](std::string_view f) { return f == name; })) {
      return bad_target(fmt::format("Expected '-mcpu', '-mattr' or '-num-cores', found '{}'", printable(word)), text);
    }
  }
  if (cpu == nullptr && !attributes.empty()) return bad_target("Expected '-mcpu' beside '-mattr', found none", text);
  Target t = cpu != nullptr ? named_target(*cpu) : host_target();
  if (const char* arch = target::arch_name(target::arch_of(t)); !triple.empty() && triple != arch)
    return bad_target(fmt::format("Expected a processor of the triple's architecture, found '{}', which is {}", t.cpu, arch), text);
  if (!attributes.empty()) TW_CHECK(set_features(t, attributes, text));
  if (cores) t.cores = *cores;
  return t;
}

std::string gpu_names() {
  std::vector<std::string> names;
  for (const target::Gpu& g : target::gpu_table()) names.push_back(g.name);
  return fmt::format("known are {}", fmt::join(names, ", "));
}

Expected<Target> named_gpu(std::string_view name, std::string_view text) {
  if (const target::Gpu* gpu = target::find_gpu(name)) return gpu_target(*gpu);
  return bad_target(fmt::format("Expected the name of a GPU, found '{}'", printable(name)), text).note(gpu_names());
}

/// TVM's targets as JSON: the kind, and its attributes by name.
Expected<std::string> flags_of_json(std::string_view text) {
  TW_TRY(const Json j, parse_json(text, "target"));
  const auto plain = [](const Json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); };
  if (!j.is_object() || !j.contains("kind") || !j["kind"].is_string()) return Error(ErrorCode::invalid_argument, "Expected a target with its 'kind', found none");
  std::string out = j["kind"].get<std::string>();
  for (const auto& [name, value] : j.items()) {
    if (name == "kind" || value.is_null()) continue;
    std::string all;
    if (value.is_array())
      for (const Json& v : value) all += (all.empty() ? "" : ",") + plain(v);
    else
      all = plain(value);
    out += fmt::format(" -{}={}", name, all);
  }
  return out;
}

/// A name, or one with ",tf32" after it.
Expected<Target> short_gpu(std::string_view name, std::string_view text) {
  const size_t comma = name.find(',');
  TW_TRY(Target t, named_gpu(name.substr(0, comma), text));
  if (comma == std::string_view::npos) return t;
  const std::string_view attribute = name.substr(comma + 1);
  if (attribute != kTf32.substr(1)) return bad_target(fmt::format("Expected 'tf32' after the name of a GPU, found '{}'", printable(attribute)), text);
  return allow_tf32(std::move(t), text);
}

/// TVM's target strings for CUDA carry more than decides anything here: their limits follow from the architecture.
Expected<Target> parse_gpu_flags(const std::vector<std::string>& flags, std::string_view text) {
  std::string_view model, arch;
  bool tf32 = false;
  for (const std::string_view word : flags) {
    const size_t eq = word.find('=');
    const std::string_view name = word.substr(0, eq), value = eq == std::string_view::npos ? std::string_view() : word.substr(eq + 1);
    if (name == "-model")
      model = value;
    else if (name == "-arch")
      arch = value;
    else if (name == "-mattr" && value == kTf32)
      tf32 = true;
    else if (std::none_of(std::begin(kImpliedGpuFlags), std::end(kImpliedGpuFlags), [&](std::string_view f) { return f == name; }))
      return bad_target(fmt::format("Expected '-model', '-arch' or '-mattr=+tf32', found '{}'", printable(word)), text);
  }
  const auto allowed = [&](Expected<Target> t) { return t && tf32 ? allow_tf32(std::move(*t), text) : t; };
  if (!model.empty() && model != "unknown") return allowed(named_gpu(model, text));
  if (arch.empty()) return bad_target("Expected the name of a GPU after 'cuda', as in 'cuda:a100', found none", text).note(gpu_names());
  int capability = 0;
  if (arch.starts_with("sm_")) {
    TW_TRY(capability, parse_count(arch.substr(3), 999, "-arch=sm_", text));
  }
  if (const target::Gpu* gpu = target::find_gpu_of(capability)) return allowed(gpu_target(*gpu));
  return bad_target(fmt::format("Expected the architecture of a known GPU after '-arch', found '{}'", printable(arch)), text).note(gpu_names());
}

}  // namespace

Target gpu_target(const target::Gpu& gpu) {
  Target t;
  t.kind = "cuda";
  t.gpu = gpu;
  return t;
}

Expected<Target> allow_tf32(Target t, std::string_view text) {
  if (!t.gpu || t.gpu->capability < kTf32Capability)
    return bad_target(fmt::format("Expected a GPU of compute capability 8.0 or newer for TF32, found {}", t.str()), text);
  t.features = {std::string(kTf32)};
  return t;
}

int64_t Target::kept_bytes() const { return gpu ? gpu->l2_bytes : cores * std::max(l2_bytes, l3_share_bytes); }

bool Target::allows_tf32() const { return gpu && std::find(features.begin(), features.end(), kTf32) != features.end(); }

std::string Target::str() const {
  std::string s = gpu ? fmt::format("{} -arch={} -model={}", kind, target::arch_name(gpu->capability), gpu->name) : kind + " -mcpu=" + cpu;
  if (!features.empty()) s += fmt::format(" -mattr={}", fmt::join(features, ","));
  return gpu ? s : s + fmt::format(" -num-cores={}", cores);
}

Expected<Target> parse_target(std::string_view text) {
  const auto parts = words(text);
  if (parts.empty()) return bad_target("Expected a target such as 'llvm -mcpu=znver4', found an empty text", text);
  if (parts[0].starts_with('{')) {
    TW_TRY(const std::string flags, flags_of_json(text));
    if (flags.starts_with('{')) return bad_target("Expected the name of a kind, found '{'", text);
    return parse_target(flags);
  }
  if (parts[0].starts_with("nvidia/") && parts.size() == 1) return named_gpu(parts[0], text);  // a tag
  if (parts[0] == "llvm") return parse_flags(flags_of(text), text);
  if (parts[0] == "cuda") return parse_gpu_flags(flags_of(text), text);
  if (parts[0].starts_with("cuda:") && parts.size() == 1) return short_gpu(parts[0].substr(5), text);
  if (const target::CpuInfo* cpu = target::find_cpu(parts[0]); cpu != nullptr && parts.size() == 1) return named_target(*cpu);
  for (const target::Board& board : target::board_table())
    if (parts[0] == board.name && parts.size() == 1) return board_target(board);
  std::vector<std::string> boards;
  for (const target::Board& b : target::board_table()) boards.emplace_back(b.name);
  return bad_target(fmt::format("Expected 'llvm' with flags, the name of a processor or 'cuda:' and that of a GPU, found '{}'", printable(parts[0])), text)
      .note(fmt::format("known are {}", fmt::join(target_presets(), ", ")))
      .note(fmt::format("boards and servers are {}", fmt::join(boards, ", ")));
}

std::vector<std::string> missing_features(const Target& code, const Target& machine) {
  std::vector<std::string> missing;
  if (code.gpu || machine.gpu) return missing;
  if (target::arch_of(code) != target::arch_of(machine)) return {target::arch_name(target::arch_of(code))};
  const target::FeatureSet lacking = target::features_of(code.cpu, code.features) & ~target::features_of(machine.cpu, machine.features);
  for (const target::NamedFeature& f : target::all_features())
    if ((lacking & f.bit) != 0) missing.emplace_back(f.name);
  return missing;
}

target::Arch target::arch_of(const Target& t) {
  const target::CpuInfo* known = target::find_cpu(t.cpu);
  return known != nullptr ? known->arch : target::Arch::x86_64;
}

std::vector<std::string> target_presets() {
  std::vector<std::string> names;
  for (const target::CpuInfo& c : target::cpu_table()) names.emplace_back(c.name);
  return names;
}

Json to_json(const Target& t) {
  if (t.gpu) {
    const target::Gpu& g = *t.gpu;
    Json out{{"kind", t.kind},
             {"gpu", g.name},
             {"description", g.description},
             {"capability", g.capability},
             {"multiprocessors", g.multiprocessors},
             {"clock_mhz", g.clock_mhz},
             {"tensor_clock_mhz", g.tensor_clock_mhz},
             {"tensor_share", g.tensor_share},
             {"memory_bytes", g.memory_bytes},
             {"memory_bytes_per_s", g.memory_bytes_per_s},
             {"memory_efficiency", g.memory_efficiency},
             {"l2_bytes_per_s", g.l2_bytes_per_s},
             {"l2_bytes", g.l2_bytes}};
    if (!t.features.empty()) out["features"] = t.features;
    return out;
  }
  return Json{{"kind", t.kind},
              {"cpu", t.cpu},
              {"features", t.features},
              {"vector_bits", t.vector_bits},
              {"vector_registers", t.vector_registers},
              {"cores", t.cores},
              {"l1d_bytes", t.l1d_bytes},
              {"l1d_ways", t.l1d_ways},
              {"l2_bytes", t.l2_bytes},
              {"l3_bytes", t.l3_bytes},
              {"l3_share_bytes", t.l3_share_bytes}};
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

Expected<double> number(const Json& j, const char* key) {
  const auto it = j.find(key);
  if (it == j.end() || !it->is_number() || !(it->get<double>() >= 0))
    return Error(ErrorCode::parse_error, fmt::format("Expected a number from 0 on for '{}', found {}", key, it == j.end() ? "nothing" : printable(it->dump())),
                 "target");
  return it->get<double>();
}

Expected<Target> gpu_from_json(const Json& j) {
  target::Gpu g;
  TW_TRY(g.name, text_of(j, "gpu"));
  TW_TRY(g.description, text_of(j, "description"));
  for (const auto& [key, field] : {std::pair{"capability", &target::Gpu::capability},
                                   {"multiprocessors", &target::Gpu::multiprocessors},
                                   {"clock_mhz", &target::Gpu::clock_mhz},
                                   {"tensor_clock_mhz", &target::Gpu::tensor_clock_mhz}}) {
    TW_TRY(const int64_t value, positive(j, key));
    if (value > 1 << 20) return Error(ErrorCode::parse_error, fmt::format("Expected a smaller number for '{}', found {}", key, value), "target");
    g.*field = static_cast<int>(value);
  }
  TW_TRY(g.memory_bytes, positive(j, "memory_bytes"));
  TW_TRY(g.l2_bytes, positive(j, "l2_bytes"));
  TW_TRY(g.tensor_share, number(j, "tensor_share"));
  TW_TRY(g.memory_bytes_per_s, number(j, "memory_bytes_per_s"));
  TW_TRY(g.memory_efficiency, number(j, "memory_efficiency"));
  TW_TRY(g.l2_bytes_per_s, number(j, "l2_bytes_per_s"));
  const auto features = j.find("features");
  if (features == j.end()) return gpu_target(g);
  if (*features != Json::array({kTf32}))
    return Error(ErrorCode::parse_error, fmt::format("Expected [\"{}\"] for 'features' of a GPU, found {}", kTf32, printable(dump_json(*features))), "target");
  return allow_tf32(gpu_target(g), g.name);
}

}  // namespace

Expected<Target> target_from_json(const Json& j) {
  if (!j.is_object()) return Error(ErrorCode::parse_error, "Expected an object, found " + printable(dump_json(j)), "target");
  Target t;
  TW_TRY(t.kind, text_of(j, "kind"));
  if (t.kind == "cuda") return gpu_from_json(j);
  if (t.kind != "llvm") return Error(ErrorCode::unsupported, fmt::format("Expected kind 'llvm' or 'cuda', found '{}'", printable(t.kind)), "target");
  TW_TRY(t.cpu, text_of(j, "cpu"));
  const auto features = j.find("features");
  if (features == j.end() || !features->is_array()) return Error(ErrorCode::parse_error, "Expected a list for 'features'", "target");
  for (const Json& f : *features) {
    if (!f.is_string()) return Error(ErrorCode::parse_error, "Expected texts in 'features', found " + printable(dump_json(f)), "target");
    t.features.push_back(f.get<std::string>());
  }
  TW_TRY(t.l1d_bytes, positive(j, "l1d_bytes"));
  TW_TRY(t.l2_bytes, positive(j, "l2_bytes"));
  TW_TRY(t.l3_bytes, positive(j, "l3_bytes"));
  if (j.contains("l3_share_bytes")) {  // not in documents of older programs
    TW_TRY(t.l3_share_bytes, positive(j, "l3_share_bytes"));
  } else {
    t.l3_share_bytes = t.l3_bytes;
  }
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
