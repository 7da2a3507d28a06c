// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/inputs.h"

#include <cstring>

#include "engine/base/hash.h"
#include "engine/base/rng.h"

namespace tw::measure {

namespace {

uint64_t mix(uint64_t seed, int64_t i) { return Rng(seed + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15ULL).next(); }
double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace

void fill_random(DType dtype, int64_t n, const InputRange& range, uint64_t seed, std::byte* out) {
  const double width = range.hi - range.lo;
  if (dtype == kFloat32) {
    for (int64_t i = 0; i < n; ++i) {
      const auto v = static_cast<float>(range.lo + width * unit(mix(seed, i)));
      std::memcpy(out + i * 4, &v, 4);
    }
    return;
  }
  HostArray one = HostArray::make(dtype, {1});
  const auto choices = static_cast<uint64_t>(width) + 1;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = mix(seed, i);
    if (dtype.is_float()) {
      one.set(0, range.lo + width * unit(bits));
    } else {
      one.set_int(0, static_cast<int64_t>(range.lo) + static_cast<int64_t>((bits >> 32) % choices));
    }
    std::memcpy(out + i * dtype.bytes(), one.data.data(), static_cast<size_t>(dtype.bytes()));
  }
}

uint64_t input_seed(uint64_t seed, int i) { return hash_combine(Rng(seed).next(), static_cast<uint64_t>(i) + 1); }

}  // namespace tw::measure
