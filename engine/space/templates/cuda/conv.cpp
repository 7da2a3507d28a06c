// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/conv.h"

#include <algorithm>

namespace tw::space::cuda {

namespace {

const te::Op& op_of(const te::Dag& dag, const ConvKnobs& knobs) { return dag.ops[static_cast<size_t>(find_anchor(dag, knobs.tag)->reduce)]; }

std::vector<int64_t> attribute(const te::Op& op, const char* name, size_t count) {
  const auto it = op.attrs.find(name);
  return it != op.attrs.end() ? it->second : std::vector<int64_t>(count, 1);
}

bool is_depthwise(const te::Op& op) { return op.reduce_axes.size() + 2 == op.axes.size(); }

int64_t groups_of(const te::Op& op) { return attribute(op, "groups", 1).front(); }

Tiling conv_tiling(const te::Op& op, const ConfigEntity& e, const ConvKnobs& knobs) {
  Tiling t;
  const bool fused = knobs.fuse_yx && e.integer("fuse_yx") != 0, line = knobs.axes.size() == 2;
  const auto add = [&](AxisTile tile, Direction d) {
    t.axes.push_back(tile);
    t.directions.push_back(d);
  };
  // The batch and the channels in z, the last dimension of the image in x, those between in y; the channels in y where no dimension is.
  add(knobs.batch ? axis_tile(e, knobs.batch) : AxisTile{}, kZ);
  if (knobs.groups) {
    t.group_channels = op.axes[1].extent / groups_of(op);
    add({e.split(knobs.groups)[1], 1, 1}, kZ);
  }
  add(axis_tile(e, knobs.axes[0]), fused || line ? kY : kZ);
  for (size_t k = 1; k < knobs.axes.size(); ++k) add(axis_tile(e, knobs.axes[k]), fused || k + 1 == knobs.axes.size() ? kX : kY);
  for (const te::Axis& r : op.reduce_axes) t.reduce.push_back(r.extent);
  for (size_t k = 0; k < knobs.reduce.size(); ++k) t.reduce[k] /= e.split(knobs.reduce[k])[0];
  t.fetch_once = is_depthwise(op);
  set_unroll(t, e);
  return t;
}

int64_t shared_bytes(const te::Op& op, const Tiling& t, bool transposed) {
  const bool depthwise = is_depthwise(op);
  const size_t first = t.group_channels > 0 ? 2 : 1, dims = t.axes.size() - first - 1;
  const std::vector<int64_t> strides = attribute(op, "strides", dims), dilations = attribute(op, "dilations", dims);
  int64_t channels = depthwise ? t.axes[1].span() : t.reduce[0], filters = t.axes[first].span();
  if (t.group_channels > 0) {  // from the first to the last of the groups
    channels += (t.axes[1].span() - 1) * op.reduce_axes[0].extent;
    filters += (t.axes[1].span() - 1) * t.group_channels;
  }
  int64_t image = t.axes[0].span() * channels, weights = filters * (depthwise ? 1 : t.reduce[0]);
  for (size_t d = 0; d < dims; ++d) {
    const int64_t taps = t.reduce[d + (depthwise ? 0 : 1)];
    const int64_t reach = t.axes[first + 1 + d].span() - 1;
    // A transposed convolution's taps come in as many phases as the stride.
    image *= (transposed ? reach / strides[d] + 1 : reach * strides[d]) + (taps - 1) * dilations[d] + 1;
    weights *= taps * (transposed ? strides[d] : 1);
  }
  return (image + weights) * op.output->dtype.bytes();
}

}  // namespace

bool conv_matches(const te::Dag& dag, const ConvKnobs& knobs) {
  const auto a = find_anchor(dag, knobs.tag);
  if (!a) return false;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  return op.axes.size() == knobs.axes.size() + 1 && (!knobs.transposed || groups_of(op) == 1);
}

ConfigSpace conv_space(const te::Dag& dag, const Target& target, const ConvKnobs& knobs) {
  const te::Op op = op_of(dag, knobs);
  ConfigSpace space;
  const int64_t groups = knobs.groups ? groups_of(op) : 1;
  if (knobs.batch) space.define_split(knobs.batch, op.axes[0].extent, {.num_outputs = 4, .help = "images: blocks, virtual threads, threads, of a thread"});
  if (knobs.groups) space.define_split(knobs.groups, groups, {.num_outputs = 2, .help = "groups: blocks, virtual threads"});
  for (size_t k = 0; k < knobs.axes.size(); ++k)
    space.define_split(
        knobs.axes[k], op.axes[k + 1].extent / (k == 0 ? groups : 1),
        {.num_outputs = 4,
         .help = k == 0 ? "output channels: blocks, virtual threads, threads, of a thread" : "pixels: blocks, virtual threads, threads, of a thread"});
  for (size_t k = 0; k < knobs.reduce.size(); ++k)
    space.define_split(knobs.reduce[k], op.reduce_axes[k].extent,
                       {.num_outputs = k == 0 ? knobs.channel_factors : 2, .help = k == 0 ? "input channels in shared memory" : "taps in shared memory"});
  define_unroll(space, knobs.unroll);
  if (knobs.fuse_yx) space.define_knob("fuse_yx", {0, 1}, "1: threads and blocks of both dimensions of the image side by side");
  add_limits(
      space, target, [op, knobs](const ConfigEntity& e) { return conv_tiling(op, e, knobs); },
      [op, knobs](const ConfigEntity& e) { return shared_bytes(op, conv_tiling(op, e, knobs), knobs.transposed); });
  return space;
}

Expected<schedule::Schedule> conv_apply(const te::DagPtr& dag, const ConfigEntity& e, const ConvKnobs& knobs) {
  return tiled_schedule(dag, *find_anchor(*dag, knobs.tag), conv_tiling(op_of(*dag, knobs), e, knobs));
}

namespace {

/// The point whose blocks take `threads` times `each` output channels, or as many as divide theirs.
ConfigEntity point_of(const ConfigSpace& space, const ConvKnobs& knobs, int64_t threads, int64_t each) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> limits;
  // Input channels give way first where shared memory is short.
  for (size_t k = 0; k < knobs.reduce.size(); ++k)
    limits.emplace_back(knobs.reduce[k], k > 0                        ? std::vector<int64_t>{-1, 7}
                                         : knobs.channel_factors == 3 ? std::vector<int64_t>{-1, 1, 8}
                                                                      : std::vector<int64_t>{-1, 8});
  const bool line = knobs.axes.size() == 2;
  limits.emplace_back(knobs.axes[0], std::vector<int64_t>{-1, 1, threads, each});
  for (size_t k = 1; k < knobs.axes.size(); ++k)
    limits.emplace_back(knobs.axes[k], k + 1 == knobs.axes.size() ? std::vector<int64_t>{-1, 1, line ? 32 : 8, 2} : std::vector<int64_t>{-1, 1, 4, 1});
  if (knobs.batch) limits.emplace_back(knobs.batch, std::vector<int64_t>{-1, 1, 1, 1});
  if (knobs.groups) limits.emplace_back(knobs.groups, std::vector<int64_t>{-1, 1});
  std::vector<std::pair<std::string, Json>> others{{"auto_unroll_max_step", knobs.unroll[1]}, {"unroll_explicit", 0}};
  if (knobs.fuse_yx) others.emplace_back("fuse_yx", 0);
  return limited_point(space, limits, others);
}

}  // namespace

ConfigEntity conv_fallback(const te::Dag& dag, const Target& target, const ConvKnobs& knobs) {
  const ConfigSpace space = conv_space(dag, target, knobs);
  const te::Op& op = op_of(dag, knobs);
  // About 256 threads, each with a few channels of a few pixels; fewer where small images would leave multiprocessors idle.
  ConfigEntity best;
  for (const auto& [threads, each] : {std::pair{8, 4}, {8, 2}, {8, 1}, {4, 1}}) {
    ConfigEntity e = point_of(space, knobs, threads, each);
    if (e.index() < 0) continue;
    int64_t blocks = op.output->num_elements();
    for (const AxisTile& a : conv_tiling(op, e, knobs).axes) blocks /= a.span();
    best = std::move(e);
    if (blocks >= target.gpu->multiprocessors) break;
  }
  return best;
}

}  // namespace tw::space::cuda
