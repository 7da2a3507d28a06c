// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/transformer.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

Expected<OnnxModel> build_bert_base(const ZooOptions& options) {
  const int64_t layers = options.tiny ? 2 : 12, vocabulary = options.tiny ? 100 : 30522, positions = options.tiny ? 32 : 512;
  Transformer t{options.batch, options.tiny ? 16 : 128, options.tiny ? 48 : 768, options.tiny ? 3 : 12, options.tiny ? 96 : 3072, 1e-12F};
  OnnxBuilder b("bert_base", options.seed, 17);
  const std::string words = b.integer_input("input_ids", {t.batch, t.tokens}), types = b.integer_input("token_type_ids", {t.batch, t.tokens});
  // Every token stands at its own place: the rows of the position table up to the number of tokens.
  const std::string table = b.random("embeddings.position", {positions, t.width}, 0, 0.3);
  const std::string places = b.node("Slice", "embeddings.places", {table, b.shape_constant("places.starts", {0}), b.shape_constant("places.ends", {t.tokens})});
  std::string x = b.node("Gather", "embeddings.words", {b.random("embeddings.word", {vocabulary, t.width}, 0, 0.5), words});
  x = b.node("Add", "embeddings.add1", {x, b.node("Gather", "embeddings.types", {b.random("embeddings.type", {2, t.width}, 0, 0.3), types})});
  x = layer_norm(b, "embeddings.norm", b.node("Add", "embeddings.add2", {x, places}), t);
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = "encoder.layer." + std::to_string(i);
    x = layer_norm(b, name + ".attention.norm", b.node("Add", name + ".attention.add", {self_attention(b, name + ".attention", x, t), x}), t);
    x = layer_norm(b, name + ".output.norm", b.node("Add", name + ".output.add", {feed_forward(b, name, x, t), x}), t);
  }
  b.output(x, {t.batch, t.tokens, t.width});
  const std::string starts = b.shape_constant("first.starts", {0}), ends = b.shape_constant("first.ends", {1}), axes = b.shape_constant("first.axes", {1});
  const std::string first =
      b.node("Reshape", "first_row", {b.node("Slice", "first", {x, starts, ends, axes}), b.shape_constant("first_row.shape", {t.batch, t.width})});
  b.output(b.node("Tanh", "pooled", {b.linear("pooler", first, t.width, t.width)}), {t.batch, t.width});
  return b.finish();
}

}  // namespace tw::frontends
