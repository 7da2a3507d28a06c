// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/process/subprocess.h"

namespace tw::cli::bench {

/// A Python program with another framework in it: it says its version, then answers every line with a line, on descriptor 3.
class PeerProcess {
 public:
  /// `package` is the Python package that it needs: it answers "missing" without. Errors: not_found if `python` does not run or lacks the package;
  /// infrastructure with what the process said in place of a version; cancelled.
  static Expected<PeerProcess> start(const std::string& python, const std::string& script, const std::string& package, std::vector<std::string> arguments,
                                     StopToken stop);
  PeerProcess(PeerProcess&& other) noexcept;
  PeerProcess& operator=(PeerProcess&&) = delete;
  ~PeerProcess();

  const std::string& version() const { return version_; }
  /// Errors: infrastructure, cancelled.
  Expected<std::string> ask(const std::string& line);
  /// An answer that is a positive number. What else it says is the error: not_applicable.
  Expected<double> ask_seconds(const std::string& line);

 private:
  PeerProcess(process::Subprocess child, std::string package, StopToken stop) : child_(child), package_(std::move(package)), stop_(std::move(stop)) {}
  /// The next line, or nothing if the process ended.
  Expected<std::string> read_line();

  process::Subprocess child_;
  std::string package_, version_, read_;
  StopToken stop_;
};

}  // namespace tw::cli::bench
