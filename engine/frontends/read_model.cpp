// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "engine/frontends/frontend.h"

namespace tw::frontends {

namespace {

/// By its first bytes. A pipe is none, and opening one may block for ever.
bool is_archive(const std::string& path) {
  if (std::error_code ec; !std::filesystem::is_regular_file(path, ec)) return false;
  char start[4] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return start[0] == 'P' && start[1] == 'K' && ((start[2] == 3 && start[3] == 4) || (start[2] == 5 && start[3] == 6));
}

/// What torch.save wrote before it wrote archives: a pickle.
bool is_pickle(const std::string& path) {
  if (std::error_code ec; !std::filesystem::is_regular_file(path, ec)) return false;
  char start[3] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return start[0] == '\x80' && start[1] >= 2 && start[1] <= 5 && (start[2] == '\x8a' || start[2] == '}' || start[2] == 'c' || start[2] == '\x95');
}
Error pickled(const std::string& path) {
  return Error(ErrorCode::unsupported,
               "A file of weights or a pickled module of an old PyTorch has no graph: load it there, and export the model by "
               "torch.export.save(torch.export.export(model.eval(), (example,)), 'model.pt2')",
               path);
}

}  // namespace

Expected<graph::Graph> read_model(const std::string& path, const ImportOptions& options) {
  if (is_expression(path)) return read_expression(path);
  if (is_torchscript(path)) return read_torchscript(path, options);
  if (is_pickle(path)) return pickled(path);
  return is_archive(path) ? read_pt2(path, options) : read_onnx(path, options);
}

Expected<std::vector<OpenSize>> open_sizes(const std::string& path) {
  if (is_expression(path)) return std::vector<OpenSize>();
  if (is_torchscript(path)) return open_sizes_of_torchscript(path);
  if (is_pickle(path)) return pickled(path);
  return is_archive(path) ? open_sizes_of_pt2(path) : open_sizes_of_onnx(path);
}

}  // namespace tw::frontends
