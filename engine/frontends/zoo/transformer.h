// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/zoo/onnx_builder.h"

namespace tw::frontends {

/// Sizes of a transformer encoder.
struct Transformer {
  int64_t batch, tokens, width, heads, hidden;
  float epsilon = 1e-5F;
};

/// Layer normalisation over the last dimension.
std::string layer_norm(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t);
/// Multi-head self-attention with its output projection. Source: Vaswani et al., "Attention is all you need", NeurIPS 2017.
std::string self_attention(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t);
/// Two linear maps with x * Phi(x) between them, written with Erf. Source: Hendrycks and Gimpel, "Gaussian error linear units", 2016.
std::string feed_forward(OnnxBuilder& b, const std::string& name, const std::string& x, const Transformer& t);

}  // namespace tw::frontends
