// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "engine/frontends/zoo/transformer.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

/// A transformer whose keys and values have fewer heads than its queries.
struct Llama : Transformer {
  int64_t key_heads;
  int64_t size() const { return width / heads; }  ///< of a head
};

/// x W over the last dimension, without a bias.
std::string product(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t out) {
  return b.node("MatMul", name, {x, b.random(name + ".weight", {in, out}, 0, 1 / std::sqrt(static_cast<double>(in)))});
}

/// x / sqrt(mean(x^2) + epsilon) * weight. Source: Zhang and Sennrich, "Root mean square layer normalization", NeurIPS 2019.
std::string rms_norm(OnnxBuilder& b, const std::string& name, const std::string& x, const Llama& t) {
  const std::string two = b.initializer(name + ".two", {}, {2.0F}), epsilon = b.initializer(name + ".epsilon", {}, {t.epsilon});
  const std::string mean = b.node("ReduceMean", name + ".mean", {b.node("Pow", name + ".pow", {x, two})}, {OnnxBuilder::integers("axes", {-1})});
  const std::string root = b.node("Sqrt", name + ".sqrt", {b.node("Add", name + ".add", {mean, epsilon})});
  const std::string normed = b.node("Mul", name + ".normed", {x, b.node("Reciprocal", name + ".reciprocal", {root})});
  return b.node("Mul", name, {b.random(name + ".weight", {t.width}, 1, 0.1), normed});
}

struct Rotation {
  std::string cosines, sines;  ///< [1, 1, tokens, size of a head]
};

/// Angles token / 10000^(2i / size), for both halves of a head.
Rotation rotation(OnnxBuilder& b, const Llama& t) {
  std::vector<float> cosines, sines;
  for (int64_t token = 0; token < t.tokens; ++token)
    for (int64_t j = 0; j < t.size(); ++j) {
      const int64_t i = j % (t.size() / 2);
      const double angle = static_cast<double>(token) * std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(t.size()));
      cosines.push_back(static_cast<float>(std::cos(angle)));
      sines.push_back(static_cast<float>(std::sin(angle)));
    }
  return {b.initializer("rotary.cos", {1, 1, t.tokens, t.size()}, cosines), b.initializer("rotary.sin", {1, 1, t.tokens, t.size()}, sines)};
}

/// Turns pairs (x[i], x[i + size / 2]) by the token's angles. Source: Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021.
std::string rotate(OnnxBuilder& b, const std::string& name, const std::string& x, const Rotation& r, const Llama& t) {
  const auto halves = b.split(name + ".split", x, 3, {t.size() / 2, t.size() / 2});
  const std::string turned = b.node("Concat", name + ".turned", {b.node("Neg", name + ".neg", {halves[1]}), halves[0]}, {OnnxBuilder::integer("axis", 3)});
  return b.node("Add", name, {b.node("Mul", name + ".mul_cos", {x, r.cosines}), b.node("Mul", name + ".mul_sin", {turned, r.sines})});
}

/// Every head of keys or values stands for a group of query heads.
/// Source: Ainslie et al., "GQA: training generalized multi-query transformer models from multi-head checkpoints", EMNLP 2023.
std::string repeat_heads(OnnxBuilder& b, const std::string& name, const std::string& x, const Llama& t) {
  const int64_t group = t.heads / t.key_heads;
  const std::string column = b.node("Unsqueeze", name + ".unsqueeze", {x, b.shape_constant(name + ".axis", {2})});
  const std::string wide = b.node("Expand", name + ".expand", {column, b.shape_constant(name + ".wide", {t.batch, t.key_heads, group, t.tokens, t.size()})});
  return b.node("Reshape", name, {wide, b.shape_constant(name + ".shape", {t.batch, t.heads, t.tokens, t.size()})});
}

std::string grouped_attention(OnnxBuilder& b, const std::string& name, const std::string& x, const Llama& t) {
  const int64_t key_width = t.key_heads * t.size();
  const Rotation r = rotation(b, t);
  const std::string q = split_heads(b, name + ".q", product(b, name + ".q_proj", x, t.width, t.width), t.heads, t);
  const std::string k = split_heads(b, name + ".k", product(b, name + ".k_proj", x, t.width, key_width), t.key_heads, t);
  const std::string v = split_heads(b, name + ".v", product(b, name + ".v_proj", x, t.width, key_width), t.key_heads, t);
  std::vector<float> hidden;
  for (int64_t i = 0; i < t.tokens; ++i)
    for (int64_t j = 0; j < t.tokens; ++j) hidden.push_back(j <= i ? 0 : std::numeric_limits<float>::lowest());
  const std::string causal = b.initializer(name + ".mask", {1, 1, t.tokens, t.tokens}, hidden);
  const auto mask = [&](const std::string& scores) { return b.node("Add", name + ".masked", {scores, causal}); };
  const std::string queries = rotate(b, name + ".q_rotary", q, r, t);
  const std::string keys = repeat_heads(b, name + ".k_repeat", rotate(b, name + ".k_rotary", k, r, t), t);
  const std::string mixed = attention(b, name, queries, keys, repeat_heads(b, name + ".v_repeat", v, t), t, mask);
  return product(b, name + ".o_proj", mixed, t.width, t.width);
}

/// down(silu(gate(x)) * up(x)). Source: Shazeer, "GLU variants improve transformer", 2020.
std::string gated(OnnxBuilder& b, const std::string& name, const std::string& x, const Llama& t) {
  const std::string gate = product(b, name + ".gate_proj", x, t.width, t.hidden);
  const std::string silu = b.node("Mul", name + ".silu", {gate, b.node("Sigmoid", name + ".sigmoid", {gate})});
  return product(b, name + ".down_proj", b.node("Mul", name + ".gated", {silu, product(b, name + ".up_proj", x, t.width, t.hidden)}), t.hidden, t.width);
}

Expected<OnnxModel> decoder_layer(const char* name, const Llama& t, const ZooOptions& options) {
  OnnxBuilder b(name, options.seed, 17);
  const std::string x = b.input("hidden_states", {t.batch, t.tokens, t.width});
  const std::string attended = b.node("Add", "add1", {x, grouped_attention(b, "self_attn", rms_norm(b, "input_layernorm", x, t), t)});
  b.output(b.node("Add", "add2", {attended, gated(b, "mlp", rms_norm(b, "post_attention_layernorm", attended, t), t)}), {t.batch, t.tokens, t.width});
  return b.finish();
}

}  // namespace

Expected<OnnxModel> build_llama_block(const ZooOptions& options) {
  return decoder_layer("llama_block", options.tiny ? Llama{{options.batch, 16, 48, 4, 128, 1e-5F}, 2} : Llama{{options.batch, 128, 2048, 32, 5632, 1e-5F}, 4}, options);
}

Expected<OnnxModel> build_llama_7b_block(const ZooOptions& options) {
  return decoder_layer("llama_7b_block", options.tiny ? Llama{{options.batch, 10, 48, 4, 129, 1e-6F}, 4} : Llama{{options.batch, 100, 4096, 32, 11008, 1e-6F}, 32}, options);
}

}  // namespace tw::frontends
