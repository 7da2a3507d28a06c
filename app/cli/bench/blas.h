// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/bench/peers.h"

namespace tw::cli::bench {

/// `cblas_sgemm` of a library: its numbers are int or int64_t.
struct Sgemm {
  void* function = nullptr;
  bool wide = false;
};
/// A peer that multiplies matrices with it, packing both operands on every call, and has no convolutions.
std::unique_ptr<Peer> blas_peer(std::string name, Sgemm sgemm, std::string description);

}  // namespace tw::cli::bench
