// SPDX-License-Identifier: Apache-2.0
#include "engine/base/output_folder.h"

#include <filesystem>
#include <fstream>

#include "engine/base/file.h"
#include "engine/base/text.h"

namespace tw {
namespace {

constexpr const char* kListName = ".tilewright";
constexpr std::string_view kFirstLine = "# files that tw wrote into this folder and may write again\n";
const FileKind kList{"the list of a folder's files", [](std::string_view beginning) { return beginning.starts_with(kFirstLine); }};

}  // namespace

Expected<void> OutputFolder::read_list() {
  if (std::exchange(read_, true)) return {};
  std::error_code error;
  const std::string path = path_ + "/" + kListName;
  if (!std::filesystem::exists(path, error)) return {};
  TW_CHECK(check_output(path, kList));
  TW_TRY(const std::string text, read_file(path));
  for (const std::string_view line : split_lines(text))
    if (!line.starts_with('#')) names_.emplace(line);
  return {};
}

Expected<void> OutputFolder::write(const std::string& name, std::string_view bytes) {
  TW_CHECK(read_list());
  const std::string path = path_ + "/" + name;
  TW_CHECK(make_parent_folder(path));
  std::error_code error;
  const bool there = std::filesystem::symlink_status(path, error).type() != std::filesystem::file_type::not_found;
  if (there && !names_.contains(name))
    return Error(ErrorCode::invalid_argument, "Expected a folder for the outputs alone, found a file that was not written by this command", printable(path));
  if (names_.insert(name).second) {  // before the file itself: a kill in between must not make it foreign
    const std::string list = path_ + "/" + kListName;
    if (!std::filesystem::exists(list, error)) TW_CHECK(write_file(list, kList, kFirstLine));
    std::ofstream(list, std::ios::app) << name << '\n';
  }
  return write_file(path, kAnyOutput, bytes);
}

}  // namespace tw
