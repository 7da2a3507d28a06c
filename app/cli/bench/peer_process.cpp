// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/peer_process.h"

#include <poll.h>
#include <unistd.h>

#include <charconv>

#include "engine/base/text.h"

namespace tw::cli::bench {

Expected<PeerProcess> PeerProcess::start(const std::string& python, const std::string& script, const std::string& package, std::vector<std::string> arguments,
                                         StopToken stop) {
  arguments.insert(arguments.begin(), {"-c", script});
  auto child = process::start_program(python, arguments);
  if (!child) return Error(ErrorCode::not_found, fmt::format("'{}' does not run: {}", printable(python), child.error().message));
  PeerProcess self(*child, package, std::move(stop));
  TW_TRY(self.version_, self.read_line());
  if (self.version_ == "missing") return Error(ErrorCode::not_found, fmt::format("'{}' has no package {}", printable(python), package));
  if (self.version_.starts_with("missing: ")) return Error(ErrorCode::not_found, printable(self.version_.substr(9)));
  return self;
}

PeerProcess::PeerProcess(PeerProcess&& other) noexcept
    : child_(std::exchange(other.child_, process::Subprocess())),
      package_(std::move(other.package_)),
      version_(std::move(other.version_)),
      read_(std::move(other.read_)),
      stop_(std::move(other.stop_)) {}

PeerProcess::~PeerProcess() { process::end_subprocess(child_); }

Expected<std::string> PeerProcess::ask(const std::string& line) {
  const std::string request = line + "\n";
  if (write(child_.to, request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    return Error(ErrorCode::infrastructure, fmt::format("The process of {} does not listen", package_));
  return read_line();
}

Expected<double> PeerProcess::ask_seconds(const std::string& line) {
  TW_TRY(const std::string answer, ask(line));
  double value = 0;
  const auto end = std::from_chars(answer.data(), answer.data() + answer.size(), value);
  if (end.ec != std::errc() || !(value > 0))
    return Error(ErrorCode::not_applicable, fmt::format("Expected a time of {}, found '{}'", package_, printable(answer)));
  return value;
}

Expected<std::string> PeerProcess::read_line() {
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
    if (n <= 0) return Error(ErrorCode::infrastructure, fmt::format("The process of {} {}", package_, process::status_text(process::end_subprocess(child_))));
    read_.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace tw::cli::bench
