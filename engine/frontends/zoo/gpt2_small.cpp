// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "engine/frontends/zoo/transformer.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Source: Hendrycks and Gimpel, "Gaussian error linear units", 2016.
std::string gelu_tanh(OnnxBuilder& b, const std::string& name, const std::string& x) {
  const auto number = [&](const char* what, double v) { return b.initializer(name + what, {}, {static_cast<float>(v)}); };
  const std::string cube = b.node("Mul", name + ".cubic", {b.node("Pow", name + ".pow", {x, number(".three", 3)}), number(".factor", 0.044715)});
  const std::string inner = b.node("Mul", name + ".inner", {b.node("Add", name + ".sum", {x, cube}), number(".root", std::sqrt(2 / std::numbers::pi))});
  const std::string gate = b.node("Add", name + ".gate", {b.node("Tanh", name + ".tanh", {inner}), number(".one", 1)});
  return b.node("Mul", name, {b.node("Mul", name + ".half", {x, number(".one_half", 0.5)}), gate});
}

/// One projection makes queries, keys and values; `visible` holds which token sees which.
std::string causal_attention(OnnxBuilder& b, const std::string& name, const std::string& x, const std::string& visible, const Transformer& t) {
  const auto parts = b.split(name + ".split", b.linear(name + ".c_attn", x, t.width, 3 * t.width), 2, {t.width, t.width, t.width});
  const std::string q = split_heads(b, name + ".query", parts[0], t.heads, t), k = split_heads(b, name + ".key", parts[1], t.heads, t);
  const std::string v = split_heads(b, name + ".value", parts[2], t.heads, t);
  const std::string hidden = b.initializer(name + ".hidden", {}, {-1e4F});
  const auto mask = [&](const std::string& scores) { return b.node("Where", name + ".masked", {visible, scores, hidden}); };
  return b.linear(name + ".c_proj", attention(b, name, q, k, v, t, mask), t.width, t.width);
}

}  // namespace

Expected<OnnxModel> build_gpt2_small(const ZooOptions& options) {
  const int64_t layers = options.tiny ? 2 : 12, vocabulary = options.tiny ? 100 : 50257, positions = options.tiny ? 32 : 1024;
  Transformer t{options.batch, options.tiny ? 16 : 128, options.tiny ? 48 : 768, options.tiny ? 3 : 12, options.tiny ? 192 : 3072};
  OnnxBuilder b("gpt2_small", options.seed, 17);
  const std::string ids = b.integer_input("input_ids", {t.batch, t.tokens});
  const std::string words = b.random("wte.weight", {vocabulary, t.width}, 0, 0.05), table = b.random("wpe.weight", {positions, t.width}, 0, 0.02);
  const std::string places = b.node("Slice", "places", {table, b.shape_constant("places.starts", {0}), b.shape_constant("places.ends", {t.tokens})});
  std::vector<bool> lower;
  for (int64_t i = 0; i < t.tokens; ++i)
    for (int64_t j = 0; j < t.tokens; ++j) lower.push_back(j <= i);
  const std::string visible = b.boolean_constant("visible", {1, 1, t.tokens, t.tokens}, lower);
  std::string x = b.node("Add", "embedded", {b.node("Gather", "words", {words, ids}), places});
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = "h." + std::to_string(i);
    x = b.node("Add", name + ".add1", {x, causal_attention(b, name + ".attn", layer_norm(b, name + ".ln_1", x, t), visible, t)});
    const std::string up = b.linear(name + ".mlp.c_fc", layer_norm(b, name + ".ln_2", x, t), t.width, t.hidden);
    x = b.node("Add", name + ".add2", {x, b.linear(name + ".mlp.c_proj", gelu_tanh(b, name + ".mlp.act", up), t.hidden, t.width)});
  }
  // The table of words serves as the output projection too.
  const std::string turned = b.node("Transpose", "lm_head.weight", {words}, {OnnxBuilder::integers("perm", {1, 0})});
  b.output(b.node("MatMul", "logits", {layer_norm(b, "ln_f", x, t), turned}), {t.batch, t.tokens, vocabulary});
  return b.finish();
}

}  // namespace tw::frontends
