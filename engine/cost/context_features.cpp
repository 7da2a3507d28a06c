// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/context_features.h"

#include <algorithm>

namespace tw::cost {

std::vector<NamedNumber> hardware_facts(const Target& target) {
  if (target.gpu) {
    const target::Gpu& gpu = *target.gpu;
    const target::GpuArch& arch = target::gpu_arch(gpu.capability);
    return {{"multiprocessors", static_cast<double>(gpu.multiprocessors)},
            {"clock [MHz]", static_cast<double>(gpu.clock_mhz)},
            {"peak [FLOP/s]", target::peak_flops(gpu)},
            {"bandwidth [B/s]", gpu.memory_bytes_per_s},
            {"L2 bandwidth [B/s]", gpu.l2_bytes_per_s},
            {"L2 [B]", static_cast<double>(gpu.l2_bytes)},
            {"L1 and shared [B]", static_cast<double>(arch.l1_bytes)},
            {"shared memory [B]", static_cast<double>(arch.shared_per_multiprocessor)},
            {"registers", static_cast<double>(arch.registers_per_multiprocessor)},
            {"threads of a multiprocessor", static_cast<double>(arch.threads_per_multiprocessor)},
            {"blocks of a multiprocessor", static_cast<double>(arch.blocks_per_multiprocessor)},
            {"float32 results a clock", static_cast<double>(arch.fp32_rate)},
            {"memory latency [clocks]", static_cast<double>(arch.memory_latency)}};
  }
  return {{"vector width [bits]", static_cast<double>(target.vector_bits)},
          {"vector registers", static_cast<double>(target.vector_registers)},
          {"cores", static_cast<double>(target.cores)},
          {"L1 [B]", static_cast<double>(target.l1d_bytes)},
          {"L2 [B]", static_cast<double>(target.l2_bytes)},
          {"L3 [B]", static_cast<double>(target.l3_bytes)},
          {"L3 share of a core [B]", static_cast<double>(target.l3_share_bytes)}};
}

std::vector<NamedNumber> operator_properties(const te::Dag& dag) {
  double elements = 0, terms = 1;
  for (const int o : dag.outputs) {
    double count = 1;
    for (const int64_t extent : dag.ops[static_cast<size_t>(o)].output->shape) count *= static_cast<double>(extent);
    elements += count;
  }
  for (const te::Op& op : dag.ops) {
    double count = 1;
    for (const te::Axis& axis : op.reduce_axes) count *= static_cast<double>(axis.extent);
    terms = std::max(terms, count);
  }
  const double flops = static_cast<double>(te::flops(dag)), bytes = static_cast<double>(te::io_bytes(dag));
  return {{"FLOPs", flops}, {"bytes", bytes}, {"FLOPs a byte", bytes > 0 ? flops / bytes : 0}, {"elements of the results", elements}, {"terms of a sum", terms}};
}

}  // namespace tw::cost
