// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/transformer.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

Expected<OnnxModel> build_vit_b_32(const ZooOptions& options) { return vision_transformer("vit_b_32", 32, options); }

}  // namespace tw::frontends
