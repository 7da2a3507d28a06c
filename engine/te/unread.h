// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/te/dag.h"

namespace tw::te {

/// Bytes of operands that no run reads: of an array whose elements are read only where others say, as rows of an embedding are, there are at most as many read
/// as the loops fetch.
int64_t unread_bytes(const Dag& dag);

}  // namespace tw::te
