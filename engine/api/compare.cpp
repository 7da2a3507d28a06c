// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/api/compile.h"

namespace tw::api {

Difference compare(const HostArray& got, const HostArray& want) {
  TW_ASSERT(got.shape == want.shape && got.dtype == want.dtype, "arrays of different types");
  Difference d;
  double largest = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double g = got.get(i), w = want.get(i);
    if (std::isfinite(w)) largest = std::max(largest, std::abs(w));
    // Two NaNs and two equal infinities agree; one of them alone is as wrong as can be.
    double e = g == w || (std::isnan(g) && std::isnan(w)) ? 0 : std::abs(g - w);
    if (std::isnan(e)) e = std::numeric_limits<double>::infinity();
    if (e > d.max_abs || d.at < 0) {
      d.max_abs = e;
      d.at = i;
    }
  }
  d.max_rel = d.max_abs / std::max(largest, kLeastScale);
  return d;
}

}  // namespace tw::api
