// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/bench/kernel_case.h"

/// Other people's libraries to compare with, opened at run time, so that `tw` needs none of them.
namespace tw::cli::bench {

/// A case made ready in a library: its arrays in the layouts that the library likes, its weights so often that together they are larger than the caches.
class PeerKernel {
 public:
  virtual ~PeerKernel() = default;
  /// One call with the next copy of the weights.
  virtual void run() = 0;
  /// The result of the last call, row-major.
  virtual HostArray result() = 0;
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual const std::string& name() const = 0;
  /// Version, kernels and threads, for the foot of a table.
  virtual std::string description() const = 0;
  /// Errors: not_applicable if the library has no such operation; infrastructure if it fails. `copies` of the weights.
  virtual Expected<std::unique_ptr<PeerKernel>> prepare(const KernelCase& c, const KernelData& data, int copies) = 0;
};

/// One thread on each of the processors, the calling thread on the first. They stay in the process: threads cannot be unloaded. Libraries are looked for in
/// the folders first. Errors: not_found naming the library and where Debian has it; unsupported if its threads cannot be told; infrastructure.
Expected<std::unique_ptr<Peer>> openblas_peer(const std::vector<int>& processors, const std::vector<std::string>& folders);
Expected<std::unique_ptr<Peer>> mkl_peer(const std::vector<int>& processors, const std::vector<std::string>& folders);
Expected<std::unique_ptr<Peer>> onednn_peer(const std::vector<int>& processors, const std::vector<std::string>& folders);

}  // namespace tw::cli::bench
