// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/onnxruntime.h"

#include <poll.h>
#include <unistd.h>

#include <charconv>

#include "app/cli/bench/onnxruntime_script.h"
#include "engine/base/text.h"

namespace tw::cli::bench {

Expected<std::unique_ptr<OnnxRuntime>> OnnxRuntime::create(const std::string& python, const std::string& model, int threads, StopToken stop) {
  auto child = start_program(python, {"-c", std::string(onnxruntime_script()), model, std::to_string(threads)});
  if (!child) return Error(ErrorCode::not_found, fmt::format("'{}' does not run: {}", printable(python), child.error().message));
  std::unique_ptr<OnnxRuntime> self(new OnnxRuntime(*child, std::move(stop)));
  TW_TRY(const std::string first, self->read_line());
  if (first == "missing") return Error(ErrorCode::not_found, fmt::format("'{}' has no package onnxruntime", printable(python)));
  self->version_ = first;
  return self;
}

OnnxRuntime::~OnnxRuntime() { end_child(child_); }

Expected<double> OnnxRuntime::sample(double seconds) {
  const std::string request = fmt::format("{}\n", seconds);
  if (write(child_.to, request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    return Error(ErrorCode::infrastructure, "ONNX Runtime's process does not listen");
  TW_TRY(const std::string line, read_line());
  double value = 0;
  const auto end = std::from_chars(line.data(), line.data() + line.size(), value);
  if (end.ec != std::errc() || !(value > 0))
    return Error(ErrorCode::infrastructure, fmt::format("Expected a time of ONNX Runtime, found '{}'", printable(line)));
  return value;
}

Expected<std::string> OnnxRuntime::read_line() {
  for (;;) {
    if (const size_t end = read_.find('\n'); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    if (stop_.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
    pollfd waiting{child_.from, POLLIN, 0};
    if (poll(&waiting, 1, 10) <= 0) continue;
    char buffer[256];
    const ssize_t n = ::read(child_.from, buffer, sizeof buffer);
    if (n <= 0) return Error(ErrorCode::infrastructure, fmt::format("ONNX Runtime's process {}", status_text(end_child(child_))));
    read_.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace tw::cli::bench
