// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
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

/// Pairs of the first `turned` elements of each head, neighbours or from the halves of them, turned by angles that depend on the position: `sines` and `cosines` have
/// a row for each position of the data. Source: Su et al., "RoFormer", 2021.
int turned_by(OnnxNode& n, int x, int64_t heads, int cosines, int sines, int64_t turned, bool interleaved) {
  const bool flat = n.rank(x) == 3;
  // [batch, sequence, heads, size]
  const Dims given = n.shape(x);
  if (given.size() != 4 && (!flat || heads < 1 || given[2] % heads != 0))
    n.invalid(fmt::format("expected data of rank 4, or of rank 3 with a multiple of {} heads, found {}", heads, shape_text(given)));
  const int rows = flat ? n.reshape(x, {given[0], given[1], heads, given[2] / heads}) : n.transpose(x, {0, 2, 1, 3});
  const int64_t size = n.shape(rows)[3];
  if (turned <= 0) turned = size;
  if (turned % 2 != 0 || turned > size) n.invalid(fmt::format("expected an even number of at most {} elements to turn, found {}", size, turned));
  const auto angles = [&](int t) {
    if (n.rank(t) != 3 || n.shape(t)[2] < turned / 2)
      n.invalid(fmt::format("expected sines and cosines of {} elements a position, found {}", turned / 2, shape_text(n.shape(t))));
    t = n.slice(t, 2, 0, turned / 2);
    const Dims s = n.shape(t);
    return Term{&n, n.cast(n.reshape(t, {s[0], s[1], 1, s[2]}), n.dtype(x))};
  };
  const Term cosine = angles(cosines), sine = angles(sines);
  const int part = n.slice(rows, 3, 0, turned);
  const Dims s = n.shape(part);
  const auto half = [&](int64_t k) {
    if (!interleaved) return Term{&n, n.slice(part, 3, k * turned / 2, turned / 2)};
    return Term{&n, n.select(n.reshape(part, {s[0], s[1], s[2], turned / 2, 2}), 4, k)};
  };
  const Term a = half(0), b = half(1), real = cosine * a - sine * b, imaginary = sine * a + cosine * b;
  int y = interleaved ? n.reshape(n.stack({real.v, imaginary.v}, 4), s) : n.concat({real.v, imaginary.v}, 3);
  if (turned < size) y = n.concat({y, n.slice(rows, 3, turned, size - turned)}, 3);
  return flat ? n.reshape(y, given) : n.transpose(y, {0, 2, 1, 3});
}

int at_positions(OnnxNode& n, int table, int positions) { return n.emit("gather", {table, positions}, attrs({{"axis", int64_t{0}}})); }

/// Source: RotaryEmbedding-23 in the ONNX operator reference.
Results rotary_embedding(OnnxNode& n) {
  const auto table = [&n](int i) { return n.has(3) ? at_positions(n, n.in(i), n.in(3)) : n.in(i); };
  return {turned_by(n, n.in(0), n.integer("num_heads", 0), table(1), table(2), n.integer("rotary_embedding_dim", 0), n.integer("interleaved", 0) != 0)};
}

/// The same of ONNX Runtime: positions are the second operand, one for the first of the sequence or one for each, and the number of heads may follow from the tables.
Results rotary_embedding_of_runtime(OnnxNode& n) {
  const int x = n.in(0), positions = n.in(1), cosines = n.in(2), sines = n.in(3);
  if (n.integer("is_packed_batching", 0)) n.unsupported("packed batches");
  if (n.real("scale", 1) != 1) n.unsupported("scaled positions");
  if (n.rank(x) < 3 || n.rank(cosines) != 2) n.invalid("expected data of rank 3 or 4 and tables of rank 2");
  const int64_t size = n.shape(x).back(), sequence = n.rank(x) == 3 ? n.shape(x)[1] : n.shape(x)[2], given = n.integer("num_heads", 0);
  const int64_t heads = given > 0 ? given : std::max<int64_t>(1, size / std::max<int64_t>(1, 2 * n.shape(cosines)[1]));
  int at = positions;
  if (n.rank(positions) < 2) at = n.binary("add", n.reshape(positions, {1, 1}), n.iota(sequence, {1, sequence}));
  return {turned_by(n, x, heads, at_positions(n, cosines, at), at_positions(n, sines, at), n.integer("rotary_embedding_dim", 0), n.integer("interleaved", 0) != 0)};
}

/// What ONNX Runtime's operators add to the scores: `filter` where the mask, of integers, is 0, or from a sample's number of keys on; and a bias of any numbers.
int runtime_mask(OnnxNode& n, int mask, int bias, int64_t batch, int64_t keys, DType t) {
  int added = bias;
  if (mask >= 0) {
    int seen;
    if (n.rank(mask) == 1 && n.shape(mask)[0] == batch)
      seen = n.binary("less", n.iota(keys, {1, 1, 1, keys}), n.reshape(n.cast(mask, kInt64), {batch, 1, 1, 1}));
    else if (n.rank(mask) == 2 && n.shape(mask) == Dims{batch, keys})
      seen = n.with_scalar("not_equal", n.reshape(mask, {batch, 1, 1, keys}), 0);
    else if (n.rank(mask) == 3 && n.shape(mask)[0] == batch && n.shape(mask)[2] == keys)
      seen = n.with_scalar("not_equal", n.reshape(mask, {batch, 1, n.shape(mask)[1], keys}), 0);
    else
      n.unsupported(fmt::format("a mask of shape {} for {} samples and {} keys", shape_text(n.shape(mask)), batch, keys));
    const int filtered = n.choose(seen, n.scalar(t, 0), n.scalar(t, n.real("mask_filter_value", -10000)));
    added = added < 0 ? filtered : n.binary("add", filtered, added);
  }
  return added;
}

/// Past keys or values, [batch, heads, past, size], before new ones.
int after_past(OnnxNode& n, int past, int now) {
  if (past < 0) return now;
  if (n.rank(past) != 4) n.invalid(fmt::format("expected past keys and values of rank 4, found {}", shape_text(n.shape(past))));
  return n.concat({past, now}, 2);
}

double runtime_scale(const OnnxNode& n, int q) {
  const double given = n.real("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(n.shape(q)[3]));
}

/// ONNX Runtime's attention with queries, keys and values that are projected inside, by one matrix for all three.
Results attention_of_runtime(OnnxNode& n) {
  const int x = n.in(0), weights = n.in(1);
  if (n.rank(x) != 3 || n.rank(weights) != 2) n.invalid("expected data of rank 3 and weights of rank 2");
  if (n.integer("do_rotary", 0)) n.unsupported("turned queries and keys");
  const int64_t width = n.shape(weights)[1], heads = n.integer("num_heads", 0), batch = n.shape(x)[0];
  const Dims sizes = n.integers("qkv_hidden_sizes", Dims(3, width / 3));
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != width) n.invalid(fmt::format("expected weights of {} columns in three parts, found {}", width, shape_text(sizes)));
  int projected = matmul_values(n, x, weights);
  if (n.has(2)) projected = n.binary("add", projected, n.in(2));
  Attention a;
  a.q = heads_apart(n, n.slice(projected, 2, 0, sizes[0]), heads, "queries");
  a.k = heads_apart(n, n.slice(projected, 2, sizes[0], sizes[1]), heads, "keys");
  a.v = heads_apart(n, n.slice(projected, 2, sizes[0] + sizes[1], sizes[2]), heads, "values");
  if (n.has(4)) {
    if (n.rank(n.in(4)) != 5 || n.has(6)) n.unsupported("a past that shares its memory with the result");
    a.offset = n.shape(n.in(4))[3];
    a.k = after_past(n, n.select(n.in(4), 0, 0), a.k);
    a.v = after_past(n, n.select(n.in(4), 0, 1), a.v);
  }
  a.mask = runtime_mask(n, n.optional(3), n.optional(5), batch, n.shape(a.k)[2], n.dtype(x));
  a.scale = runtime_scale(n, a.q);
  if (n.integer("unidirectional", 0)) a.right = 0;
  a.softmax_type = n.dtype(x);
  return {heads_together(n, attention(n, a).y), n.wants_output(1) ? n.stack({a.k, a.v}, 0) : kAbsent};
}

/// ONNX Runtime's attention over queries, keys and values as they come out of their projections.
Results multi_head_attention(OnnxNode& n) {
  if (!n.has(1) || !n.has(2) || n.rank(n.in(1)) == 5) n.unsupported("queries, keys and values in one operand");
  if (n.rank(n.in(0)) != 3) n.invalid(fmt::format("expected queries of rank 3, found {}", shape_text(n.shape(n.in(0)))));
  const int64_t heads = n.integer("num_heads", 0), batch = n.shape(n.in(0))[0];
  std::array<int, 3> part{n.in(0), n.in(1), n.in(2)};
  if (n.has(3)) {  // one bias for all
    int64_t from = 0;
    for (int& p : part) {
      if (n.rank(p) != 3) n.unsupported("a bias beside keys and values whose heads are apart");
      const int64_t size = n.shape(p)[2];
      p = n.binary("add", p, n.slice(n.in(3), 0, from, size));
      from += size;
    }
  }
  Attention a;
  a.q = heads_apart(n, part[0], heads, "queries");
  a.k = heads_apart(n, part[1], heads, "keys");
  a.v = heads_apart(n, part[2], heads, "values");
  if (n.has(8) || n.has(9)) n.unsupported("a past that shares its memory with the result");
  if (n.has(6) != n.has(7)) n.invalid("past keys and values go together");
  if (n.has(6)) a.offset = n.shape(n.in(6))[2];
  a.k = after_past(n, n.optional(6), a.k);
  a.v = after_past(n, n.optional(7), a.v);
  a.mask = runtime_mask(n, n.optional(4), n.optional(5), batch, n.shape(a.k)[2], n.dtype(a.q));
  a.scale = runtime_scale(n, a.q);
  if (n.integer("unidirectional", 0)) a.right = 0;
  a.softmax_type = n.dtype(a.q);
  const AttentionResult r = attention(n, a);
  return {heads_together(n, r.y), a.k, a.v};
}

/// A cache with an update in it, along an axis, from each sample's index in `starts` [batch] int64 on; -1: from the first on.
int written_into(OnnxNode& n, int cache, int update, int64_t axis, int starts, bool circular = false) {
  const Dims s = n.shape(cache);
  const int64_t extent = s[static_cast<size_t>(axis)], length = n.shape(update)[static_cast<size_t>(axis)];
  // Position p of the cache holds element p - start of the update, where there is one.
  Dims along(s.size(), 1), samples(s.size(), 1);
  along[static_cast<size_t>(axis)] = extent;
  samples[0] = s[0];
  Term from{&n, n.iota(extent, along)};
  if (starts >= 0) from = from - Term{&n, n.reshape(starts, samples)};
  if (circular) from = from.with("mod", static_cast<double>(extent));
  const Term written = from.with("greater_equal", 0).with("and", from.with("less", static_cast<double>(length)));
  const int source = n.broadcast(from.clipped(0, static_cast<double>(length - 1)).v, s);
  return n.choose(written.v, n.emit("gather_elements", {update, source}, attrs({{"axis", axis}})), cache);
}

/// One index a sample. Source: TensorScatter-24.
Results tensor_scatter(OnnxNode& n) {
  const int cache = n.in(0), update = n.in(1);
  const Dims s = n.shape(cache), u = n.shape(update);
  const int64_t axis = n.axis(n.integer("axis", -2), n.rank(cache));
  const std::string mode = n.text("mode", "linear");
  if (mode != "linear" && mode != "circular") n.invalid(fmt::format("expected mode 'linear' or 'circular', found '{}'", printable(mode.substr(0, 64))));
  Dims wanted = s;
  if (u.size() == s.size()) wanted[static_cast<size_t>(axis)] = u[static_cast<size_t>(axis)];
  if (axis == 0 || u != wanted || wanted[static_cast<size_t>(axis)] > s[static_cast<size_t>(axis)])
    n.invalid(fmt::format("an update {} does not fit a cache {} along axis {}", shape_text(u), shape_text(s), axis));
  return {written_into(n, cache, update, axis, n.has(2) ? n.cast(n.in(2), kInt64) : -1, mode == "circular")};
}

/// ONNX Runtime's attention with fewer heads of keys and values than of queries. Past keys and values may lie in tensors that are longer than what is in them:
/// a sample's number of keys says how much that is, and new ones are written behind it.
Results group_query_attention(OnnxNode& n) {
  const int64_t heads = n.integer("num_heads", 0), groups = n.integer("kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups != 0) n.invalid(fmt::format("expected a multiple of the heads of keys as heads, found {} and {}", heads, groups));
  if (n.has(1) != n.has(2)) n.invalid("keys and values go together");
  if (n.wants_output(3) || n.has(12) || n.has(13)) n.unsupported("scores as a result, or keys and values of few bits");
  if (n.rank(n.in(0)) != 3) n.invalid(fmt::format("expected queries of rank 3, found {}", shape_text(n.shape(n.in(0)))));
  std::array<int, 3> part{n.in(0), n.optional(1), n.optional(2)};
  const int64_t batch = n.shape(part[0])[0], length = n.shape(part[0])[1], all = heads + 2 * groups;
  if (!n.has(1)) {
    const int64_t size = n.shape(part[0])[2] / all;
    if (size * all != n.shape(part[0])[2]) n.invalid(fmt::format("expected the elements of {} heads, found {}", all, n.shape(part[0])[2]));
    const int packed = part[0];
    part = {n.slice(packed, 2, 0, heads * size), n.slice(packed, 2, heads * size, groups * size), n.slice(packed, 2, (heads + groups) * size, groups * size)};
  }
  const int64_t total = static_cast<int64_t>(n.number_input(6, "the number of keys of the longest sample"));
  const bool first = total == length;
  if (total < length) n.invalid(fmt::format("expected at least the {} new keys in all, found {}", length, total));
  const int lengths = n.with_scalar("add", n.cast(n.reshape(n.in(5), {batch}), kInt64), 1);
  const int starts = first ? -1 : n.with_scalar("sub", lengths, static_cast<double>(length));
  if (n.integer("do_rotary", 0)) {
    const int cosines = n.in(7), sines = n.in(8);
    if (n.rank(cosines) != 2 || n.rank(sines) != 2) n.invalid("expected tables of rank 2");
    int at = n.optional(9);
    if (at < 0) at = n.iota(length, {1, length});
    if (!n.has(9) && !first) at = n.binary("add", n.reshape(starts, {batch, 1}), at);
    for (size_t i = 0; i < 2; ++i)
      part[i] = turned_by(n, part[i], i == 0 ? heads : groups, at_positions(n, cosines, at), at_positions(n, sines, at), 2 * n.shape(cosines)[1], n.integer("rotary_interleaved", 0) != 0);
  }
  Attention a;
  a.q = heads_apart(n, part[0], heads, "queries");
  a.k = heads_apart(n, part[1], groups, "keys");
  a.v = heads_apart(n, part[2], groups, "values");
  if (n.has(3) != n.has(4)) n.invalid("past keys and values go together");
  if (!n.has(3) && !first) n.invalid(fmt::format("expected past keys and values beside {} new of {} keys", length, total));
  std::array<int, 2> present{a.k, a.v};
  for (size_t i = 0; n.has(3) && i < 2; ++i) {
    int past = n.in(3 + static_cast<int>(i));
    Dims fits = n.shape(present[i]);
    if (n.rank(past) == 4) fits[2] = n.shape(past)[2];
    if (n.shape(past) != fits) n.invalid(fmt::format("expected past keys and values like {}, found {}", shape_text(fits), shape_text(n.shape(past))));
    const int64_t room = fits[2];
    if (first) {
      if (room > length) present[i] = n.concat({present[i], n.slice(past, 2, length, room - length)}, 2);
      continue;
    }
    Dims missing = fits;
    missing[2] = total - room;
    if (missing[2] > 0) past = n.concat({past, n.filled(n.dtype(past), missing, 0)}, 2);
    present[i] = written_into(n, past, present[i], 2, starts);
  }
  if (!first) {
    a.k = n.slice(present[0], 2, 0, total);
    a.v = n.slice(present[1], 2, 0, total);
    a.lengths = lengths;
  }
  a.mask = n.optional(10);
  a.scale = runtime_scale(n, a.q);
  a.softcap = n.real("softcap", 0);
  a.right = 0;
  if (const int64_t window = n.integer("local_window_size", -1); window > 0) a.left = window - 1;
  if (n.has(11)) a.sink = n.in(11);
  if (!n.has(11) && n.integer("smooth_softmax", 0) == 1) a.sink = n.filled(kFloat32, {heads}, 0);
  return {heads_together(n, attention(n, a).y), present[0], present[1]};
}

constexpr OnnxOp kAttentionOps[] = {
    {"Attention", attention_op},
    {"Attention", attention_of_runtime, Narrow::refused, kRuntimeDomain},
    {"FlexAttention", flex_attention, Narrow::refused, "ai.onnx.preview"},
    {"GroupQueryAttention", group_query_attention, Narrow::refused, kRuntimeDomain},
    {"MultiHeadAttention", multi_head_attention, Narrow::refused, kRuntimeDomain},
    {"RotaryEmbedding", rotary_embedding},
    {"RotaryEmbedding", rotary_embedding_of_runtime, Narrow::refused, kRuntimeDomain},
    {"TensorScatter", tensor_scatter},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_attention() { return kAttentionOps; }

}  // namespace tw::frontends
