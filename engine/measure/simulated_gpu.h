// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/measure.h"
#include "engine/schedule/schedule.h"
#include "engine/tir/stmt.h"

namespace tw::measure {

/// A GPU of the table that exists as a formula (simulate/kernel_time.h). Candidates are lowered, checked against its limits and timed by counting; nothing is
/// compiled or run. Results count as verified because none is computed that could be wrong. The same candidate and seed of inputs give the same samples: the
/// formula's time, off by a factor that belongs to the kernel (no tuner can learn the formula by heart) and by noise that shrinks with its length.
/// Registers decide how many blocks run at once. Those of candidates are estimated, for NVRTC takes 0.1 s a kernel and a search looks at hundreds a second;
/// finalists have those that NVRTC counts, where it is installed and compiles for the GPU.
/// The artifacts hold the estimated time instead of code; only simulated_gpu_runner understands them. Tasks must be for a GPU target.
std::unique_ptr<Builder> simulated_gpu_builder();
std::unique_ptr<Runner> simulated_gpu_runner();

/// Where the number of registers of a thread comes from.
enum class Registers : uint8_t { estimated, compiled };

/// Registers of a thread of each launch as NVRTC compiles it for the GPU, those that it spills included; empty without an NVRTC that compiles for the GPU.
/// A text is compiled once in a process. Errors: resource_limit where the assembler refuses a kernel; of printing it.
Expected<std::vector<int>> compiled_registers(const tir::Func& lowered, const target::Gpu& gpu);

/// The estimated time of a schedule on the target's GPU: the sum over its launches, in seconds. Errors: of lowering, of the GPU's limits; of
/// compiled_registers.
Expected<double> simulated_seconds(const schedule::Schedule& schedule, const Target& target, Registers registers = Registers::estimated);
/// The same of a lowered function.
Expected<double> simulated_seconds(const tir::Func& func, const target::Gpu& gpu, Registers registers = Registers::estimated);

}  // namespace tw::measure
