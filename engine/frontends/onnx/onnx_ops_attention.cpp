// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/shared/attention.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// [batch, sequence, heads * size] as [batch, heads, sequence, size]; tensors of rank 4 as they are.
int heads_apart(OnnxNode& n, int x, int64_t heads, const char* what) {
  if (n.rank(x) == 4) return x;
  const Dims s = n.shape(x);
  if (s.size() != 3 || heads < 1 || s[2] % heads != 0)
    n.invalid(fmt::format("expected {} of rank 4, or of rank 3 with a multiple of {} heads, found {}", what, heads, shape_text(s)));
  return n.transpose(n.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

int heads_together(OnnxNode& n, int x) {
  const Dims s = n.shape(x);
  return n.reshape(n.transpose(x, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
}

DType softmax_type(const OnnxNode& n, DType fallback) {
  if (!n.has_attr("softmax_precision")) return fallback;
  auto type = dtype_of_onnx(n.integer("softmax_precision", 0));
  if (!type || !type->is_float()) n.unsupported("a softmax in element type " + onnx_dtype_name(n.integer("softmax_precision", 0)));
  return *type;
}

double scale_of(const OnnxNode& n, int q) { return n.has_attr("scale") ? n.real("scale", 1) : 1 / std::sqrt(static_cast<double>(n.shape(q)[3])); }

/// Source: Attention-23, -24 and -25 in the ONNX operator reference.
Results attention_op(OnnxNode& n) {
  Attention a;
  const bool flat = n.rank(n.in(0)) == 3;
  a.q = heads_apart(n, n.in(0), n.integer("q_num_heads", 0), "queries");
  a.k = heads_apart(n, n.in(1), n.integer("kv_num_heads", 0), "keys");
  a.v = heads_apart(n, n.in(2), n.integer("kv_num_heads", 0), "values");
  if (n.has(4) != n.has(5)) n.invalid("past keys and values go together");
  if (n.has(4)) {
    if (n.rank(n.in(4)) != 4 || n.rank(n.in(5)) != 4) n.invalid("expected past keys and values of rank 4");
    a.offset = n.shape(n.in(4))[2];
    a.k = n.concat({n.in(4), a.k}, 2);
    a.v = n.concat({n.in(5), a.v}, 2);
  }
  if (n.has(6)) a.lengths = n.cast(n.in(6), kInt64);
  a.mask = n.optional(3);
  a.scale = scale_of(n, a.q);
  a.softcap = n.real("softcap", 0);
  a.left = n.integer("left_window_size", -1);
  a.right = n.integer("right_window_size", -1);
  if (n.integer("is_causal", 0)) a.right = 0;
  a.softmax_type = softmax_type(n, n.dtype(a.q));
  const AttentionResult r = attention(n, a);
  const int64_t mode = n.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) n.invalid(fmt::format("expected a qk_matmul_output_mode from 0 to 3, found {}", mode));
  const int shown = mode == 0 ? r.products : mode == 1 ? r.capped : mode == 2 ? r.biased : r.probabilities;
  return {flat ? heads_together(n, r.y) : r.y, a.k, a.v, shown};
}

/// Attention with graphs that change the scores and the probabilities. Source: FlexAttention-1 of ai.onnx.preview.
Results flex_attention(OnnxNode& n) {
  Attention a;
  a.q = n.in(0);
  a.k = n.in(1);
  a.v = n.in(2);
  if (n.rank(a.q) != 4) n.invalid(fmt::format("expected queries of rank 4, found {}", shape_text(n.shape(a.q))));
  a.scale = scale_of(n, a.q);
  a.softmax_type = softmax_type(n, n.dtype(a.q) == kFloat64 ? kFloat64 : kFloat32);
  const auto changed = [&n](const char* name) -> std::function<int(int)> {
    if (!n.has_attr(name)) return {};
    return [&n, name](int v) {
      const Results out = n.importer().inline_graph(n.subgraph(name), n.scope(), {v});
      if (out.size() != 1 || out[0] < 0 || n.shape(out[0]) != n.shape(v)) n.invalid(fmt::format("expected '{}' to keep the shape {}", name, shape_text(n.shape(v))));
      return out[0];
    };
  };
  a.change_scores = changed("score_mod");
  a.change_probabilities = changed("prob_mod");
  return {attention(n, a).y};
}

/// Pairs of elements turned by angles that depend on the position. Source: Su et al., "RoFormer", 2021; RotaryEmbedding-23.
Results rotary_embedding(OnnxNode& n) {
  const int x = n.in(0);
  const bool flat = n.rank(x) == 3;
  const int64_t heads = n.integer("num_heads", 0);
  // [batch, sequence, heads, size]
  const Dims given = n.shape(x);
  if (given.size() != 4 && (!flat || heads < 1 || given[2] % heads != 0))
    n.invalid(fmt::format("expected data of rank 4, or of rank 3 with a multiple of {} heads, found {}", heads, shape_text(given)));
  const int rows = flat ? n.reshape(x, {given[0], given[1], heads, given[2] / heads}) : n.transpose(x, {0, 2, 1, 3});
  const int64_t size = n.shape(rows)[3], whole = n.integer("rotary_embedding_dim", 0), turned = whole > 0 ? whole : size;
  if (turned % 2 != 0 || turned > size) n.invalid(fmt::format("expected an even number of at most {} elements to turn, found {}", size, turned));
  const auto angles = [&](int i) {
    int t = n.in(i);
    if (n.has(3)) t = n.emit("gather", {t, n.in(3)}, attrs({{"axis", int64_t{0}}}));
    if (n.rank(t) != 3 || n.shape(t)[2] < turned / 2)
      n.invalid(fmt::format("expected sines and cosines of {} elements a position, found {}", turned / 2, shape_text(n.shape(t))));
    t = n.slice(t, 2, 0, turned / 2);
    const Dims s = n.shape(t);
    return Term{&n, n.cast(n.reshape(t, {s[0], s[1], 1, s[2]}), n.dtype(x))};
  };
  const Term cosine = angles(1), sine = angles(2);
  const int part = n.slice(rows, 3, 0, turned);
  const bool interleaved = n.integer("interleaved", 0) != 0;
  const Dims s = n.shape(part);
  const auto half = [&](int64_t k) {
    if (!interleaved) return Term{&n, n.slice(part, 3, k * turned / 2, turned / 2)};
    return Term{&n, n.select(n.reshape(part, {s[0], s[1], s[2], turned / 2, 2}), 4, k)};
  };
  const Term a = half(0), b = half(1), real = cosine * a - sine * b, imaginary = sine * a + cosine * b;
  int y = interleaved ? n.reshape(n.stack({real.v, imaginary.v}, 4), s) : n.concat({real.v, imaginary.v}, 3);
  if (turned < size) y = n.concat({y, n.slice(rows, 3, turned, size - turned)}, 3);
  return {flat ? n.reshape(y, given) : n.transpose(y, {0, 2, 1, 3})};
}

/// An update written into a cache from an index on, one index a sample. Source: TensorScatter-24.
Results tensor_scatter(OnnxNode& n) {
  const int cache = n.in(0), update = n.in(1);
  const Dims s = n.shape(cache), u = n.shape(update);
  const int64_t axis = n.axis(n.integer("axis", -2), n.rank(cache));
  const std::string mode = n.text("mode", "linear");
  if (mode != "linear" && mode != "circular") n.invalid(fmt::format("expected mode 'linear' or 'circular', found '{}'", printable(mode.substr(0, 64))));
  Dims wanted = s;
  if (u.size() == s.size()) wanted[static_cast<size_t>(axis)] = u[static_cast<size_t>(axis)];
  const int64_t extent = s[static_cast<size_t>(axis)], length = wanted[static_cast<size_t>(axis)];
  if (axis == 0 || u != wanted || length > extent) n.invalid(fmt::format("an update {} does not fit a cache {} along axis {}", shape_text(u), shape_text(s), axis));
  // Position p of the cache holds element p - start of the update, where there is one.
  Dims along(s.size(), 1), samples(s.size(), 1);
  along[static_cast<size_t>(axis)] = extent;
  samples[0] = s[0];
  Term from{&n, n.iota(extent, along)};
  if (n.has(2)) from = from - Term{&n, n.reshape(n.cast(n.in(2), kInt64), samples)};
  if (mode == "circular") from = from.with("mod", static_cast<double>(extent));
  const Term written = from.with("greater_equal", 0).with("and", from.with("less", static_cast<double>(length)));
  const int source = n.broadcast(from.clipped(0, static_cast<double>(length - 1)).v, s);
  return {n.choose(written.v, n.emit("gather_elements", {update, source}, attrs({{"axis", axis}})), cache)};
}

constexpr OnnxOp kAttentionOps[] = {
    {"Attention", attention_op},
    {"FlexAttention", flex_attention, Narrow::refused, "ai.onnx.preview"},
    {"RotaryEmbedding", rotary_embedding},
    {"TensorScatter", tensor_scatter},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_attention() { return kAttentionOps; }

}  // namespace tw::frontends
