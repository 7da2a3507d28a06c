// SPDX-License-Identifier: Apache-2.0
#include "engine/records/json_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::records {
namespace {

/// Cuts a stream of chunks into lines.
class LineCutter {
 public:
  explicit LineCutter(const std::function<void(const Line&)>& f) : f_(f) {}

  void feed(std::string_view chunk) {
    while (!chunk.empty()) {
      const size_t end = chunk.find('\n');
      const size_t take = std::min(end, chunk.size());
      if (!too_long_) buffer_.append(chunk.substr(0, take));
      length_ += static_cast<int64_t>(take);
      if (buffer_.size() > kMaxLineBytes) {
        too_long_ = true;
        buffer_ = {};
      }
      if (end == std::string_view::npos) return;
      ++length_;
      emit(true);
      chunk.remove_prefix(end + 1);
    }
  }
  void finish() {
    if (length_ > 0) emit(false);
  }

 private:
  void emit(bool ended) {
    std::string_view text = buffer_;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (number_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    f_({number_, offset_, text, ended, too_long_});
    ++number_;
    offset_ += length_;
    length_ = 0;
    too_long_ = false;
    buffer_.clear();
  }

  const std::function<void(const Line&)>& f_;
  std::string buffer_;
  int64_t number_ = 1, offset_ = 0, length_ = 0;
  bool too_long_ = false;
};

/// Advisory: file systems without locks still get one write per line.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { ::flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

}  // namespace

Expected<void> for_each_line(const std::string& path, const std::function<void(const Line&)>& f) {
  TW_TRY(FileReader file, FileReader::open(path));
  LineCutter cutter(f);
  std::string chunk(size_t{1} << 16, '\0');
  for (;;) {
    TW_TRY(const size_t n, file.read(chunk));
    if (n == 0) break;
    cutter.feed(std::string_view(chunk).substr(0, n));
  }
  cutter.finish();
  return {};
}

void for_each_line_of(std::string_view text, const std::function<void(const Line&)>& f) {
  LineCutter cutter(f);
  cutter.feed(text);
  cutter.finish();
}

int64_t take_json_lines(std::string_view text, const std::function<Expected<void>(std::string_view body, int64_t number)>& take, std::vector<LineProblem>& problems) {
  int64_t lines = 0;
  for_each_line_of(text, [&](const Line& line) {
    ++lines;
    const auto problem = [&](const char* kind, std::string reason) { problems.push_back({line.number, line.offset, kind, std::move(reason)}); };
    if (line.too_long) return problem("too_long", fmt::format("Expected a line of at most {} MiB, found a longer one", kMaxLineBytes >> 20));
    const std::string_view body = trim(line.text);
    if (body.empty()) return;
    const Expected<void> taken = take(body, line.number);
    if (taken) return;
    const bool json = parse_json(body).has_value(), begins = body.starts_with('{') || body.starts_with('[');
    const bool foreign = taken.error().code == ErrorCode::unsupported;
    problem(json ? (foreign ? "other_format" : "malformed") : (!line.ended && begins ? "cut_off" : "not_json"), taken.error().message);
  });
  return lines;
}

const FileKind kLinesFile{"a log", [](std::string_view beginning) {
                            const size_t first = beginning.find_first_not_of(" \t\r\n");
                            return first == std::string_view::npos || beginning[first] == '{' || beginning[first] == '#';
                          }};

std::vector<std::string_view> split_objects(std::string_view line) {
  std::vector<std::string_view> pieces;
  int depth = 0;
  bool in_string = false;
  size_t start = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c != '}' && c != ']') continue;
    if (--depth < 0) return {line};
    if (depth > 0 || c != '}') continue;
    pieces.push_back(line.substr(start, i + 1 - start));
    start = line.find('{', i);
    if (start == std::string_view::npos) start = line.size();
    if (line.substr(i + 1, start - i - 1).find_first_not_of(" \t") != std::string_view::npos) return {line};
    i = start - 1;
  }
  if (pieces.size() < 2 || start < line.size()) return {line};
  return pieces;
}

Expected<LineAppender> LineAppender::open(const std::string& path) {
  TW_CHECK(check_output(path, kLinesFile));
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return system_error("Appending", path);
  return LineAppender(fd, path);
}

LineAppender::LineAppender(LineAppender&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

LineAppender& LineAppender::operator=(LineAppender&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

LineAppender::~LineAppender() {
  if (fd_ >= 0) ::close(fd_);
}

Expected<void> LineAppender::append(std::string_view line) {
  TW_ASSERT(line.find('\n') == std::string_view::npos, "a line has a newline in it");
  const FileLock lock(fd_);
  struct stat info {};
  char last = '\n';
  if (::fstat(fd_, &info) != 0) return system_error("Appending", path_);
  if (info.st_size > 0 && ::pread(fd_, &last, 1, info.st_size - 1) != 1) return system_error("Reading", path_);
  std::string bytes;
  bytes.reserve(line.size() + 2);
  if (last != '\n') bytes += '\n';
  bytes += line;
  bytes += '\n';
  ssize_t n = -1;
  do {
    n = ::write(fd_, bytes.data(), bytes.size());
  } while (n < 0 && errno == EINTR);
  if (n < 0) return system_error("Appending", path_);
  if (static_cast<size_t>(n) < bytes.size()) return Error(ErrorCode::no_space, "Appending failed: no space is left for a whole line", path_);
  return {};
}

Expected<void> LineAppender::sync() {
  if (::fdatasync(fd_) != 0) return system_error("Writing", path_);
  return {};
}

}  // namespace tw::records
