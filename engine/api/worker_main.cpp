// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "engine/api/import_role.h"
#include "engine/base/assert.h"
#include "engine/measure/build_role.h"
#include "engine/measure/gpu_role.h"
#include "engine/measure/measure_role.h"
#include "engine/measure/network_role.h"
#include "engine/process/child_process.h"

/// The child process of `tw` and the workbench that compiles candidates (`build`) or runs them, on the processor (`measure`) or a GPU (`gpu`), runs whole
/// networks (`network`), or reads a model file (`import`).
/// It talks on descriptor 3 and is of no use when started by hand.
int main(int argc, char** argv) {
  constexpr int kUsage = 2, kInternal = 70;
  const std::string_view role = argc > 1 ? argv[1] : "";
  int64_t memory_bytes = 0;
  if (argc == 4 && std::string_view(argv[2]) == "--memory-bytes") {
    const std::string_view value = argv[3];
    std::from_chars(value.data(), value.data() + value.size(), memory_bytes);
  }
  const bool known = role == "build" || role == "measure" || role == "gpu" || role == "network" || role == "import";
  if (!known || memory_bytes <= 0 || fcntl(tw::process::kChannelFd, F_GETFD) < 0) {
    std::fprintf(stderr,
                 "tw-worker is started by tilewright and tw: tw-worker build|measure|gpu|network|import --memory-bytes N, with a channel on descriptor 3\n");
    return kUsage;
  }
  fcntl(tw::process::kChannelFd, F_SETFD, FD_CLOEXEC);
  try {
    if (role == "gpu") return tw::measure::gpu_role();
    if (role == "import") return tw::api::import_role(memory_bytes);
    if (role == "network") return tw::measure::network_role(memory_bytes);
    return role == "build" ? tw::measure::build_role(memory_bytes) : tw::measure::measure_role();
  } catch (const tw::InternalError& e) {
    std::fprintf(stderr, "Internal error: %s\n", e.what());
    return kInternal;
  }
}
