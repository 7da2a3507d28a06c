// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/transformer.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

Expected<OnnxModel> vision_transformer(const char* name_of, int64_t full_patch, const ZooOptions& options) {
  const int64_t image = options.tiny ? 32 : 224, patch = options.tiny ? full_patch / 2 : full_patch, classes = options.tiny ? 10 : 1000;
  const int64_t side = image / patch, layers = options.tiny ? 2 : 12;
  Transformer t{options.batch, side * side + 1, options.tiny ? 48 : 768, options.tiny ? 3 : 12, options.tiny ? 96 : 3072, 1e-6F};
  OnnxBuilder b(name_of, options.seed, 17);
  std::string x = b.input("input", {t.batch, 3, image, image});
  x = b.conv("conv_proj", x, {.in = 3, .out = t.width, .kernel = patch, .stride = patch, .bias = true});
  x = b.node("Reshape", "patches", {x, b.shape_constant("patches.shape", {t.batch, t.width, side * side})});
  x = b.node("Transpose", "tokens", {x}, {OnnxBuilder::integers("perm", {0, 2, 1})});
  const std::string token = b.random("class_token", {1, 1, t.width}, 0, 0.02);
  const std::string tokens = b.node("Expand", "class_tokens", {token, b.shape_constant("class_tokens.shape", {t.batch, 1, t.width})});
  x = b.node("Concat", "with_class", {tokens, x}, {OnnxBuilder::integer("axis", 1)});
  x = b.node("Add", "positions", {x, b.random("encoder.pos_embedding", {1, t.tokens, t.width}, 0, 0.02)});
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = "encoder.layer_" + std::to_string(i);
    x = b.node("Add", name + ".add1", {self_attention(b, name + ".attention", layer_norm(b, name + ".ln_1", x, t), t), x});
    x = b.node("Add", name + ".add2", {x, feed_forward(b, name + ".mlp", layer_norm(b, name + ".ln_2", x, t), t)});
  }
  x = layer_norm(b, "encoder.ln", x, t);
  const std::string starts = b.shape_constant("class.starts", {0}), ends = b.shape_constant("class.ends", {1}), axes = b.shape_constant("class.axes", {1});
  x = b.node("Slice", "class", {x, starts, ends, axes});
  x = b.node("Reshape", "class_row", {x, b.shape_constant("class_row.shape", {t.batch, t.width})});
  b.output(b.gemm("heads.head", x, t.width, classes), {t.batch, classes});
  return b.finish();
}

Expected<OnnxModel> build_vit_b_16(const ZooOptions& options) { return vision_transformer("vit_b_16", 16, options); }

}  // namespace tw::frontends
