// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "app/cli/subprocess.h"

namespace tw::cli::bench {

/// ONNX Runtime running a model in a Python process of its own, which is told when to run.
class OnnxRuntime {
 public:
  /// Starts the process and loads the model, on the processors that the calling thread may use. Errors: not_found if `python` does not run or lacks the
  /// package; infrastructure with the process's own words; cancelled.
  static Expected<std::unique_ptr<OnnxRuntime>> create(const std::string& python, const std::string& model, int threads, StopToken stop);
  ~OnnxRuntime();

  const std::string& version() const { return version_; }
  /// Median time of the runs of so many seconds; of at least one run.
  Expected<double> sample(double seconds);

 private:
  OnnxRuntime(Child child, StopToken stop) : child_(child), stop_(std::move(stop)) {}
  /// The next line, or nothing if the process ended.
  Expected<std::string> read_line();

  Child child_;
  StopToken stop_;
  std::string version_, read_;
};

}  // namespace tw::cli::bench
