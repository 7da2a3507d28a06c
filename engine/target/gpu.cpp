// SPDX-License-Identifier: Apache-2.0
#include "engine/target/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace tw::target {

namespace {

constexpr int KiB = 1024;

/// Rates: CUDA programming guide, throughput of native arithmetic instructions. Latencies: measurements published by RRZE (V100) and the configurations of
/// GPGPU-Sim (Turing to Hopper); those of 3.7 and of DRAM are rounded.
constexpr std::array<GpuArch, 7> kArchs{{
    //        regs/SM   shared/SM  opt-in     reserved unit threads blocks L1         fp32 fp64 fp16 int special tensor  shared L2 memory
    {37, 131072, 112 * KiB, 48 * KiB, 0, 256, 2048, 16, 128 * KiB, 192, 64, 0, 160, 32, 0, 40, 215, 500},
    {70, 65536, 96 * KiB, 96 * KiB, 0, 256, 2048, 32, 128 * KiB, 64, 32, 128, 64, 16, 512, 20, 214, 430},
    {75, 65536, 64 * KiB, 64 * KiB, 0, 256, 1024, 16, 96 * KiB, 64, 2, 128, 64, 16, 512, 25, 215, 500},
    {80, 65536, 164 * KiB, 163 * KiB, 1 * KiB, 128, 2048, 32, 192 * KiB, 64, 32, 256, 64, 16, 1024, 29, 230, 430},
    {86, 65536, 100 * KiB, 99 * KiB, 1 * KiB, 128, 1536, 16, 128 * KiB, 128, 2, 128, 64, 16, 512, 29, 230, 450, true},
    {87, 65536, 164 * KiB, 163 * KiB, 1 * KiB, 128, 1536, 16, 192 * KiB, 128, 2, 128, 64, 16, 1024, 29, 170, 510, true},
    {90, 65536, 228 * KiB, 227 * KiB, 1 * KiB, 128, 2048, 32, 256 * KiB, 128, 64, 256, 64, 16, 2048, 29, 250, 455},
}};

constexpr int64_t GB = 1'000'000'000;
constexpr int64_t MiB = 1024 * KiB;

}  // namespace

const std::vector<Gpu>& gpu_table() {
  static const std::vector<Gpu> table{
      // name, description, capability, multiprocessors, MHz, MHz of tensors, tensor share, memory, its bandwidth and what is reached of it, L2 bandwidth, L2
      {"k80", "NVIDIA Tesla K80, one of two", 37, 13, 875, 875, 0, 12 * GB, 240e9, 0.80, 500e9, 1536 * KiB},
      {"titanv", "NVIDIA TITAN V", 70, 80, 1455, 1455, 1, 12 * GB, 653e9, 0.90, 2200e9, 4608 * KiB},
      {"t4", "NVIDIA T4", 75, 40, 1590, 1035, 1, 16 * GB, 320e9, 0.84, 1200e9, 4 * MiB},
      {"a100", "NVIDIA A100 SXM 40 GB", 80, 108, 1410, 1410, 1, 40 * GB, 1555e9, 0.90, 4500e9, 40 * MiB},
      {"a100-80", "NVIDIA A100 SXM 80 GB", 80, 108, 1410, 1410, 1, 80 * GB, 2039e9, 0.90, 4500e9, 40 * MiB},
      {"a5000", "NVIDIA RTX A5000", 86, 64, 1695, 1500, 1, 24 * GB, 768e9, 0.86, 2200e9, 6 * MiB},
      {"a10g", "NVIDIA A10G", 86, 80, 1710, 1500, 0.5, 24 * GB, 600e9, 0.86, 2300e9, 6 * MiB},
      {"orin", "NVIDIA Jetson AGX Orin 64 GB", 87, 16, 1300, 1300, 1, 64 * GB, 204.8e9, 0.75, 600e9, 4 * MiB},
      {"orin-32", "NVIDIA Jetson AGX Orin 32 GB", 87, 14, 930, 930, 1, 32 * GB, 204.8e9, 0.75, 450e9, 4 * MiB},
      {"h100", "NVIDIA H100 SXM", 90, 132, 1980, 1550, 0.62, 80 * GB, 3350e9, 0.92, 6000e9, 50 * MiB},
      {"h200", "NVIDIA H200", 90, 132, 1980, 1550, 0.62, 141 * GB, 4800e9, 0.92, 6000e9, 50 * MiB},
  };
  return table;
}

const Gpu* find_gpu(std::string_view name) {
  for (const std::string_view prefix : {"nvidia/", "nvidia-", "tesla-", "rtx-", "jetson-agx-"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto it = std::find_if(gpu_table().begin(), gpu_table().end(), [&](const Gpu& g) { return g.name == name; });
  return it == gpu_table().end() ? nullptr : &*it;
}

const Gpu* find_gpu_of(int capability) {
  const auto it = std::find_if(gpu_table().begin(), gpu_table().end(), [&](const Gpu& g) { return g.capability == capability; });
  return it == gpu_table().end() ? nullptr : &*it;
}

const GpuArch& gpu_arch(int capability) {
  const GpuArch* best = &kArchs.front();
  for (const GpuArch& a : kArchs)
    if (a.capability <= capability) best = &a;
  return *best;
}

double peak_flops(const Gpu& gpu) { return 2.0 * gpu_arch(gpu.capability).fp32_rate * gpu.multiprocessors * gpu.clock_mhz * 1e6; }

double narrow_speedup(const Gpu& gpu) {
  const GpuArch& arch = gpu_arch(gpu.capability);
  return std::max(4.0, 2.0 * arch.tensor_rate * gpu.tensor_share / arch.fp32_rate);
}

std::optional<Gpu> gpu_like(std::string_view name, int capability, int64_t memory_bytes, int multiprocessors) {
  std::string spoken(name);
  for (char& c : spoken) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const Gpu* best = nullptr;
  const auto worse = [&](const Gpu& a, const Gpu& b) { return std::abs(a.memory_bytes - memory_bytes) > std::abs(b.memory_bytes - memory_bytes); };
  for (const bool by_name : {true, false}) {
    for (const Gpu& g : gpu_table()) {
      const bool named = spoken.find(g.name.substr(0, g.name.find('-'))) != std::string::npos;
      if (g.capability == capability && (named || !by_name) && (!best || worse(*best, g))) best = &g;
    }
    if (best) break;
  }
  if (!best) return std::nullopt;
  Gpu out = *best;
  if (multiprocessors > 0) out.multiprocessors = multiprocessors;
  return out;
}

int mma_depth(DType a, DType b) {
  const bool bytes = a.is_int() && b.is_int() && a.bits == 8 && b.bits == 8;
  const bool floats = a == b && a.is_float() && (a.bits == 16 || a.bits == 32);
  return a.is_scalar() && b.is_scalar() && (bytes || floats) ? 32 / a.bytes() : 0;
}
DType mma_sum(DType operand) { return operand.is_float() ? kFloat32 : kInt32; }

std::string arch_name(int capability) { return fmt::format("sm_{}", capability); }

const char* limit_name(Occupancy::Limit limit) {
  switch (limit) {
    case Occupancy::Limit::blocks:
      return "blocks";
    case Occupancy::Limit::threads:
      return "threads";
    case Occupancy::Limit::registers:
      return "registers";
    case Occupancy::Limit::shared:
      return "shared memory";
  }
  return "";
}

Occupancy occupancy(int capability, int threads, int registers, int64_t shared_bytes) {
  constexpr int kRegisterUnit = 256;  // of a warp
  constexpr int kPartitions = 4;      // of a multiprocessor, each with its registers
  const GpuArch& a = gpu_arch(capability);
  const auto round_up = [](int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; };
  Occupancy out;
  if (threads < 1 || threads > kMaxBlockThreads || registers > kMaxThreadRegisters || shared_bytes > a.shared_opt_in) {
    out.limit = threads < 1 || threads > kMaxBlockThreads ? Occupancy::Limit::threads
                : registers > kMaxThreadRegisters         ? Occupancy::Limit::registers
                                                          : Occupancy::Limit::shared;
    return out;
  }
  const int warps = (threads + kWarp - 1) / kWarp, most_warps = a.threads_per_multiprocessor / kWarp;
  const int64_t warp_registers = round_up(static_cast<int64_t>(std::max(registers, 1)) * kWarp, kRegisterUnit);
  int64_t by_registers = kPartitions * (a.registers_per_multiprocessor / kPartitions / warp_registers) / warps;
  if (warp_registers * round_up(warps, kPartitions) > kMaxBlockRegisters) by_registers = 0;
  const int64_t shared = round_up(shared_bytes + a.shared_reserved, a.shared_unit);
  const int64_t by_shared = shared == 0 ? a.blocks_per_multiprocessor : a.shared_per_multiprocessor / shared;
  const std::pair<int64_t, Occupancy::Limit> limits[] = {{a.blocks_per_multiprocessor, Occupancy::Limit::blocks},
                                                         {most_warps / warps, Occupancy::Limit::threads},
                                                         {by_registers, Occupancy::Limit::registers},
                                                         {by_shared, Occupancy::Limit::shared}};
  const auto least = *std::min_element(std::begin(limits), std::end(limits), [](const auto& x, const auto& y) { return x.first < y.first; });
  out.blocks = static_cast<int>(least.first);
  out.limit = least.second;
  out.share = static_cast<double>(out.blocks * warps) / most_warps;
  return out;
}

}  // namespace tw::target
