// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace tw {

/// The system's last error (errno) as one of ours: no_space (a full disk or quota, a file beyond the limit of the process), not_found or io_error, with its
/// sentence.
Error system_error(const std::string& doing, const std::string& path);

/// Where a name leads to through symbolic links; there need not be anything. Errors: io_error for links that lead nowhere or in circles.
Expected<std::string> resolve_links(const std::string& path);

/// A kind of output, told by the first bytes of a file: an output takes the place of an earlier one of its kind and of nothing else.
struct FileKind {
  const char* name;                        ///< such as `a compiled network`
  bool (*is)(std::string_view beginning);  ///< sees at most kBeginningBytes, at least one
};
inline constexpr size_t kBeginningBytes = 4096;
/// Any file but a SQLite database: where the name alone tells that it may be replaced.
extern const FileKind kAnyOutput;

/// Whether an output of a kind may be written to `path`: nothing is there, or an empty file, one of its kind, or something that is no file (a pipe, a terminal,
/// a device). Errors: invalid_argument if another file is there or one that this process uses (file_in_use.h); io_error if it cannot be looked at.
Expected<void> check_output(const std::string& path, const FileKind& kind);

/// Waits until what was written to a file is on the disk. Errors: not_found, io_error.
Expected<void> sync_file(const std::string& path);

/// Writes a file piece by piece: where nobody sees it, and in its place only when commit has synced and renamed it. A reader sees the old file or the whole new
/// one. What may be replaced is what check_output says, now and at the commit; through a symbolic link the file that it leads to. Something that exists and is
/// no regular file is written to directly, never replaced.
/// Without commit nothing is left behind.
class FileWriter {
 public:
  /// Errors: those of check_output; no_space, not_found, io_error.
  static Expected<FileWriter> open(const std::string& path, const FileKind& kind);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();
  Expected<void> write(std::string_view bytes);
  /// Makes the file visible; nothing may be written after it. Without `synced` it is not waited for the disk: until sync_file() a crash of the machine may leave a
  /// file that nobody wrote.
  Expected<void> commit(bool synced = true);

 private:
  FileWriter(std::string path, const FileKind* kind, std::string temporary, int fd)
      : path_(std::move(path)), kind_(kind), temporary_(std::move(temporary)), fd_(fd) {}
  std::string path_;
  const FileKind* kind_;   ///< null where `path_` is written to directly
  std::string temporary_;  ///< the name of what is being written; empty as long as it has none
  int fd_ = -1;
};

/// All parts in order through a FileWriter.
Expected<void> write_file(const std::string& path, const FileKind& kind, std::span<const std::string_view> parts);
inline Expected<void> write_file(const std::string& path, const FileKind& kind, std::string_view bytes) { return write_file(path, kind, std::span(&bytes, 1)); }

/// Reads a file, or what comes out of a pipe, piece by piece. A pipe that nobody writes to is waited for two seconds, not for ever.
class FileReader {
 public:
  /// Errors: not_found; io_error, for a folder too, and for a database that this process has open (file_in_use.h).
  static Expected<FileReader> open(const std::string& path);
  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&&) = delete;
  ~FileReader();
  /// Fills the beginning of `piece`; 0 at the end. Errors: io_error.
  Expected<size_t> read(std::span<char> piece);
  int fd() const { return fd_; }

 private:
  FileReader(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_ = -1;
  bool begun_ = false;
};
/// All of it. Errors: those of FileReader.
Expected<std::string> read_file(const std::string& path);

/// Content key (see hash.h) of a file's bytes, read in pieces.
Expected<std::string> file_content_key(const std::string& path);

/// Creates the folder of a file if it is missing. Errors: io_error.
Expected<void> make_parent_folder(const std::string& path);

}  // namespace tw
