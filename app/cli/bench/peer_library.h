// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"

namespace tw::cli::bench {

/// Opens the first of `names` that is found: in each of the folders, where what it needs besides is opened first if it lies beside it, then where the system
/// looks. It stays in the process. Errors: not_found with what the system said of the last one tried.
struct PeerLibrary {
  void* handle = nullptr;
  std::string folder;  ///< empty: the system's
  std::string name;

  template <class F>
  F function(const char* symbol) const {
    return reinterpret_cast<F>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;
};
Expected<PeerLibrary> open_peer_library(const std::vector<std::string>& folders, const std::vector<std::string>& names);

}  // namespace tw::cli::bench
