// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace tw {

/// The system's last error (errno) as one of ours: no_space, not_found or io_error, with its sentence.
Error system_error(const std::string& doing, const std::string& path);

/// Writes a file piece by piece: beside `path`, and in its place only when commit has synced and renamed it. A reader sees the old file or the whole new one.
/// Something that exists and is no regular file (a pipe, a terminal, a device) is written to directly, never replaced.
/// Without commit nothing is left behind.
class FileWriter {
 public:
  static Expected<FileWriter> open(const std::string& path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();
  Expected<void> write(std::string_view bytes);
  /// Makes the file visible; nothing may be written after it.
  Expected<void> commit();

 private:
  FileWriter(std::string path, std::string temporary, int fd) : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  std::string path_, temporary_;  ///< no temporary file where `path` is written to directly
  int fd_ = -1;
};

/// All parts in order through a FileWriter.
Expected<void> write_file(const std::string& path, std::span<const std::string_view> parts);
inline Expected<void> write_file(const std::string& path, std::string_view bytes) { return write_file(path, std::span(&bytes, 1)); }

/// Content key (see hash.h) of a file's bytes, read in pieces.
Expected<std::string> file_content_key(const std::string& path);

}  // namespace tw
