// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "engine/space/template.h"
#include "engine/space/templates/cpu/batch_matmul.h"
#include "engine/space/templates/cpu/conv2d_nchwc.h"
#include "engine/space/templates/cpu/dense_pack.h"
#include "engine/space/templates/cpu/depthwise_conv2d_nchwc.h"

namespace tw::space {

namespace {

const std::array<Template, 4> kTemplates{{
    {"dense_pack.cpu", cpu::dense_pack_matches, cpu::dense_pack_space, cpu::dense_pack_apply, cpu::dense_pack_fallback,
     "Matrix product with constant weights, packed ahead of time into panels a few vectors wide. A register tile of rows times columns is summed over the "
     "whole "
     "reduction before it is stored, with the elementwise work that follows applied on the way out.",
     "Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"},
    {"conv2d_nchwc.cpu", cpu::conv2d_nchwc_matches, cpu::conv2d_nchwc_space, cpu::conv2d_nchwc_apply, cpu::conv2d_nchwc_fallback,
     "Direct convolution over tensors stored in blocks of channels. One vector holds a block of output channels; a register tile of neighbouring pixels times "
     "channel blocks shares the loads of weights and inputs.",
     "Georganas et al., Anatomy of high-performance deep learning convolutions on SIMD architectures, SC 2018; Liu et al., NeoCPU, USENIX ATC 2019"},
    {"depthwise_conv2d_nchwc.cpu", cpu::depthwise_conv2d_nchwc_matches, cpu::depthwise_conv2d_nchwc_space, cpu::depthwise_conv2d_nchwc_apply,
     cpu::depthwise_conv2d_nchwc_fallback,
     "Depthwise convolution over blocks of channels. With the window written out, neighbouring taps and rows reuse inputs from registers.",
     "Zhang et al., High performance depthwise and pointwise convolutions on mobile devices, AAAI 2020"},
    {"batch_matmul.cpu", cpu::batch_matmul_matches, cpu::batch_matmul_space, cpu::batch_matmul_apply, cpu::batch_matmul_fallback,
     "Matrix products of two activations, one a batch entry. Nothing can be packed ahead of time: a register tile of rows times whole vectors of columns reads "
     "both operands where they lie.",
     "Goto and van de Geijn, Anatomy of high-performance matrix multiplication, ACM TOMS 2008"},
}};

}  // namespace

std::span<const Template> templates() { return kTemplates; }

const Template* find_template(const te::Dag& dag, const Target& target) {
  if (target.kind != "llvm") return nullptr;
  for (const Template& t : kTemplates)
    if (t.matches(dag, target)) return &t;
  return nullptr;
}

const Template* find_template(const te::Dag& dag, const Target& target, std::string_view name) {
  const std::vector<const Template*> found = find_templates(dag, target);
  const auto it = std::find_if(found.begin(), found.end(), [&](const Template* t) { return name == t->name; });
  return it == found.end() ? nullptr : *it;
}

std::vector<const Template*> find_templates(const te::Dag& dag, const Target& target) {
  std::vector<const Template*> found;
  if (target.kind != "llvm") return found;
  for (const std::span<const Template> table : {templates(), autotvm_templates()})
    for (const Template& t : table)
      if (t.matches(dag, target)) found.push_back(&t);
  return found;
}

}  // namespace tw::space
