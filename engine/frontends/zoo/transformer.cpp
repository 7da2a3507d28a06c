// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/transformer.h"

#include <cmath>
#include <numbers>

namespace tw::frontends {

std::string layer_norm(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t) {
  const std::string scale = b.random(name + ".weight", {t.width}, 1, 0.1), bias = b.random(name + ".bias", {t.width}, 0, 0.05);
  return b.node("LayerNormalization", name, {x, scale, bias}, {OnnxBuilder::integer("axis", -1), OnnxBuilder::real("epsilon", t.epsilon)});
}

std::string split_heads(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t heads, const Transformer& t) {
  const std::string shape = b.shape_constant(name + ".shape", {t.batch, t.tokens, heads, t.width / t.heads});
  return b.node("Transpose", name + ".transpose", {b.node("Reshape", name + ".reshape", {x, shape})}, {OnnxBuilder::integers("perm", {0, 2, 1, 3})});
}

std::string attention(OnnxBuilder& b, const std::string& name, const std::string& q, const std::string& k, const std::string& v, const Transformer& t,
                      const Mask& mask) {
  const std::string turned = b.node("Transpose", name + ".key_t", {k}, {OnnxBuilder::integers("perm", {0, 1, 3, 2})});
  const std::string scale = b.initializer(name + ".scale", {}, {static_cast<float>(std::sqrt(static_cast<double>(t.width / t.heads)))});
  const std::string scores = b.node("Div", name + ".scaled", {b.node("MatMul", name + ".scores", {q, turned}), scale});
  const std::string weights = b.node("Softmax", name + ".softmax", {mask ? mask(scores) : scores}, {OnnxBuilder::integer("axis", -1)});
  const std::string mixed =
      b.node("Transpose", name + ".mixed_t", {b.node("MatMul", name + ".mixed", {weights, v})}, {OnnxBuilder::integers("perm", {0, 2, 1, 3})});
  return b.node("Reshape", name + ".joined", {mixed, b.shape_constant(name + ".joined.shape", {t.batch, t.tokens, t.width})});
}

std::string self_attention(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t) {
  const auto projected = [&](const char* what) { return split_heads(b, name + what, b.linear(name + what, x, t.width, t.width), t.heads, t); };
  const std::string q = projected(".query"), k = projected(".key"), v = projected(".value");
  return b.linear(name + ".output", attention(b, name, q, k, v, t), t.width, t.width);
}

std::string feed_forward(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t) {
  const std::string h = b.linear(name + ".up", x, t.width, t.hidden);
  const std::string root = b.initializer(name + ".sqrt2", {}, {static_cast<float>(std::numbers::sqrt2)});
  const std::string one = b.initializer(name + ".one", {}, {1.0F}), half = b.initializer(name + ".half", {}, {0.5F});
  const std::string phi = b.node("Add", name + ".gelu.add", {b.node("Erf", name + ".gelu.erf", {b.node("Div", name + ".gelu.div", {h, root})}), one});
  const std::string gelu = b.node("Mul", name + ".gelu", {b.node("Mul", name + ".gelu.mul", {h, phi}), half});
  return b.linear(name + ".down", gelu, t.hidden, t.width);
}

}  // namespace tw::frontends
