// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/stack.h>

#include <string>

namespace tw::learner {

/// Cuts what a convolution or a product of matrices sums over to one element. The results have other values, which nobody reads, and the same shapes; they are most of a network's work.
/// Arguments whose sizes do not fit each other stay as they are, so that libtorch says what is wrong.
void shorten_sums(const std::string& function, torch::jit::Stack& arguments);

}  // namespace tw::learner
