// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/program/script_shapes.h"

#include <ATen/ATen.h>

namespace tw::learner {
namespace {

void shorten_convolution(torch::jit::Stack& s, size_t groups_at, bool transposed) {
  if (transposed || !s[0].isTensor() || !s[1].isTensor() || !s[groups_at].isInt()) return;
  const at::Tensor x = s[0].toTensor(), w = s[1].toTensor();
  const int64_t groups = s[groups_at].toInt(), channels = x.dim() == w.dim() ? 1 : 0;  // without a batch the first dimension
  if (!x.defined() || !w.defined() || w.dim() < 3 || x.dim() < w.dim() - 1 || x.dim() > w.dim() || groups < 1) return;
  if (w.size(1) < 2 || x.size(channels) != w.size(1) * groups) return;
  s[0] = x.narrow(channels, 0, groups);
  s[1] = w.narrow(1, 0, 1);
}

/// a [..., k] and b with k in dimension `of_b`.
void shorten_product(torch::jit::Stack& s, size_t first, int64_t of_b) {
  if (!s[first].isTensor() || !s[first + 1].isTensor()) return;
  const at::Tensor a = s[first].toTensor(), b = s[first + 1].toTensor();
  if (!a.defined() || !b.defined() || a.dim() < 1 || b.dim() < 2 || a.size(-1) < 2 || a.size(-1) != b.size(of_b)) return;
  s[first] = a.narrow(-1, 0, 1);
  s[first + 1] = b.narrow(of_b, 0, 1);
}

}  // namespace

void shorten_sums(const std::string& function, torch::jit::Stack& s) {
  if ((function == "aten::conv1d" || function == "aten::conv2d" || function == "aten::conv3d") && s.size() == 7) return shorten_convolution(s, 6, false);
  if ((function == "aten::_convolution" || function == "aten::convolution") && s.size() >= 9) return shorten_convolution(s, 8, s[6].toBool());
  if (function == "aten::linear") return shorten_product(s, 0, -1);
  if (function == "aten::matmul" || function == "aten::mm" || function == "aten::bmm") return shorten_product(s, 0, -2);
  if (function == "aten::addmm" || function == "aten::baddbmm") return shorten_product(s, 1, -2);
}

}  // namespace tw::learner
