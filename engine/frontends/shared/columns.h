// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/emitter.h"

namespace tw::frontends {

/// Windows over an image, by dimension of it; each is a column of [N, C * window, windows].
struct Columns {
  Dims image, block;  ///< extents of the image and of a window
  Dims dilations, strides;
  Dims before, after;  ///< padding around the image
};

/// [N, C, image...] of columns, where windows overlap their sum: every position gathers from all elements that fall on it, and zeros where none does. Errors: as of the emitter, for what does not fit together or is
/// too large. Source: the ONNX operator reference, Col2Im-18; PyTorch's fold.
int columns_to_image(Emitter& n, int x, const Columns& c);

}  // namespace tw::frontends
