// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/shared/attention.h"
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

/// [..., sequence, size] with all leading dimensions but the heads as one batch.
int four_dimensions(TorchNode& n, int x) {
  const Dims s = n.shape(x);
  if (s.size() < 2) n.invalid(fmt::format("expected queries, keys and values of rank 2 or more, found {}", shape_text(s)));
  if (s.size() == 4) return x;
  int64_t batch = 1;
  for (size_t d = 0; d + 3 < s.size(); ++d) batch *= s[d];
  return n.reshape(x, {batch, s.size() > 2 ? s[s.size() - 3] : 1, s[s.size() - 2], s.back()});
}

/// Source: torch.nn.functional.scaled_dot_product_attention in PyTorch's documentation.
AttentionResult attended(TorchNode& n, Dims& shape) {
  Attention a;
  const int q = n.tensor("query");
  shape = n.shape(q);
  a.q = four_dimensions(n, q);
  a.k = four_dimensions(n, n.tensor("key"));
  a.v = four_dimensions(n, n.tensor("value"));
  if (n.real("dropout_p", 0) != 0) n.unsupported("random dropout: export the model after model.eval()");
  a.scale = n.has("scale") ? n.real("scale", 1) : 1 / std::sqrt(static_cast<double>(n.shape(a.q)[3]));
  if (n.boolean("is_causal", false)) a.right = 0;
  if (n.has("attn_mask") || n.has("attn_bias")) {
    int mask = n.tensor(n.has("attn_mask") ? "attn_mask" : "attn_bias");
    if (n.rank(mask) > 4) mask = four_dimensions(n, mask);
    if (n.rank(mask) == 3 && shape.size() == 3) {
      const Dims m = n.shape(mask);
      mask = n.reshape(mask, {1, m[0], m[1], m[2]});
    }
    a.mask = mask;
  }
  // Statistics of 16-bit scores are kept in float32.
  a.softmax_type = n.dtype(a.q).bits < 32 ? kFloat32 : n.dtype(a.q);
  // Batches and heads that broadcast.
  const Dims qs = n.shape(a.q);
  for (int* v : {&a.k, &a.v}) {
    Dims s = n.shape(*v);
    s[0] = qs[0];
    if (s[1] == 1 || qs[1] % s[1] != 0) s[1] = n.shape(*v)[1] == 1 ? 1 : s[1];
    *v = n.broadcast(*v, s);
  }
  shape.back() = n.shape(a.v)[3];
  return attention(n, a);
}

TorchResults scaled_dot_product_attention(TorchNode& n) {
  Dims shape;
  const AttentionResult r = attended(n, shape);
  return n.one(n.reshape(r.y, shape));
}
/// Forms that hand on what training needs.
TorchResults attention_with_statistics(TorchNode& n) {
  Dims shape;
  const AttentionResult r = attended(n, shape);
  TorchResults out{{.value = n.reshape(r.y, shape)}};
  out.resize(9);
  return out;
}

/// Attention of a module with one projection for queries, keys and values. x [batch, sequence, size].
int self_attention(TorchNode& n, int x, int64_t heads) {
  const Dims s = n.shape(x);
  if (s.size() != 3 || heads < 1 || s[2] % heads != 0) n.unsupported(fmt::format("data of shape {} with {} heads", shape_text(s), heads));
  if (n.has("mask")) n.unsupported("a mask: export the model, or trace it with gradients on");
  const int projected = n.reshape(n.emit("dense", {n.reshape(x, {s[0] * s[1], s[2]}), n.tensor("qkv_weight"), n.tensor("qkv_bias")}), {s[0], s[1], 3, heads, s[2] / heads});
  const int turned = n.transpose(projected, {2, 0, 3, 1, 4});
  Attention a;
  a.q = n.select(turned, 0, 0);
  a.k = n.select(turned, 0, 1);
  a.v = n.select(turned, 0, 2);
  a.scale = 1 / std::sqrt(static_cast<double>(s[2] / heads));
  a.softmax_type = n.dtype(x).bits < 32 ? kFloat32 : n.dtype(x);
  const int joined = n.reshape(n.transpose(attention(n, a).y, {0, 2, 1, 3}), {s[0] * s[1], s[2]});
  return n.reshape(n.emit("dense", {joined, n.tensor("proj_weight"), n.tensor("proj_bias")}), s);
}

/// What PyTorch's own modules call at once where no gradients are wanted.
TorchResults native_multi_head_attention(TorchNode& n) {
  const int query = n.tensor("query");
  if (n.tensor("key") != query || n.tensor("value") != query) n.unsupported("queries, keys and values that are not the same tensor");
  return {{.value = self_attention(n, query, n.integer("num_head", 1))}, {}};
}
TorchResults transformer_encoder_layer(TorchNode& n) {
  int x = n.tensor("src");
  const bool first = n.boolean("norm_first", false);
  const auto normalised = [&](int v, const char* weight, const char* bias) {
    return n.emit("layer_norm", {v, n.tensor(weight), n.tensor(bias)}, attrs({{"axis", n.rank(v) - 1}, {"epsilon", n.real("eps", 1e-5)}}));
  };
  const auto one = [&](int v) { return normalised(v, "norm_weight_1", "norm_bias_1"); };
  const auto two = [&](int v) { return normalised(v, "norm_weight_2", "norm_bias_2"); };
  const auto forward = [&](int v) {
    const Dims s = n.shape(v);
    const int wide = n.emit("dense", {n.reshape(v, {s[0] * s[1], s[2]}), n.tensor("ffn_weight_1"), n.tensor("ffn_bias_1")});
    const int bent = n.boolean("use_gelu", false) ? n.emit("gelu", {wide}, attrs({{"approximate", std::string("none")}})) : n.emit("relu", {wide});
    return n.reshape(n.emit("dense", {bent, n.tensor("ffn_weight_2"), n.tensor("ffn_bias_2")}), s);
  };
  const int64_t heads = n.integer("num_heads", 1);
  x = n.binary("add", x, self_attention(n, first ? one(x) : x, heads));
  if (!first) x = one(x);
  x = n.binary("add", x, forward(first ? two(x) : x));
  return n.one(first ? x : two(x));
}

constexpr AtenOp kAtenAttention[] = {
    {"aten._native_multi_head_attention", native_multi_head_attention},
    {"aten._scaled_dot_product_attention_math", attention_with_statistics},
    {"aten._scaled_dot_product_efficient_attention", attention_with_statistics},
    {"aten._scaled_dot_product_flash_attention", attention_with_statistics},
    {"aten._scaled_dot_product_flash_attention_for_cpu", attention_with_statistics},
    {"aten._transformer_encoder_layer_fwd", transformer_encoder_layer},
    {"aten.scaled_dot_product_attention", scaled_dot_product_attention},
};

}  // namespace

std::span<const AtenOp> aten_attention() { return kAtenAttention; }

}  // namespace tw::frontends
