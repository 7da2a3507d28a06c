// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/signature.h"

namespace tw::measure {

namespace {

runtime::ArgSpec arg_of(const schedule::Stage& stage, bool output) {
  runtime::ArgSpec spec{stage.op.name, stage.op.output->dtype, stage.op.output->shape, {}, stage.op.is_placeholder() && stage.op.role == te::Role::constant,
                        output};
  for (const auto& piece : stage.layout) spec.layout.push_back({piece.dim, piece.factor});
  if (stage.winograd == 0) return spec;
  // [O, I, taps...] for the caller; what is stored are the points of the last two dimensions of taps.
  if (spec.layout.empty())
    for (size_t d = 0; d < spec.shape.size(); ++d) spec.layout.push_back({static_cast<int>(d), 0});
  const size_t first = spec.shape.size() - 2;
  for (size_t d = first; d < spec.shape.size(); ++d) spec.shape[d] -= stage.winograd - 1;
  for (runtime::LayoutPiece& piece : spec.layout)
    if (piece.dim >= static_cast<int>(first) && piece.factor == 0) piece.winograd = stage.winograd;
  return spec;
}

}  // namespace

runtime::KernelSignature signature_of(const schedule::Schedule& s, const std::string& name) {
  runtime::KernelSignature signature{name, {}};
  for (const schedule::Stage& stage : s.stages()) {
    if (stage.op.is_placeholder()) signature.args.push_back(arg_of(stage, false));
  }
  for (const int o : s.outputs()) signature.args.push_back(arg_of(s.stages()[static_cast<size_t>(o)], true));
  return signature;
}

}  // namespace tw::measure
