// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space {

namespace {

using schedule::LayoutStep;

/// The convolution of a computation that nothing has been done to yet, where blocks of channels are the layout of what it reads or writes.
std::optional<cpu::Anchor> convolution_of(const SketchState& s) {
  for (const char* tag : {"conv1d", "conv2d", "conv3d", "depthwise_conv2d"})
    if (const auto a = cpu::find_anchor(*s.schedule().dag(), tag)) return a;
  return std::nullopt;
}

/// 1 where the last block would be padded: tiles are made of the channels that there are.
int64_t block_of(const SketchState& s, int stage) {
  const int64_t channels = s.stage(stage).op.output->shape[1], block = cpu::channel_block(channels, s.target());
  return channels % block == 0 ? block : 1;
}

RuleFit fits_block_activations(const SketchState& s, int stage) {
  if (s.options().exact || s.steps() > 0 || !s.is_output(stage)) return RuleFit::skip;
  const auto a = convolution_of(s);
  return a && (block_of(s, a->data) > 1 || block_of(s, a->reduce) > 1) ? RuleFit::apply_and_end : RuleFit::skip;
}

void lay_out(SketchState& s, int stage, int64_t block) {
  if (block > 1) s.apply(LayoutStep{stage, cpu::nchwc(block, s.stage(stage).op.output->shape.size() - 2)});
}

/// Blocks of channels innermost, so that vectors are what lies side by side.
void pad_by_blocks(SketchState& s, int pad, int64_t block) {
  lay_out(s, pad, block);
  const int rank = static_cast<int>(s.stage(pad).iters.size());
  s.apply(schedule::SplitStep{pad, 1, s.stage(pad).iters[1].extent, {block}});
  schedule::ReorderStep order{pad, {0, 1}};
  for (int k = 3; k <= rank; ++k) order.order.push_back(k);
  order.order.push_back(2);
  s.apply(order);
}

Derived block_activations(const SketchState& s, int stage) {
  const cpu::Anchor a = *convolution_of(s);
  const int64_t read = block_of(s, a.data), written = block_of(s, a.reduce);
  SketchState next = s;
  lay_out(next, a.data, read);
  for (int i = 0; i < static_cast<int>(s.schedule().stages().size()); ++i) {
    const te::Op& op = s.stage(i).op;
    const bool residual = op.is_placeholder() && op.role == te::Role::activation && i != a.data && op.output->shape == s.stage(a.reduce).op.output->shape;
    if (residual || s.is_output(i)) lay_out(next, i, written);
  }
  if (a.pad < 0) return {{next, stage}};
  SketchState inlined = next;
  inlined.apply(schedule::ComputeInlineStep{a.pad});
  if (read > 1) pad_by_blocks(next, a.pad, read);
  return {{next, stage}, {inlined, stage}};
}

}  // namespace

SketchRule block_activations_rule() {
  return {"block-activations", true, false, fits_block_activations, block_activations,
          "Lays out what a convolution reads and writes in blocks of channels, as neighbouring kernels do, with the border of zeros as an array or tested where it is read."};
}

}  // namespace tw::space
