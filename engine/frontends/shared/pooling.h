// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/emitter.h"

namespace tw::frontends {

/// Where windows of a pooling may reach beyond the image (ceil_mode), one larger than the image with its padding is all that there is: it is cut to that, since what lies beyond counts for nothing. `image`: spatial
/// extents; `pads`: before each, then after each. Source: PyTorch's pooling_output_shape; HuggingFace's EfficientNet pools by windows of as many elements as it has channels.
void cut_windows(Dims& kernel, const Dims& image, const Dims& strides, const Dims& dilations, const Dims& pads);

}  // namespace tw::frontends
