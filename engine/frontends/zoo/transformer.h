// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

/// Sizes of a transformer.
struct Transformer {
  int64_t batch, tokens, width, heads, hidden;
  float epsilon = 1e-5F;
};

/// Layer normalisation over the last dimension.
std::string layer_norm(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t);
/// [batch, tokens, heads * size] to [batch, heads, tokens, size], with `t.width / t.heads` as the size.
std::string split_heads(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t heads, const Transformer& t);
/// Adds a mask to the scores [batch, heads, tokens, tokens], or puts one over them; returns the result.
using Mask = std::function<std::string(const std::string& scores)>;
/// softmax(mask(q k^T / sqrt(size))) v of [batch, heads, tokens, size] each, as [batch, tokens, width].
/// Source: Vaswani et al., "Attention is all you need", NeurIPS 2017.
std::string attention(OnnxBuilder& b, const std::string& name, const std::string& q, const std::string& k, const std::string& v, const Transformer& t,
                      const Mask& mask = {});
/// The vision transformer of base size with square patches of that many pixels; the small one has half of them.
Expected<OnnxModel> vision_transformer(const char* name, int64_t patch, const ZooOptions& options);
/// Attention of x to itself with its four projections.
std::string self_attention(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t);
/// Two linear maps with x * Phi(x) between them, written with Erf. Source: Hendrycks and Gimpel, "Gaussian error linear units", 2016.
std::string feed_forward(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t);

}  // namespace tw::frontends
