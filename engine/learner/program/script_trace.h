// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "engine/learner/program/script_values.h"

namespace tw::learner {

/// Where the tensors that a program begins with go: parameters, buffers and constants, as they are at that moment.
using TakeTensor = std::function<void(const std::string& name, const at::Tensor& value)>;

/// Goes through a module's `forward` once with zeros of the inputs' shapes, and returns the calls on tensors that it makes as an exported program. Whatever the inputs' values do not decide
/// is computed on the way: sizes, numbers, which branch is taken, how often a loop runs. `tick` is called before every call and may throw.
/// Throws ScriptRefusal: unsupported for what values decide; invalid_argument where libtorch refuses the shapes; resource_limit.
Json trace_script(const torch::jit::Module& module, const std::vector<std::pair<std::string, at::Tensor>>& inputs, const TakeTensor& take, const std::function<void()>& tick);

/// The tensors of a result, those in tuples, lists and dictionaries one after the other.
std::vector<at::Tensor> results_of(const c10::IValue& v);

}  // namespace tw::learner
