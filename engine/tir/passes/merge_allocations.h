// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Arrays that are never needed at the same time share memory.
/// Rewrite: A = alloc(n); B = alloc(m); { S(A); T(A, X); U(X, B) }  =>  A = alloc(max(n, m)); { S(A); T(A, X); U(X, A) }
/// Arrays of one element type and scope that are allocated together qualify; an array is needed from the first to the last statement that names it. Small
/// local arrays whose every index is constant stay apart, since LLVM keeps those in registers. Works on flat indices. An array that takes over where another
/// is read for the last time in the same statement does not share with it.
/// Source: storage rewriting of TVM (Chen et al., OSDI 2018); assignment by first fit as in linear-scan allocation (Poletto and Sarkar, TOPLAS 1999).
Func merge_allocations(const Func& f, const Target& target);

}  // namespace tw::tir
