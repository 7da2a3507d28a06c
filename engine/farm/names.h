// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engine/base/expected.h"

/// Names of a farm's subjects, streams and consumers. What people and machines are called is checked here once, so that no name from elsewhere reaches a subject,
/// a path or a command with a meaning of its own.
namespace tw::farm {

/// Whether it may name a farm, a kind of devices, a device, a session or a trial: 1 to 48 letters, digits, '-' and '_', beginning with a letter or digit.
bool is_name(std::string_view text);
/// Errors: invalid_argument, naming what it was to be.
Expected<void> check_name(std::string_view text, const char* what);
/// What other characters become '-', for a host's name.
std::string name_from(std::string_view text);
/// So many random bytes from the system, in hexadecimal.
std::string random_hex(size_t bytes);

/// Jobs wait in queues: three of each kind of devices, the most urgent first, and one of each device. A queue is a consumer of the kind's stream.
inline constexpr int kPriorities = 3;
std::string priority_queue(int priority);
std::string device_queue(const std::string& device);

/// The subjects and streams of one farm.
class Names {
 public:
  explicit Names(std::string farm) : farm_(std::move(farm)) {}
  /// One of each kind, so that a user may be let to all queues of its kind and to no others. No name holds '='.
  std::string jobs_stream(const std::string& kind) const { return "JOBS=" + farm_ + "=" + kind; }
  std::string results_stream() const { return "RESULTS=" + farm_; }
  std::string artefacts_stream() const { return "ARTEFACTS=" + farm_; }

  std::string job(const std::string& kind, const std::string& queue) const { return "tw." + farm_ + ".job." + kind + "." + queue; }
  std::string result(const std::string& kind, const std::string& session) const { return "tw." + farm_ + ".res." + kind + "." + session; }
  std::string artefact(const std::string& sha, const std::string& piece) const { return "tw." + farm_ + ".art." + sha + "." + piece; }
  std::string presence(const std::string& kind, const std::string& device) const { return "tw." + farm_ + ".hb." + kind + "." + device; }
  std::string control(const std::string& kind, const std::string& device) const { return "tw." + farm_ + ".ctl." + kind + "." + device; }
  std::string ping(const std::string& kind) const { return "tw." + farm_ + ".ping." + kind; }
  /// Said when jobs of a kind were put in.
  /// Says that a queue has a job; reaches one of the devices of the kind that have none.
  std::string wake(const std::string& kind) const { return "tw." + farm_ + ".wake." + kind; }

 private:
  std::string farm_;
};

}  // namespace tw::farm
