// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/output_checks.h"

#include <cmath>
#include <cstring>

#include "engine/base/text.h"

namespace tw::measure {

std::string difference(const HostArray& first, const HostArray& second, const std::string& name) {
  if (first.data == second.data) return {};
  const auto size = static_cast<size_t>(first.dtype.bytes());
  int64_t differing = 0, at = -1;
  bool untouched = true;
  for (int64_t i = 0; i < first.num_elements(); ++i) {
    const std::byte* a = first.data.data() + static_cast<size_t>(i) * size;
    const std::byte* b = second.data.data() + static_cast<size_t>(i) * size;
    if (std::memcmp(a, b, size) == 0) continue;
    if (at < 0) at = i;
    ++differing;
    for (size_t k = 0; k < size; ++k) untouched &= a[k] == std::byte{kFirstPattern} && b[k] == std::byte{kSecondPattern};
  }
  if (untouched) return fmt::format("The kernel never wrote {} elements of output \"{}\", first element {}", differing, name, at);
  return fmt::format("Two runs of the kernel differ in {} elements of output \"{}\", first element {}: it reads what stood there before", differing, name, at);
}

int64_t first_nan(const HostArray& a) {
  if (!a.dtype.is_float()) return -1;
  const int64_t n = a.num_elements();
  if (a.dtype == kFloat32) {
    for (int64_t i = 0; i < n; ++i) {
      float v;
      std::memcpy(&v, a.data.data() + i * 4, 4);
      if (std::isnan(v)) return i;
    }
    return -1;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(a.get(i))) return i;
  }
  return -1;
}

bool collect_values(const MeasureJob& job, const std::vector<HostArray>& outputs, std::vector<std::byte>& payload) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!job.positions[o]) {
      payload.insert(payload.end(), outputs[o].data.begin(), outputs[o].data.end());
      continue;
    }
    const auto size = static_cast<size_t>(outputs[o].dtype.bytes());
    for (const int64_t p : *job.positions[o]) {
      if (p < 0 || p >= outputs[o].num_elements()) return false;
      const std::byte* at = outputs[o].data.data() + static_cast<size_t>(p) * size;
      payload.insert(payload.end(), at, at + size);
    }
  }
  return true;
}

}  // namespace tw::measure
