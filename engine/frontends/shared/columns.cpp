// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/shared/columns.h"

namespace tw::frontends {

int columns_to_image(Emitter& n, int x, const Columns& c) {
  for (const Dims* d : {&c.block, &c.dilations, &c.strides, &c.before, &c.after})
    if (c.image.empty() || d->size() != c.image.size()) n.invalid("shapes, dilations, pads and strides that do not fit together");
  Dims pads = c.before;
  pads.insert(pads.end(), c.after.begin(), c.after.end());
  return n.emit("columns_to_image", {x}, attrs({{"image", c.image}, {"kernel", c.block}, {"strides", c.strides}, {"dilations", c.dilations}, {"pads", pads}}));
}

}  // namespace tw::frontends
