// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/process/find_program.h"

namespace tw::lesson {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostEntries = 500;

/// Names that a folder's own list puts first.
std::vector<std::string> order_of(const fs::path& folder) {
  std::vector<std::string> order;
  std::error_code ec;
  const fs::path file = folder / "order.txt";
  if (!fs::is_regular_file(file, ec) || fs::file_size(file, ec) > kMaxLesson) return order;
  if (const auto text = read_file(file.string()))
    for (const std::string_view line : split_lines(*text))
      if (!trim(line).empty()) order.emplace_back(trim(line));
  return order;
}

}  // namespace

std::vector<std::string> languages() { return {"en", "zh-CN"}; }

Expected<std::string> bundled_folder(const std::string& language) {
  TW_TRY(const std::string self, process::own_path());
  const fs::path folder = fs::path(self).parent_path().parent_path() / "share" / "tilewright" / "lessons" / language;
  std::error_code ec;
  if (!fs::is_directory(folder, ec)) return Error(ErrorCode::not_found, fmt::format("Expected the lessons that come with the program in '{}', found none", folder.string()));
  return folder.string();
}

Expected<Lesson> read_lesson(const std::string& file) {
  std::error_code ec;
  if (fs::is_regular_file(file, ec) && fs::file_size(file, ec) > kMaxLesson)
    return Error(ErrorCode::resource_limit, fmt::format("Expected a lesson of at most {} KiB", kMaxLesson >> 10), file);
  TW_TRY(const std::string text, read_file(file));
  auto lesson = parse_lesson(text);
  if (lesson) return lesson;
  Error e = lesson.error();
  e.where = e.where.empty() ? file : file + ", " + e.where;
  return e;
}

Expected<std::vector<Entry>> lessons_in(const std::string& folder) {
  std::error_code ec;
  if (!fs::is_directory(folder, ec)) return Error(ErrorCode::not_found, "Expected a folder of lessons, found none", folder);
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, ec), end; !ec && at != end && files.size() < kMostEntries; at.increment(ec))
    if (std::error_code each; at->path().extension() == ".md" && at->path().stem() != "README" && at->is_regular_file(each)) files.push_back(at->path());
  const std::vector<std::string> order = order_of(folder);
  const auto key = [&](const fs::path& p) { return std::pair(std::find(order.begin(), order.end(), p.stem().string()) - order.begin(), p.stem().string()); };
  std::sort(files.begin(), files.end(), [&](const fs::path& a, const fs::path& b) { return key(a) < key(b); });
  std::vector<Entry> out;
  for (const fs::path& f : files) out.push_back({f.string(), read_lesson(f.string())});
  return out;
}

}  // namespace tw::lesson
