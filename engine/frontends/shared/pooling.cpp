// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/shared/pooling.h"

namespace tw::frontends {

void cut_windows(Dims& kernel, const Dims& image, const Dims& strides, const Dims& dilations, const Dims& pads) {
  for (size_t d = 0; d < kernel.size(); ++d) {
    const int64_t padded = image[d] + pads[d] + pads[d + kernel.size()], beyond = kernel[d] - padded;
    if (dilations[d] == 1 && beyond > 0 && beyond < strides[d]) kernel[d] = padded;
  }
}

}  // namespace tw::frontends
