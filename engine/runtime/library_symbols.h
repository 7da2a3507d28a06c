// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tw::runtime {

/// What generated code may call by name: mathematics and copies of the C library. Null for other names.
void* library_symbol(std::string_view name);

/// Lengths of the vectors that the C library's functions of vectors take, by the instructions that they are written for.
enum class VectorAbi : char { sse = 'b', avx2 = 'd', avx512 = 'e' };
constexpr int vector_bits(VectorAbi a) { return a == VectorAbi::avx512 ? 512 : a == VectorAbi::avx2 ? 256 : 128; }

/// The name of the function that computes `function` ("sin", "pow") of `arguments` whole vectors of floats of 32 or 64 bits; empty where the library has none.
/// Within 4 units in the last place. Source: GNU C library 2.35, libmvec; x86 Vector Function ABI.
std::string vector_function(std::string_view function, int arguments, int bits, VectorAbi abi);

}  // namespace tw::runtime
