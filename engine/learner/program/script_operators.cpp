// SPDX-License-Identifier: Apache-2.0
// Functions of newer versions of PyTorch that files call and this libtorch does not know. A file with one of them would not even load.
#include <ATen/ATen.h>
#include <torch/library.h>
#include <torch/version.h>

#include <cmath>
#include <limits>

namespace tw::learner {
namespace {

/// Source: torch.nn.functional.scaled_dot_product_attention in PyTorch's documentation.
at::Tensor attention_of_newer(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const c10::optional<at::Tensor>& mask, double /*dropout*/, bool causal,
                              c10::optional<double> scale, bool grouped) {
  const double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(query.size(-1)));
  const auto repeated = [&](const at::Tensor& t) { return grouped ? t.repeat_interleave(query.size(-3) / t.size(-3), -3) : t; };
  at::Tensor scores = at::matmul(query, repeated(key).transpose(-2, -1)) * factor;
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  if (causal) scores = scores.masked_fill(at::ones({scores.size(-2), scores.size(-1)}, at::kBool).tril().logical_not(), kNever);
  if (mask && mask->defined()) scores = mask->scalar_type() == at::kBool ? scores.masked_fill(mask->logical_not(), kNever) : scores + *mask;
  return at::matmul(at::softmax(scores, -1), repeated(value));
}

}  // namespace

#if TORCH_VERSION_MAJOR < 2
TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def(
      "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
      attention_of_newer);
}
#endif

}  // namespace tw::learner
