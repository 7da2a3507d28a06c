// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

/// Whether it pays to leave out turns of so many updates each, a vector being one, where on average so many turns with the same piece of the other factor can be. That
/// piece comes from memory the first time, and processors foresee it as long as nothing is left out: a gap costs a few accesses to memory.
bool pays_to_leave_out(double turns, double updates);

/// Sums leave out turns of a loop that would add nothing but zeros, such as taps of a window that lie in the padding; then padding that nobody reads is not written.
/// A sum takes part where its loops hold nothing else, and what it adds is zero beside known bounds: it is a factor that an array holds inside a box only (all stores
/// to it are zeros, or zeros where a select's condition fails), or such a select itself. A turn is left out whole or not at all: what the loops inside it read is
/// taken together. Factors beside the zeros are taken for finite.
/// What an array holds is left out where that pays for the gap in what is read beside it; a select always, since it is a test for each element.
/// Where all loops of an index are to be written out each of their turns is judged by itself, ahead of time.
/// Rewrite: for k { for j { s += P[i + k] * W[k] } }  =>  for k { if lo <= i + k and i + k < hi { for j { ... } } }
Func skip_padding(const Func& f, const Target& target);

}  // namespace tw::tir
