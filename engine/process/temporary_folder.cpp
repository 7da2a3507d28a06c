// SPDX-License-Identifier: Apache-2.0
#include "engine/process/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "engine/base/text.h"

namespace tw::process {

Expected<TemporaryFolder> TemporaryFolder::create() {
  std::error_code ec;
  std::string path = (std::filesystem::temp_directory_path(ec) / "tw-XXXXXX").string();
  if (ec || mkdtemp(path.data()) == nullptr)
    return Error(ErrorCode::infrastructure, fmt::format("Cannot make a temporary folder: {}", ec ? ec.message() : std::strerror(errno)));
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a temporary folder that cannot be removed harms nothing
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace tw::process
