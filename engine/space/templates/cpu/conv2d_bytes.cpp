// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cpu/direct_conv.h"
#include "engine/target/cpu_table.h"

namespace tw::space::cpu {

namespace {

std::optional<DirectConv> conv_of(const te::Dag& dag, const Target& target) { return find_direct_conv(dag, target, "conv2d_bytes", target::kBytesTogether); }

bool conv2d_bytes_matches(const te::Dag& dag, const Target& target) { return conv_of(dag, target).has_value(); }

ConfigSpace conv2d_bytes_space(const te::Dag& dag, const Target& target) { return direct_conv_space(dag, *conv_of(dag, target), target); }

ConfigEntity conv2d_bytes_fallback(const te::Dag& dag, const Target& target) { return direct_conv_fallback(dag, *conv_of(dag, target), target); }

Expected<schedule::Schedule> conv2d_bytes_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  return direct_conv_apply(dag, *conv_of(*dag, target), target, e);
}

}  // namespace

Template conv2d_bytes() {
  return {"conv2d_bytes.cpu",
          conv2d_bytes_matches,
          conv2d_bytes_space,
          conv2d_bytes_apply,
          conv2d_bytes_fallback,
          "Direct convolution of bytes over tensors stored in blocks of channels, with constant weights packed so that four neighbouring input channels of each output channel lie together: one "
          "instruction adds their products up in every lane.",
          kByteDots};
}

}  // namespace tw::space::cpu
