// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/runtime/kernel.h"

namespace tw::runtime {

/// Loads a relocatable object of this machine's architecture (ELF, 64 bits, little-endian; x86-64 or AArch64) into this process: sections into one mapping, code
/// and constants read-only afterwards, calls of the C library through stubs beside the code. Nothing of it runs before a kernel is called.
/// Headers, symbols and relocations are checked against the bytes, as objects come from other processes and machines; what the code then does is the business of
/// whoever calls it. Source: System V ABI, x86-64 supplement 1.0 (4.4), and ELF for the Arm 64-bit Architecture 2023Q3 (5.7).
/// Errors: corrupt for damaged objects; unsupported for other machines, kinds of relocations and symbols that are not library_symbol's; out_of_memory.
Expected<std::unique_ptr<LoadedModule>> load_object(const std::vector<std::byte>& object);

}  // namespace tw::runtime
