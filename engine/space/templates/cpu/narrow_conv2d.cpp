// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

/// Terms of a sum from which adding up the lanes at its end is a small part of the work.
constexpr int64_t kLongSum = 256;

struct Narrow {
  Anchor anchor;
  bool transposed;
  int64_t batch, ic, oc, oh, ow, stride_w;
};

std::optional<Narrow> find_narrow(const te::Dag& dag, const Target& target) {
  for (const char* tag : {"conv2d", "conv2d_transpose"}) {
    const auto a = find_anchor(dag, tag);
    if (!a) continue;
    const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
    const std::vector<int64_t>&out = op.output->shape, &weight = dag.ops[static_cast<size_t>(a->weight)].output->shape;
    const bool transposed = op.tag != std::string("conv2d");
    const auto groups = op.attrs.find("groups"), strides = op.attrs.find("strides");
    if (groups == op.attrs.end() || groups->second[0] != 1 || strides == op.attrs.end()) return std::nullopt;
    const Narrow c{*a, transposed, out[0], weight[transposed ? 0 : 1], out[1], out[2], out[3], transposed ? strides->second[1] : 1};
    const int64_t lanes = target.lanes(kFloat32), terms = c.ic * op.reduce_axes[1].extent * op.reduce_axes[2].extent;
    return 2 * c.oc <= lanes && c.ic % lanes == 0 && terms >= kLongSum ? std::optional(c) : std::nullopt;
  }
  return std::nullopt;
}

bool narrow_conv2d_matches(const te::Dag& dag, const Target& target) { return find_narrow(dag, target).has_value(); }

ConfigSpace narrow_conv2d_space(const te::Dag& dag, const Target& target) {
  const Narrow c = *find_narrow(dag, target);
  ConfigSpace space;
  // Neighbouring columns of a transposed convolution meet different taps; a tile of whole strides has the same ones everywhere.
  std::vector<std::vector<int64_t>> columns;
  for (const int64_t t : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14})
    if (t * c.stride_w <= c.ow) columns.push_back({-1, t * c.stride_w});
  if (columns.empty()) columns.push_back({-1, c.ow});
  space.define_split("tile_ow", c.ow, {.num_outputs = 2, .policy = "candidate", .candidates = columns, .help = "output columns of the register tile"});
  space.define_knob("unroll_kw", {0, 1}, "1: a row of the kernel window is written out, so that neighbouring taps share loads");
  space.add_filter([target, oc = c.oc](const ConfigEntity& e) { return fits_registers(oc, e.split("tile_ow")[1], target); },
                   "the register tile does not fit the vector registers");
  return space;
}

ConfigEntity narrow_conv2d_fallback(const te::Dag& dag, const Target& target) {
  const Narrow c = *find_narrow(dag, target);
  return narrow_conv2d_space(dag, target).best_by([&](const ConfigEntity& e) {
    const int64_t columns = e.split("tile_ow")[1];
    return tile_rate(c.oc, columns, target) * filled(c.ow, columns) + (e.integer("unroll_kw") == 0 ? 1 : 0);
  });
}

Expected<schedule::Schedule> narrow_conv2d_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Narrow c = *find_narrow(*dag, target);
  const Anchor& a = c.anchor;
  const int64_t lanes = target.lanes(kFloat32);
  const int in_dim = c.transposed ? 0 : 1, out_dim = 1 - in_dim;
  schedule::Builder b(dag);
  b.layout(a.data, nchwc(lanes));
  b.layout(a.weight, {{out_dim, 0}, {in_dim, 0}, {2, 0}, {3, 0}, {in_dim, lanes}});  // [O][I / lanes][KH][KW][lanes]
  schedule_padding(b, a.pad, lanes, target);
  inline_epilogue(b, a);
  int out = 0;
  int acc = accumulator_stage(b, a, out);
  const int parts = b.rfactor(acc, b.split(acc, b.loops(acc)[4], {lanes})[1]);
  ++acc;
  ++out;

  const auto axes = b.loops(out);  // n, oc, oh, ow
  const auto w = b.split(out, axes[3], {e.split("tile_ow")[1]});
  b.reorder(out, {axes[0], axes[2], w[0], axes[1], w[1]});
  b.compute_at(acc, out, w[0]);
  b.compute_at(parts, out, w[0]);
  b.unroll(out, axes[1]);
  b.unroll(out, w[1]);
  b.parallel(out, b.fuse(out, {axes[0], axes[2]}));

  const auto sum = b.loops(acc);  // n, oc, oh, ow, lane
  b.reorder(acc, {sum[0], sum[2], sum[1], sum[3], sum[4]});
  b.unroll(acc, sum[1]);
  b.unroll(acc, sum[3]);
  b.vectorize(acc, sum[4]);

  const auto in = b.loops(parts);  // lane, n, oc, oh, ow, ic, taps of h, taps of w
  b.reorder(parts, {in[1], in[3], in[5], in[6], in[7], in[2], in[4], in[0]});
  if (e.integer("unroll_kw") != 0) b.unroll(parts, in[7]);
  b.unroll(parts, in[2]);
  b.unroll(parts, in[4]);
  b.vectorize(parts, in[0]);
  return std::move(b).finish();
}

}  // namespace

Template narrow_conv2d() {
  return {
      "narrow_conv2d.cpu",
      narrow_conv2d_matches,
      narrow_conv2d_space,
      narrow_conv2d_apply,
      narrow_conv2d_fallback,
      "Convolution or transposed convolution to a few channels, such as an image. Vectors run along the input channels; their lanes are added up at the end.",
      kDirectConv};
}

}  // namespace tw::space::cpu
