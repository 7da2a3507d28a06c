// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/shared/attention.h"

#include <cmath>

namespace tw::frontends {

namespace {

struct Extents {
  int64_t batch, heads, groups, queries, keys;
};

Extents extents_of(Emitter& n, const Attention& a) {
  const Dims &q = n.shape(a.q), &k = n.shape(a.k), &v = n.shape(a.v);
  const bool fits = q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] && q[0] == v[0] && q[3] == k[3] && k[1] == v[1] && k[2] == v[2] &&
                    k[1] > 0 && q[1] % k[1] == 0;
  if (!fits) n.invalid(fmt::format("queries {}, keys {} and values {} do not fit together", shape_text(q), shape_text(k), shape_text(v)));
  return {q[0], q[1], k[1], q[2], k[2]};
}

/// 0 where a key takes part and -infinity elsewhere.
int bias_of(Emitter& n, int allowed, DType t) { return n.choose(allowed, n.scalar(t, 0), n.scalar(t, -HUGE_VAL)); }

/// Which keys each query sees by its position, [queries, keys] or [batch, 1, queries, keys]; -1 if all.
int window_of(Emitter& n, const Attention& a, const Extents& e) {
  if (a.left < 0 && a.right < 0) return -1;
  int position = n.iota(e.queries, {e.queries, 1});
  if (a.lengths >= 0)
    position = n.binary("add", position, n.reshape(n.with_scalar("sub", a.lengths, static_cast<double>(e.queries)), {e.batch, 1, 1, 1}));
  else if (a.offset != 0)
    position = n.with_scalar("add", position, static_cast<double>(a.offset));
  const int key = n.iota(e.keys, {1, e.keys});
  int allowed = -1;
  if (a.right >= 0) allowed = n.binary("less_equal", key, a.right == 0 ? position : n.with_scalar("add", position, static_cast<double>(a.right)));
  if (a.left < 0) return allowed;
  const int near = n.binary("greater_equal", key, n.with_scalar("sub", position, static_cast<double>(a.left)));
  return allowed < 0 ? near : n.binary("and", allowed, near);
}

/// Everything that is added to the scores; -1 if nothing. `open`: no row of it can be -infinity throughout.
int total_bias(Emitter& n, const Attention& a, const Extents& e, DType t, bool& open) {
  open = true;
  int allowed = window_of(n, a, e);
  if (allowed >= 0 && (a.offset < 0 || (a.left >= 0 && a.offset + e.queries > e.keys + a.left))) open = false;
  if (a.lengths >= 0) {
    const int valid = n.binary("less", n.iota(e.keys, {1, 1, 1, e.keys}), n.reshape(a.lengths, {e.batch, 1, 1, 1}));
    allowed = allowed < 0 ? valid : n.binary("and", allowed, valid);
    open = false;
  }
  int added = -1;
  if (a.mask >= 0) {
    int mask = a.mask;
    if (n.rank(mask) == 0) mask = n.reshape(mask, {1});
    const int64_t missing = e.keys - n.shape(mask).back();
    if (missing > 0 && n.shape(mask).back() != 1) {  // shorter masks leave the last keys out
      Dims pads(2 * static_cast<size_t>(n.rank(mask)), 0);
      pads.back() = missing;
      const bool truth = n.dtype(mask).is_bool();
      mask = n.emit("pad", {mask}, attrs({{"pads", pads}, {"mode", "constant"}, {"value", truth ? 0.0 : -HUGE_VAL}}));
    }
    open = false;
    if (n.dtype(mask).is_bool())
      allowed = allowed < 0 ? mask : n.binary("and", allowed, mask);
    else
      added = n.cast(mask, t);
  }
  if (allowed < 0) return added;
  const int bias = bias_of(n, allowed, t);
  return added < 0 ? bias : n.binary("add", added, bias);
}

}  // namespace

AttentionResult attention(Emitter& n, const Attention& a) {
  const Extents e = extents_of(n, a);
  const DType t = n.dtype(a.q);
  AttentionResult r;
  // Products of halves may overflow: both sides are scaled then.
  const bool both = t.bits < 32 && a.scale > 0;
  int q = a.q, k = n.transpose(a.k, {0, 1, 3, 2});
  if (a.scale != 1) q = n.with_scalar("mul", q, both ? std::sqrt(a.scale) : a.scale);
  if (a.scale != 1 && both) k = n.with_scalar("mul", k, std::sqrt(a.scale));
  // Heads of a group are more rows of one product.
  const auto [batch, heads, groups, queries, keys] = e;
  const int64_t rows = heads / groups * queries, width = n.shape(a.q)[3], value_width = n.shape(a.v)[3];
  int scores = n.reshape(n.binary("matmul", n.reshape(q, {batch, groups, rows, width}), k), {batch, heads, queries, keys});
  r.products = scores;
  if (a.softcap > 0) scores = n.with_scalar("mul", n.emit("tanh", {n.with_scalar("div", scores, a.softcap)}), a.softcap);
  r.capped = scores;
  bool open = true;
  const int bias = total_bias(n, a, e, t, open);
  if (bias >= 0) scores = n.binary("add", scores, bias);
  r.biased = scores;
  scores = n.cast(scores, a.softmax_type);
  if (a.change_scores) scores = a.change_scores(scores);
  if (a.sink >= 0) {
    const int column = n.broadcast(n.reshape(n.cast(a.sink, a.softmax_type), {1, heads, 1, 1}), {batch, heads, queries, 1});
    scores = n.concat({scores, column}, 3);
  }
  int p = n.emit("softmax", {scores}, attrs({{"axis", int64_t{-1}}}));
  if (a.sink >= 0) p = n.slice(p, 3, 0, keys);
  if (!open) {
    const int top = n.reduce("reduce_max", bias, {-1}, true);
    p = n.choose(n.with_scalar("equal", top, -HUGE_VAL), n.scalar(a.softmax_type, 0), p);
  }
  if (a.change_probabilities) p = a.change_probabilities(p);
  p = n.cast(p, t);
  r.probabilities = p;
  r.y = n.reshape(n.binary("matmul", n.reshape(p, {batch, groups, rows, keys}), n.cast(a.v, t)), {batch, heads, queries, value_width});
  return r;
}

}  // namespace tw::frontends
