// SPDX-License-Identifier: Apache-2.0
// Any bytes as an archive of PyTorch, and as the graph in a sound one: an error with a sentence, or a graph that verifies.
#include <sys/mman.h>
#include <unistd.h>

#include "engine/frontends/frontend.h"
#include "tests/engine/frontends/torch/archive.h"
#include "tests/fuzz/fuzz.h"

namespace {

void read(const std::string& bytes) {
  using namespace tw;
  static const int fd = memfd_create("model.pt2", MFD_CLOEXEC);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const auto g = frontends::read_pt2(path);
  const auto sizes = frontends::open_sizes_of_pt2(path);
  if (!sizes) fuzz::require(!sizes.error().message.empty() && sizes.error().code != ErrorCode::internal, "An error of the user's file", sizes.error().text());
  if (!g) {
    fuzz::require(!g.error().message.empty() && g.error().code != ErrorCode::internal, "An error of the user's file", g.error().text());
    return;
  }
  const auto ok = graph::verify(*g);
  fuzz::require(ok.has_value(), "An imported graph verifies", ok ? "" : ok.error().text());
}

}  // namespace

/// The first byte says what the others are: the archive (directory, headers, members), the graph, or the list of weights with the graph behind a NUL.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] == 'z') {
    read(rest);
    return 0;
  }
  const size_t cut = data[0] == 'w' ? rest.find('\0') : std::string::npos;
  const std::string graph = cut == std::string::npos ? rest : rest.substr(cut + 1), weights = cut == std::string::npos ? "{\"config\":{}}" : rest.substr(0, cut);
  read(archive_test::zip({{"m/models/model.json", graph},
                          {"m/data/weights/model_weights_config.json", weights},
                          {"m/data/weights/weight_0", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12)},
                          {"m/byteorder", "little"}}));
  return 0;
}
