// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/dtype.h"

/// NVIDIA's GPUs by name: what a kernel may ask of them and how fast they are. Limits are those of NVIDIA's CUDA programming guide (compute capabilities) and
/// of cuda_occupancy.h; rates are from the vendor's data sheets.
namespace tw::target {

/// What all processors of one compute capability share. Sizes in bytes.
struct GpuArch {
  int capability;  ///< ten times the major version plus the minor one: 80 for 8.0
  int registers_per_multiprocessor;
  int shared_per_multiprocessor;
  int shared_opt_in;    ///< most shared memory of one block; above kStaticShared it must be asked for at the launch
  int shared_reserved;  ///< that the system takes for each block beside its own
  int shared_unit;      ///< shared memory is handed out in multiples of this
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int l1_bytes;  ///< level-1 cache and shared memory together
  // Results in a clock on one multiprocessor.
  int fp32_rate, fp64_rate, fp16_rate, int_rate, special_rate;
  int tensor_rate;  ///< multiply-adds of fp16 with sums in fp32; 0: none
  // Latencies in clocks.
  int shared_latency, l2_latency, memory_latency;
  bool floats_or_integers = false;  ///< half of the float lanes do integers instead where there are any
};

struct Gpu {
  std::string name;         ///< such as "a100"
  std::string description;  ///< such as "NVIDIA A100 SXM 40 GB"
  int capability = 0;
  int multiprocessors = 0;
  int clock_mhz = 0;         ///< boost
  int tensor_clock_mhz = 0;  ///< under the tensor units' load
  double tensor_share = 1;   ///< of the architecture's tensor rate
  int64_t memory_bytes = 0;
  double memory_bytes_per_s = 0;  ///< nominal
  double memory_efficiency = 1;   ///< share of it that kernels reach
  double l2_bytes_per_s = 0;
  int64_t l2_bytes = 0;

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

inline constexpr int kWarp = 32;
inline constexpr int kMaxBlockThreads = 1024;
inline constexpr int kMaxThreadsZ = 64;
inline constexpr int64_t kMaxGridX = 0x7fffffff, kMaxGridYZ = 65535;
inline constexpr int kMaxThreadRegisters = 255;
inline constexpr int kMaxBlockRegisters = 65536;
inline constexpr int kStaticShared = 48 * 1024;  ///< most that a kernel may declare with a size in its text

const std::vector<Gpu>& gpu_table();
/// Null for names not in the table. "nvidia-a100" and TVM's "nvidia/nvidia-a100" find what "a100" does.
const Gpu* find_gpu(std::string_view name);
/// The first of the table with this capability, or null.
const Gpu* find_gpu_of(int capability);
/// The newest architecture known that is not newer than this one. Never null from 3.7 on.
const GpuArch& gpu_arch(int capability);
/// Multiply-adds in float32 on all multiprocessors, in FLOP/s.
double peak_flops(const Gpu& gpu);
/// How many times faster than that arithmetic of 8 and 16 bits can be: on tensor units, which do 8 bits at twice the rate of 16, where there are any; else 4.
double narrow_speedup(const Gpu& gpu);
/// The GPU of the table that a card is, by the name that its driver gives it ("NVIDIA A100-SXM4-80GB"), its capability and its memory, with the card's own
/// numbers in place of the table's where `multiprocessors` is not 0. Null if the table has none of this capability and name; the nearest of the same capability
/// serves for cards that the table does not name.
std::optional<Gpu> gpu_like(std::string_view name, int capability, int64_t memory_bytes, int multiprocessors);
/// Terms that one instruction of tensor cores (mma.sync from 8.0 on) adds up for operands of types `a` and `b`: 32 bytes of them, which are 16 of float16 or
/// bfloat16, 8 of float32 rounded to TF32, and 32 of int8 or uint8, whose two types may differ; 0 where there is none.
int mma_depth(DType a, DType b);
/// The type of their sums: int32 for integers, else float32.
DType mma_sum(DType operand);
/// "sm_80"
std::string arch_name(int capability);

/// How many blocks run on one multiprocessor at the same time, and what keeps it from being more.
struct Occupancy {
  enum class Limit : uint8_t { blocks, threads, registers, shared };
  int blocks = 0;
  double share = 0;  ///< of the warps that a multiprocessor holds
  Limit limit = Limit::blocks;
};
const char* limit_name(Occupancy::Limit limit);
/// `registers` is per thread; `shared_bytes` per block, static and dynamic. No blocks: the kernel cannot be launched. Formula of cuda_occupancy.h.
Occupancy occupancy(int capability, int threads, int registers, int64_t shared_bytes);

}  // namespace tw::target
