// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/host_array.h"

/// NumPy's array files.
/// Source: NumPy Enhancement Proposal 1 (format versions 1.0 and 2.0).
namespace tw::cli {

/// C or Fortran order, little-endian, float16/32/64, int8 to int64, uint8 to uint64, bool.
/// Errors: not_found, io_error, parse_error for anything that is not a whole file of these.
Expected<HostArray> read_npy(const std::string& path);
/// Over an earlier array or to a new file. bfloat16 is written as float32, because NumPy has no such type.
Expected<void> write_npy(const HostArray& array, const std::string& path);

/// The same in memory; `where` names the source in errors.
Expected<HostArray> npy_from_bytes(std::string_view bytes, const std::string& where);
std::string npy_to_bytes(const HostArray& array);

}  // namespace tw::cli
