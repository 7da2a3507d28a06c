// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runtime/executable.h"
#include "tests/engine/measure/fixtures.h"

/// Include it before Qt, which makes a macro of the word that an executable calls its arrays by.
namespace tw::test {

/// A network of one call: y = 2 x, or whatever the kernel does.
inline runtime::Executable network_of(const measure::BuildOutcome& kernel, int cores, Target target = host_target()) {
  target.cores = cores;
  runtime::Executable e;
  e.name = "net";
  e.target = target.str();
  e.artifact = *kernel.artifact;
  e.artifact.target = e.target;
  const auto& args = e.artifact.kernels[0].args;
  using Kind = runtime::Slot::Kind;
  e.slots = {{Kind::input, args[0], -1, nullptr}, {Kind::output, args[1], -1, nullptr}};
  e.calls.resize(1);
  e.calls[0].symbol = e.calls[0].name = "kernel";
  e.calls[0].slots = {0, 1};
  e.inputs = {0};
  e.outputs = {1};
  return e;
}

inline measure::BuildOutcome crashing_kernel() {
  const Parts p;
  return compiled(p, p.set_y(ir::index(int64_t{1} << 40), Parts::number(1)));
}

}  // namespace tw::test
