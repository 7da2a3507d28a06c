// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <utility>

#include "engine/base/host_array.h"
#include "engine/runtime/artifact.h"

namespace tw::testing {

/// An argument in its layout. What pads the last blocks of one that is not constant may be anything: here it is what no result may depend on, all bits set, which
/// is NaN, or -1.
inline HostArray packed_input(const runtime::ArgSpec& spec, const HostArray& row_major) {
  HostArray out = HostArray::make(spec.dtype, spec.physical_shape());
  runtime::pack_layout(spec, row_major.data.data(), out.data.data());
  if (spec.constant || spec.layout.empty() || spec.dtype.is_bool()) return out;
  HostArray all = row_major, real = out;
  std::memset(all.data.data(), 0xff, all.data.size());
  runtime::pack_layout(spec, all.data.data(), real.data.data());
  const std::byte *given = std::as_const(real).data.data();
  std::byte* bytes = out.data.data();
  for (size_t k = 0; k < out.data.size(); ++k)
    if (given[k] == std::byte{0}) bytes[k] = std::byte{0xff};
  return out;
}

}  // namespace tw::testing
