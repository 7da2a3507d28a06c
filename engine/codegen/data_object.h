// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/target/cpu_table.h"

/// Object files with data instead of code: what a compiled network needs beside its kernels in a program that is linked with it.
namespace tw::codegen {

/// Eight bytes of a symbol that hold the address of another one.
struct DataAddress {
  int64_t at = 0;
  std::string symbol;  ///< of the same object or of another one
  int64_t addend = 0;
};

/// Read-only bytes under a name.
struct DataSymbol {
  std::string name;
  bool exported = false;             ///< visible to other objects
  std::span<const std::byte> bytes;  ///< must outlive the call
  std::vector<DataAddress> addresses = {};
  int64_t align = 64;  ///< a power of two
};

/// A relocatable ELF file for an architecture. Data without addresses go to .rodata, which processes share; the others to .data.rel.ro.
/// Source: System V Application Binary Interface, chapters 4 and 5, its AMD64 supplement, section 4.4, and ELF for the Arm 64-bit Architecture, section 5.7.
std::vector<std::byte> build_data_object(std::span<const DataSymbol> symbols, target::Arch arch);

}  // namespace tw::codegen
