// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw {
struct Target;
}

/// Processors by the names that LLVM gives them: what they have, and how big their caches are.
namespace tw::target {

/// X(enumerator, LLVM feature name): the instruction sets that a code generator picks by itself for arithmetic, in LLVM's spelling.
/// Those that only hand-written intrinsics reach (AES, SHA, ...) are left out: they cannot change our code.
#define TW_X86_FEATURES(X)              \
  X(sse3, "sse3")                       \
  X(ssse3, "ssse3")                     \
  X(sse41, "sse4.1")                    \
  X(sse42, "sse4.2")                    \
  X(popcnt, "popcnt")                   \
  X(avx, "avx")                         \
  X(f16c, "f16c")                       \
  X(fma, "fma")                         \
  X(avx2, "avx2")                       \
  X(bmi, "bmi")                         \
  X(bmi2, "bmi2")                       \
  X(lzcnt, "lzcnt")                     \
  X(movbe, "movbe")                     \
  X(avx512f, "avx512f")                 \
  X(avx512cd, "avx512cd")               \
  X(avx512bw, "avx512bw")               \
  X(avx512dq, "avx512dq")               \
  X(avx512vl, "avx512vl")               \
  X(avx512ifma, "avx512ifma")           \
  X(avx512vbmi, "avx512vbmi")           \
  X(avx512vbmi2, "avx512vbmi2")         \
  X(avx512vnni, "avx512vnni")           \
  X(avx512bitalg, "avx512bitalg")       \
  X(avx512vpopcntdq, "avx512vpopcntdq") \
  X(avx512bf16, "avx512bf16")           \
  X(avx512fp16, "avx512fp16")           \
  X(avxvnni, "avxvnni")                 \
  X(gfni, "gfni")

enum class X86Feature : uint8_t {
#define X(name, text) name,
  TW_X86_FEATURES(X)
#undef X
      count
};

/// The same for 64-bit Arm; NEON is everywhere.
#define TW_ARM_FEATURES(X)   \
  X(neon, "neon")            \
  X(fullfp16, "fullfp16")    \
  X(dotprod, "dotprod")      \
  X(bf16, "bf16")            \
  X(i8mm, "i8mm")            \
  X(sve, "sve")              \
  X(sve2, "sve2")

enum class ArmFeature : uint8_t {
#define X(name, text) name,
  TW_ARM_FEATURES(X)
#undef X
      count
};

/// A set of X86Feature and ArmFeature, one bit each.
using FeatureSet = uint64_t;
constexpr FeatureSet bit(X86Feature f) { return FeatureSet{1} << static_cast<int>(f); }
constexpr FeatureSet bit(ArmFeature f) { return FeatureSet{1} << (static_cast<int>(X86Feature::count) + static_cast<int>(f)); }
const char* feature_name(X86Feature f);

/// What one core does with whole vectors. Where there is no fused multiply-add, one multiplication and one addition stand for it, and the latency is the addition's.
/// Sources: Fog, Instruction tables, Technical University of Denmark; Abel and Reineke, uops.info, ASPLOS 2019; for Arm see the table.
struct Pipes {
  int latency;  ///< cycles until the next multiply-add may use the result of one
  int fmas;     ///< multiply-adds that begin in one cycle
  int loads;    ///< loads that begin in one cycle
  bool halves = false;  ///< vectors of half the length begin twice as often
  /// How many bytes ahead of their use arrays are asked for that come from memory and are read from end to end. Measured on a Xeon (Granite Rapids), products
  /// of 1 to 8 rows with 16 MB: 1 KB 0.91 to 1.24 ms, 2 KB 0.89 to 1.08, 4 KB 0.88 to 1.17, 16 KB 0.90 to 1.22, not at all 1.17 to 1.87. On a Zen 5, products
  /// of 1, 4 and 16 rows and convolutions of 3x3 pixels with 64, 64 and 42 MB: 2 KB 1.20, 1.50, 3.69 and 1.55 ms, 4 KB 1.17, 1.38, 2.89 and 1.30, 8 KB 1.24,
  /// 1.26, 2.30 and 1.04, 16 KB 1.29, 1.29, 2.20 and 0.87.
  int64_t bytes_ahead = 2048;
  /// Multiply-adds that must be on their way to keep all pipes busy.
  int in_flight() const { return latency * fmas; }
};

struct NamedFeature {
  const char* name;
  FeatureSet bit;
};
/// All of them, in the order of the tables above.
std::span<const NamedFeature> all_features();

enum class Arch : uint8_t { x86_64, aarch64 };
/// As in triples: `x86_64`, `aarch64`.
const char* arch_name(Arch arch);
/// Of this program.
Arch own_arch();
/// Of a target's processor; says nothing of GPUs.
Arch arch_of(const Target& target);

/// Where the level-2 cache is shared and the last one, a core's share stands as its level 2 and the whole as level 3.
struct CpuInfo {
  const char* name;     ///< as LLVM spells it
  FeatureSet features;  ///< what LLVM assumes of this name, within the tables above
  int64_t l1d_kb;
  int l1d_ways;
  int64_t l2_kb;  ///< per core
  int64_t l3_kb;  ///< of one cluster of cores
  int l3_cores;   ///< in that cluster
  Pipes pipes;
  Arch arch = Arch::x86_64;
  int sve_bits = 0;  ///< length of its vectors of SVE; 0 without
};

/// A board or server by name: a processor with its number of cores and its own caches.
struct Board {
  const char* name;
  const char* cpu;
  int cores;
  int64_t l2_kb, l3_kb;  ///< as above
  int l3_cores;
};
const std::vector<Board>& board_table();

/// All processors that have a name here, oldest first.
const std::vector<CpuInfo>& cpu_table();
/// Null for names not in the table.
const CpuInfo* find_cpu(std::string_view name);
/// Those of the plainest processor for names not in the table.
Pipes pipes_of(std::string_view name);

/// The name for a processor of this vendor (CPUID leaf 0 text), display family and display model; falls back to x86-64-v2, -v3 or -v4 by its features.
std::string cpu_name(std::string_view vendor, int family, int model, FeatureSet features);

/// The name for an Arm processor by its main identification register: implementer and part; by its features where the part has no row.
std::string arm_cpu_name(int implementer, int part, FeatureSet features);

/// Features as LLVM flags that turn what `base` implies into `actual`: `+x` for more, `-x` for less, in table order.
std::vector<std::string> feature_delta(FeatureSet base, FeatureSet actual);
/// The other way round; names not in the table are ignored.
FeatureSet apply_features(FeatureSet base, const std::vector<std::string>& flags);

/// What a processor by name has with flags on top; of a name that is not in the table the flags alone.
FeatureSet features_of(std::string_view cpu, const std::vector<std::string>& flags);

/// Products of bytes, of unsigned and signed ones, that one instruction adds up in each lane of int32 (VNNI).
constexpr int64_t kBytesTogether = 4;
/// Whether a processor has that instruction. Without, products in float32 are faster.
bool has_byte_dots(FeatureSet features);
bool has_byte_dots(const Target& target);

/// Bits of one vector register, and how many there are. `sve_bits`: CpuInfo's; vectors of SVE are used where they are longer than NEON's.
int vector_bits(FeatureSet features, int sve_bits = 0);
int vector_registers(FeatureSet features);

}  // namespace tw::target
