// SPDX-License-Identifier: Apache-2.0
#include "engine/target/cpu_table.h"

#include <algorithm>
#include <array>

namespace tw::target {

namespace {

using F = X86Feature;

constexpr FeatureSet bits_of(std::initializer_list<F> list) {
  FeatureSet set = 0;
  for (const F f : list) set |= bit(f);
  return set;
}

constexpr FeatureSet kV2 = bits_of({F::sse3, F::ssse3, F::sse41, F::sse42, F::popcnt});
constexpr FeatureSet kV3 = kV2 | bits_of({F::avx, F::f16c, F::fma, F::avx2, F::bmi, F::bmi2, F::lzcnt, F::movbe});
constexpr FeatureSet kV4 = kV3 | bits_of({F::avx512f, F::avx512cd, F::avx512bw, F::avx512dq, F::avx512vl});
constexpr FeatureSet kIce = kV4 | bits_of({F::avx512ifma, F::avx512vbmi, F::avx512vbmi2, F::avx512vnni, F::avx512bitalg, F::avx512vpopcntdq, F::gfni});
constexpr FeatureSet kZen4 = kIce | bit(F::avx512bf16);
constexpr FeatureSet kSapphire = kIce | bits_of({F::avx512bf16, F::avx512fp16, F::avxvnni});
constexpr FeatureSet kAlder = kV3 | bits_of({F::avxvnni, F::gfni});

/// The vectors of a table row are those of its widest instruction set.
constexpr Pipes kSse{.latency = 3, .fmas = 1, .loads = 1}, kHaswell{.latency = 5, .fmas = 2, .loads = 2}, kTwoWide{.latency = 4, .fmas = 2, .loads = 2},
    kAlderPipes{.latency = 4, .fmas = 2, .loads = 3}, kIceClient{.latency = 4, .fmas = 1, .loads = 2, .halves = true}, kZen1{.latency = 5, .fmas = 1, .loads = 1, .halves = true},
    kZen2{.latency = 5, .fmas = 2, .loads = 2}, kHalves{.latency = 4, .fmas = 1, .loads = 1, .halves = true, .bytes_ahead = 8192},  // takes 512 bits in two halves
    kZen5{.latency = 4, .fmas = 2, .loads = 2, .bytes_ahead = 8192};

// LLVM 19's scheduling models; Neoverse N1 is made from Cortex-A76. Vectors of 256 bits take two of Neoverse V1's pipes.
constexpr Pipes kEarlyArm{.latency = 10, .fmas = 1, .loads = 1}, kN1{.latency = 4, .fmas = 2, .loads = 2}, kN2{.latency = 4, .fmas = 2, .loads = 3},
    kNeoverseV2{.latency = 4, .fmas = 4, .loads = 3}, kA64fx{.latency = 9, .fmas = 2, .loads = 2};

using A = ArmFeature;

constexpr FeatureSet arm_bits_of(std::initializer_list<A> list) {
  FeatureSet set = 0;
  for (const A f : list) set |= bit(f);
  return set;
}

constexpr FeatureSet kNeon = bit(A::neon);
constexpr FeatureSet kArm82 = kNeon | arm_bits_of({A::fullfp16, A::dotprod});
constexpr FeatureSet kV1 = kArm82 | arm_bits_of({A::bf16, A::i8mm, A::sve});
constexpr FeatureSet kArm9 = kV1 | bit(A::sve2);

constexpr NamedFeature kFeatures[] = {
#define X(name, text) {text, bit(X86Feature::name)},
    TW_X86_FEATURES(X)
#undef X
#define X(name, text) {text, bit(ArmFeature::name)},
    TW_ARM_FEATURES(X)
#undef X
};

struct ModelRow {
  int family, first_model, last_model;
  const char* name;
};

/// Display family and model after the vendors' manuals and Linux' intel-family.h.
constexpr ModelRow kIntel[] = {
    {6, 0x2a, 0x2a, "sandybridge"},    {6, 0x2d, 0x2d, "sandybridge"},    {6, 0x3a, 0x3a, "ivybridge"},      {6, 0x3e, 0x3e, "ivybridge"},
    {6, 0x3c, 0x3c, "haswell"},        {6, 0x3f, 0x3f, "haswell"},        {6, 0x45, 0x46, "haswell"},        {6, 0x3d, 0x3d, "broadwell"},
    {6, 0x47, 0x47, "broadwell"},      {6, 0x4f, 0x4f, "broadwell"},      {6, 0x56, 0x56, "broadwell"},      {6, 0x4e, 0x4e, "skylake"},
    {6, 0x5e, 0x5e, "skylake"},        {6, 0x8e, 0x8e, "skylake"},        {6, 0x9e, 0x9e, "skylake"},        {6, 0xa5, 0xa6, "skylake"},
    {6, 0x55, 0x55, "skylake-avx512"}, {6, 0x7d, 0x7e, "icelake-client"}, {6, 0x6a, 0x6a, "icelake-server"}, {6, 0x6c, 0x6c, "icelake-server"},
    {6, 0x8c, 0x8d, "tigerlake"},      {6, 0x8f, 0x8f, "sapphirerapids"}, {6, 0xcf, 0xcf, "sapphirerapids"}, {6, 0xad, 0xae, "graniterapids"},
    {6, 0x97, 0x97, "alderlake"},      {6, 0x9a, 0x9a, "alderlake"},      {6, 0xb7, 0xb7, "alderlake"},      {6, 0xba, 0xba, "alderlake"},
    {6, 0xbf, 0xbf, "alderlake"},      {6, 0xaa, 0xaa, "alderlake"},      {6, 0xac, 0xac, "alderlake"},
};
constexpr ModelRow kAmd[] = {
    {0x17, 0x00, 0x2f, "znver1"}, {0x17, 0x30, 0xaf, "znver2"}, {0x19, 0x10, 0x1f, "znver4"}, {0x19, 0x60, 0x7f, "znver4"},
    {0x19, 0xa0, 0xaf, "znver4"}, {0x19, 0x00, 0xff, "znver3"}, {0x1a, 0x00, 0xff, "znver5"}, {0x18, 0x00, 0xff, "znver1"},
};

template <size_t N>
const char* find_model(const ModelRow (&rows)[N], int family, int model) {
  for (const ModelRow& r : rows)
    if (r.family == family && r.first_model <= model && model <= r.last_model) return r.name;
  return nullptr;
}

}  // namespace

const char* feature_name(X86Feature f) { return kFeatures[static_cast<int>(f)].name; }
std::span<const NamedFeature> all_features() { return kFeatures; }

const char* arch_name(Arch arch) { return arch == Arch::aarch64 ? "aarch64" : "x86_64"; }
Arch own_arch() {
#if defined(__aarch64__)
  return Arch::aarch64;
#else
  return Arch::x86_64;
#endif
}

const std::vector<CpuInfo>& cpu_table() {
  static const std::vector<CpuInfo> table = {
      {"x86-64", 0, 32, 8, 256, 4096, 4, kSse},
      {"x86-64-v2", kV2, 32, 8, 256, 8192, 4, kSse},
      {"x86-64-v3", kV3, 32, 8, 256, 8192, 4, kHaswell},
      {"x86-64-v4", kV4, 32, 8, 1024, 16384, 8, kTwoWide},
      {"sandybridge", kV2 | bit(F::avx), 32, 8, 256, 8192, 4, kSse},
      {"ivybridge", kV2 | bit(F::avx) | bit(F::f16c), 32, 8, 256, 8192, 4, kSse},
      {"haswell", kV3, 32, 8, 256, 8192, 4, kHaswell},
      {"broadwell", kV3, 32, 8, 256, 8192, 4, kHaswell},
      {"skylake", kV3, 32, 8, 256, 8192, 4, kTwoWide},
      {"alderlake", kAlder, 48, 12, 1280, 30720, 16, kAlderPipes},
      {"skylake-avx512", kV4, 32, 8, 1024, 22528, 16, kTwoWide},
      {"cascadelake", kV4 | bit(F::avx512vnni), 32, 8, 1024, 22528, 16, kTwoWide},
      {"cooperlake", kV4 | bit(F::avx512vnni) | bit(F::avx512bf16), 32, 8, 1024, 22528, 16, kTwoWide},
      {"icelake-client", kIce, 48, 12, 512, 8192, 4, kIceClient},
      {"icelake-server", kIce, 48, 12, 1280, 49152, 32, kTwoWide},
      {"tigerlake", kIce, 48, 12, 1280, 12288, 4, kIceClient},
      {"sapphirerapids", kSapphire, 48, 12, 2048, 107520, 56, kTwoWide},
      {"graniterapids", kSapphire, 48, 12, 2048, 147456, 36, kTwoWide},
      {"znver1", kV3, 32, 8, 512, 8192, 4, kZen1},
      {"znver2", kV3, 32, 8, 512, 16384, 4, kZen2},
      {"znver3", kV3, 32, 8, 512, 32768, 8, kTwoWide},
      {"znver4", kZen4, 32, 8, 1024, 32768, 8, kHalves},
      {"znver5", kZen4 | bit(F::avxvnni), 48, 12, 1024, 32768, 8, kZen5},
      // Arm's technical reference manuals of the cores, and the makers' data for what they leave open: BCM2837 and BCM2711 (Broadcom, Raspberry Pi), BCM2712,
      // Graviton 2 to 4 (AWS), A64FX (Fujitsu, microarchitecture manual).
      {"cortex-a53", kNeon, 32, 4, 128, 512, 4, kEarlyArm, Arch::aarch64},
      {"cortex-a72", kNeon, 32, 2, 256, 1024, 4, kEarlyArm, Arch::aarch64},
      {"cortex-a76", kArm82, 64, 4, 512, 2048, 4, kN1, Arch::aarch64},
      {"a64fx", kNeon | bit(A::fullfp16) | bit(A::sve), 64, 4, 682, 8192, 12, kA64fx, Arch::aarch64, 512},
      {"neoverse-n1", kArm82, 64, 4, 1024, 32768, 64, kN1, Arch::aarch64},
      {"neoverse-v1", kV1, 64, 4, 1024, 32768, 64, kN1, Arch::aarch64, 256},
      {"neoverse-n2", kArm9, 64, 4, 1024, 65536, 64, kN2, Arch::aarch64, 128},
      {"neoverse-v2", kArm9, 64, 4, 2048, 36864, 96, kNeoverseV2, Arch::aarch64, 128},
  };
  return table;
}

const CpuInfo* find_cpu(std::string_view name) {
  for (const CpuInfo& c : cpu_table())
    if (name == c.name) return &c;
  return nullptr;
}

Pipes pipes_of(std::string_view name) {
  const CpuInfo* known = find_cpu(name);
  return known != nullptr ? known->pipes : cpu_table().front().pipes;
}

std::string cpu_name(std::string_view vendor, int family, int model, FeatureSet features) {
  const char* name = nullptr;
  if (vendor == "GenuineIntel") name = find_model(kIntel, family, model);
  if (vendor == "AuthenticAMD" || vendor == "HygonGenuine") name = find_model(kAmd, family, model);
  if (name != nullptr) {
    // One model number covers three generations of servers, which differ in their instructions only.
    if (std::string_view(name) == "skylake-avx512" && (features & bit(F::avx512bf16))) return "cooperlake";
    if (std::string_view(name) == "skylake-avx512" && (features & bit(F::avx512vnni))) return "cascadelake";
    return name;
  }
  if ((features & kV4) == kV4) return "x86-64-v4";
  if ((features & kV3) == kV3) return "x86-64-v3";
  if ((features & kV2) == kV2) return "x86-64-v2";
  return "x86-64";
}

const std::vector<Board>& board_table() {
  static const std::vector<Board> table = {
      {"raspberry-pi-3", "cortex-a53", 4, 128, 512, 4},      {"raspberry-pi-4", "cortex-a72", 4, 256, 1024, 4},
      {"raspberry-pi-5", "cortex-a76", 4, 512, 2048, 4},     {"graviton2", "neoverse-n1", 64, 1024, 32768, 64},
      {"graviton3", "neoverse-v1", 64, 1024, 32768, 64},     {"graviton4", "neoverse-v2", 96, 2048, 36864, 96},
      {"ampere-altra", "neoverse-n1", 80, 1024, 32768, 80},  {"grace", "neoverse-v2", 72, 1024, 116736, 72},
  };
  return table;
}

std::string arm_cpu_name(int implementer, int part, FeatureSet features) {
  constexpr int kArm = 0x41, kFujitsu = 0x46;
  constexpr struct {
    int implementer, part;
    const char* name;
  } kParts[] = {{kArm, 0xd03, "cortex-a53"},  {kArm, 0xd08, "cortex-a72"},  {kArm, 0xd0b, "cortex-a76"},  {kArm, 0xd0c, "neoverse-n1"},
                {kArm, 0xd40, "neoverse-v1"}, {kArm, 0xd49, "neoverse-n2"}, {kArm, 0xd4f, "neoverse-v2"}, {kFujitsu, 0x001, "a64fx"}};
  for (const auto& p : kParts)
    if (p.implementer == implementer && p.part == part) return p.name;
  return (features & kArm82) == kArm82 ? "cortex-a76" : "cortex-a53";
}

std::vector<std::string> feature_delta(FeatureSet base, FeatureSet actual) {
  std::vector<std::string> flags;
  for (const NamedFeature& f : kFeatures) {
    if ((base & f.bit) == (actual & f.bit)) continue;
    flags.push_back(std::string(actual & f.bit ? "+" : "-") + f.name);
  }
  return flags;
}

FeatureSet apply_features(FeatureSet base, const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    for (const NamedFeature& f : kFeatures) {
      if (flag.size() < 2 || std::string_view(flag).substr(1) != f.name) continue;
      if (flag[0] == '+')
        base |= f.bit;
      else
        base &= ~f.bit;
    }
  }
  return base;
}

FeatureSet features_of(std::string_view cpu, const std::vector<std::string>& flags) {
  const CpuInfo* known = find_cpu(cpu);
  return apply_features(known != nullptr ? known->features : 0, flags);
}

bool has_byte_dots(FeatureSet features) { return (features & (bit(F::avx512vnni) | bit(F::avxvnni))) != 0; }
bool has_byte_dots(const Target& target) { return !target.gpu && has_byte_dots(features_of(target.cpu, target.features)); }

int vector_bits(FeatureSet features, int sve_bits) {
  if (features & bit(F::avx512f)) return 512;
  if (features & bit(F::avx)) return 256;
  return features & bit(A::sve) ? std::max(sve_bits, 128) : 128;
}
int vector_registers(FeatureSet features) { return features & (bit(F::avx512f) | bit(A::neon)) ? 32 : 16; }

}  // namespace tw::target
