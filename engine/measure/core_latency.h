// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw::measure {

/// Seconds that a change of one word takes from processor `a` to processor `b`: the least of several short exchanges, some 50 us together.
/// The calling thread runs on `a` meanwhile; a second one runs on `b`. 0 if the system refuses to bind one of them.
/// On a virtual machine the host may move processors: siblings of one core, cores behind one cache and cores behind two differ by factors, and so do kernels
/// that share data between threads. Two times compare only if this was alike around both.
double core_latency_s(int a, int b);

}  // namespace tw::measure
