// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/file.h"

namespace tw::records {

/// A line that could not be used.
struct LineProblem {
  int64_t line = 0;    ///< 1-based
  int64_t offset = 0;  ///< of its first byte in the file
  std::string kind;    ///< one word for counting, such as "cut_off"
  std::string reason;  ///< one sentence
};

/// Longest line that is read, in bytes.
inline constexpr size_t kMaxLineBytes = size_t{16} << 20;

struct Line {
  int64_t number = 0;     ///< 1-based
  int64_t offset = 0;     ///< of its first byte
  std::string_view text;  ///< without its line end (LF or CRLF) and without a byte order mark; empty if too_long
  bool ended = true;      ///< false for a last line without a line end: it may be cut off
  bool too_long = false;  ///< more than kMaxLineBytes; skipped
};

/// Calls f on each line of a file, in constant memory. Errors: not_found, io_error.
Expected<void> for_each_line(const std::string& path, const std::function<void(const Line&)>& f);
/// The same for text in memory.
void for_each_line_of(std::string_view text, const std::function<void(const Line&)>& f);

/// Gives `take` the text of each line that holds something, with its number; what it cannot read becomes a problem: "too_long"; "cut_off", for a last line that begins
/// as JSON does; "not_json"; "other_format" for errors of the code unsupported; else "malformed". Returns the number of lines.
int64_t take_json_lines(std::string_view text, const std::function<Expected<void>(std::string_view body, int64_t number)>& take, std::vector<LineProblem>& problems);

/// What lines may be appended to: text that begins with an object or a comment.
extern const FileKind kLinesFile;

/// Several JSON objects written one after the other on a line, as interleaved writers leave them: each object's text. One piece for anything else.
std::vector<std::string_view> split_objects(std::string_view line);

/// Appends lines to a file that other processes may append to as well: each line is one write(2) on O_APPEND under a lock of the file.
/// If the file ends without a newline, a newline goes first, so that a line torn by a kill spoils no other.
class LineAppender {
 public:
  /// Opens or creates. Errors: invalid_argument for a file that holds no lines, io_error, not_found for a missing folder.
  static Expected<LineAppender> open(const std::string& path);
  LineAppender(LineAppender&& other) noexcept;
  LineAppender& operator=(LineAppender&& other) noexcept;
  ~LineAppender();

  /// `line` without its newline. Errors: no_space, io_error.
  Expected<void> append(std::string_view line);
  /// Waits until everything appended is on the disk.
  Expected<void> sync();

 private:
  LineAppender(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::string path_;
};

}  // namespace tw::records
