// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/sass.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/codegen/cuda/toolkit.h"

namespace tw::codegen {

namespace {

namespace fs = std::filesystem;

Expected<std::string> find_nvdisasm() {
  std::vector<fs::path> folders;
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.emplace_back(folder);
  for (const fs::path& toolkit : toolkit_folders()) folders.push_back(toolkit / "bin");
  for (const fs::path& folder : folders) {
    const std::string program = (folder / "nvdisasm").string();
    if (!folder.empty() && access(program.c_str(), X_OK) == 0) return program;
  }
  return Error(ErrorCode::not_found,
               "Expected NVIDIA's disassembler nvdisasm (part of the CUDA toolkit) on the path, in $CUDA_HOME/bin or in /usr/local/cuda/bin, found none");
}

/// What a program prints on both of its outputs. Errors: infrastructure if it cannot be started or fails.
Expected<std::string> printed_by(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error(ErrorCode::infrastructure, fmt::format("Making a pipe failed: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int started = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string out;
  char buffer[1 << 16];
  for (ssize_t n = 1; started == 0 && n > 0;) {
    n = read(ends[0], buffer, sizeof buffer);
    if (n > 0) out.append(buffer, static_cast<size_t>(n));
    if (n < 0 && errno == EINTR) n = 1;
  }
  close(ends[0]);
  int status = 0;
  while (started == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (started != 0) return Error(ErrorCode::infrastructure, fmt::format("Starting it failed: {}", std::strerror(started)), program);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error(ErrorCode::infrastructure, fmt::format("Expected a disassembly, found: {}", printable(trim(out.substr(0, out.find('\n'))))), program);
  return out;
}

}  // namespace

Sass parse_sass(const std::string& printed) {
  Sass out;
  int current = -1;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    const std::string text(trim(line));
    if (text.starts_with("//## File")) {
      // Of a function that was put in, its own place comes first and the caller's last.
      const size_t at = text.rfind("line ");
      if (at != std::string::npos) current = std::atoi(text.c_str() + at + 5) - 1;
      continue;
    }
    const bool instruction = text.starts_with("/*") && text.find(';') != std::string::npos;
    const bool label = text.starts_with(".L_") && text.ends_with(":"), function = text.starts_with(".text.") && text.ends_with(":");
    if (function) current = -1;
    if (!instruction && !label && !function) continue;
    out.text += (function ? text.substr(6) : label ? text : "  " + text) + "\n";
    out.line_to_source.push_back(instruction ? current : -1);
  }
  return out;
}

Expected<Sass> disassemble(const std::vector<std::byte>& cubin) {
  TW_TRY(const std::string program, find_nvdisasm());
  std::error_code ignored;
  std::string file = (fs::temp_directory_path(ignored) / "tw-cubin-XXXXXX").string();
  const int fd = mkstemp(file.data());
  if (fd < 0) return system_error("Making a temporary file", file);
  const ssize_t written = write(fd, cubin.data(), cubin.size());
  close(fd);
  auto printed = written == static_cast<ssize_t>(cubin.size()) ? printed_by(program, {"--print-code", "--print-line-info-inline", file})
                                                               : Expected<std::string>(system_error("Writing", file));
  unlink(file.c_str());
  if (!printed) return printed.error();
  return parse_sass(*printed);
}

}  // namespace tw::codegen
