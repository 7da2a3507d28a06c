// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "engine/base/array_bytes.h"
#include "engine/base/stop_token.h"
#include "engine/learner/messages.h"

/// TorchScript files through `tw-learner`: a stranger's code, read by a process that may change nothing (process/read_only.h).
namespace tw::learner {

/// The number of an element type in exported programs, by libtorch's own.
inline int64_t exported_type(int64_t scalar_type) { return scalar_type + 1; }

/// A dense tensor; `type` as exported programs number them (exported_type).
struct ScriptTensor {
  int64_t type = 0;
  std::vector<int64_t> shape;
  ArrayBytes bytes = {};
};
/// Types and shapes of inputs by their names; no bytes.
using ScriptShapes = std::map<std::string, ScriptTensor>;

/// An argument of a module's `forward` that is a tensor.
struct ScriptInput {
  std::string name;
  ScriptTensor proposal;  ///< type and shape; no dimensions where nothing says how many
  bool traced = false;    ///< it is that of the example that the module was traced with, as the file says
  std::string reason;     ///< what else the proposal follows from, such as `a convolution's weights`
};

/// A program in the form of an exported one (frontends/torch/program.h), and its tensors by their names in it.
struct ScriptProgram {
  Json document;
  std::map<std::string, ScriptTensor> tensors;
};

struct ScriptOptions {
  std::string program;       ///< empty: find_program
  int64_t memory_bytes = 0;  ///< 0: 4 GiB and eight times the file
  ArrayRoom room;            ///< where large tensors are to lie; empty: anywhere
  StopToken stop;
};

/// What `forward` of the file's module takes. Errors: not_found and crash as of Learner::fit; what is wrong with the file (parse_error, unsupported).
Expected<std::vector<ScriptInput>> script_inputs(const std::string& path, const ScriptOptions& options = {});
/// The calls that `forward` makes for inputs of these shapes: calls of other code inlined, branches and loops gone through, tuples and lists taken apart.
/// Errors: as above; unsupported for what depends on the inputs' values; invalid_argument where libtorch refuses the shapes.
Expected<ScriptProgram> script_program(const std::string& path, const ScriptShapes& shapes, const ScriptOptions& options = {});
/// What libtorch itself computes, by its own interpreter. `inputs` in the order of script_inputs. Errors: as above.
Expected<std::vector<ScriptTensor>> run_script(const std::string& path, std::span<const ScriptTensor> inputs, const ScriptOptions& options = {});

}  // namespace tw::learner
