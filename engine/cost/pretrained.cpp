// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/pretrained.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "engine/process/find_program.h"

namespace tw::cost {
namespace {

namespace fs = std::filesystem;

/// The GPU whose model is adapted to others, as in Pruner's release.
constexpr const char* kSourceGpu = "k80";

Expected<std::string> own_folder() {
  TW_TRY(const std::string self, process::own_path());
  return (fs::path(self).parent_path().parent_path() / "share" / "tilewright" / "models").string();
}

/// Devices that a folder has models of one name for, in the alphabet's order.
std::vector<std::string> devices_in(const std::string& folder, const std::string& model) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string stem = at->path().stem().string();
    if (at->path().extension() == ".model" && stem.starts_with(model + "-")) out.push_back(stem.substr(model.size() + 1));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string pretrained_name(const Target& target) {
  if (target.gpu) return target.gpu->name;
  switch (target.vector_bits) {
    case 512: return "avx512";
    case 256: return "avx2";
    default: return {};
  }
}

Expected<std::string> find_pretrained(const ModelDef& def, const Target& target, PretrainedFor use, const std::string& given) {
  std::string folder = given;
  if (folder.empty()) {
    TW_TRY(folder, own_folder());
  }
  const std::vector<std::string> devices = devices_in(folder, def.name);
  const auto has = [&](const std::string& name) { return std::find(devices.begin(), devices.end(), name) != devices.end(); };
  std::string wanted = pretrained_name(target);
  // Processors differ in more than their vectors: the nearest is a source, too.
  if (use == PretrainedFor::others) wanted = target.gpu ? kSourceGpu : has(wanted) ? wanted : "avx512";
  if (!wanted.empty() && has(wanted)) return (fs::path(folder) / fmt::format("{}-{}.model", def.name, wanted)).string();
  return Error(ErrorCode::not_found, fmt::format("Expected a pretrained model '{}' for {}, found {}", def.name, wanted.empty() ? target.str() : wanted,
                                                 devices.empty() ? std::string("none") : fmt::format("those for {}", fmt::join(devices, ", "))),
               folder);
}

}  // namespace tw::cost
