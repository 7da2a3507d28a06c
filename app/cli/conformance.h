// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"
#include "engine/target/target.h"

/// Test-case folders: `model.onnx` or `model.pt2`, and `test_data_set_*/{input,output}_*` as `.npy`, as ONNX's `.pb`, or for programs of PyTorch as bare elements
/// (`.bin`).
namespace tw::cli {

struct CaseResult {
  std::string name;
  std::string status;  ///< "passed", "wrong", "unsupported" or "crashed"
  std::string reason;  ///< one sentence, empty if passed
  double max_abs = 0, max_rel = 0;
};
Json to_json(const CaseResult&);
CaseResult case_from_json(const Json&);

/// Every folder with a model.onnx or model.pt2 at or below `path`, sorted; a TorchScript file is a case by itself. Errors: not_found.
Expected<std::vector<std::string>> find_cases(const std::string& path);

struct CaseOptions {
  std::string device;           ///< of a GPU target, see make_executor
  std::vector<std::string> shapes;  ///< of inputs of a TorchScript file, as --input-shape takes them
  double rtol = -1, atol = -1;  ///< |got - want| <= atol + rtol * |want| and nothing else; -1: as the types allow, or 0 where only the other is given
};

/// Imports, compiles with default schedules, runs and compares one case in this process. `name` is left empty. A TorchScript file is run on seeded inputs, and compared with what
/// libtorch itself computes of them.
CaseResult run_case(const std::string& folder, const Target& target, const CaseOptions& options = {});

}  // namespace tw::cli
