// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/api/module.h>

#include "engine/learner/script.h"

namespace tw::learner {

/// A TorchScript file's module, in evaluation mode and on the processor, whatever it was saved as. Throws ScriptRefusal: parse_error, unsupported.
torch::jit::Module load_script(const std::string& path);

/// The tensors that its `forward` takes. Shapes are those of the example that the file keeps, or follow from the weights that meet an input first.
/// Throws ScriptRefusal: unsupported for arguments that are no tensors.
std::vector<ScriptInput> inputs_of(const torch::jit::Module& module, const std::string& path);

}  // namespace tw::learner
