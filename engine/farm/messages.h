// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "engine/base/json.h"
#include "engine/measure/references.h"
#include "engine/process/frame.h"

/// What sessions and agents say to each other. Nothing that arrives is trusted: forms, names and sizes are checked.
namespace tw::farm {

inline constexpr size_t kMostJobBytes = 256 << 10;       ///< without the code, which is an artefact
inline constexpr size_t kMostArtefactBytes = size_t{2} << 30;  ///< a network with its weights; kernels have some 100 KB
inline constexpr size_t kPieceBytes = 128 << 10;         ///< of an artefact
inline constexpr size_t kMostResultBytes = 8 << 20;
/// How long a device keeps a job without a sign of life; agents give one three times as often.
inline constexpr double kLeaseSeconds = 20;
inline constexpr double kPresenceSeconds = 5, kLostSeconds = 20;
/// A job that ended an agent so often without a result is not tried again.
inline constexpr int kMostDeliveries = 3;

/// One candidate to be measured.
struct Job {
  std::string trial;   ///< its name; with the attempt it is measured once
  int attempt = 1;
  std::string session, kind;
  std::string target;   ///< Target::str() of what the code is for
  std::string sha;      ///< of the object
  int64_t bytes = 0;    ///< of it
  Json measure;         ///< measure::to_json(MeasureJob)
  int takers = 1;       ///< devices of the kind that the session has heard of lately
  /// By device whose times the session can relate to its own: the members of `measure` that follow from the best time so far, in that device's seconds. The others
  /// stop nothing early.
  struct Known {
    double incumbent_s = 0, verify_below_s = 0, run_limit_s = 0;
  };
  std::map<std::string, Known> devices;

  std::string identity() const;
};
std::string job_text(const Job& job);
/// Errors: parse_error.
Expected<Job> job_from_text(const std::string& text);

/// What became of it on a device.
struct Result {
  std::string trial;
  int attempt = 1;
  std::string session, kind, device;
  std::string boot;         ///< of the agent that measured
  uint64_t sequence = 0;    ///< of the job in its queue
  int deliveries = 1;
  std::string refused;  ///< why the device could not measure; empty if `reply` holds what came out
  measure::References references;  ///< of the device, not long ago
  process::Frame reply;            ///< of its measuring worker

  std::string identity() const;
};
std::string result_text(const Result& result);
Expected<Result> result_from_text(const std::string& text);

/// What a device says of itself.
struct Presence {
  std::string device, kind, boot;
  std::string phase;  ///< "idle", "measuring", "drained" or "quarantined"
  std::string reason;  ///< of a quarantine
  std::string trial;   ///< that is being measured
  std::string target;  ///< of the machine
  std::string isolation;
  bool emulated = false;
  int64_t measured = 0, spooled = 0;
  std::map<std::string, int64_t> failures;  ///< by kind
  double temperature_c = 0, clock_hz = 0;   ///< 0: not known
  int64_t free_bytes = 0;                   ///< of the disk of its folder
  double uptime_s = 0;
  measure::References references;
};
Json to_json(const Presence& presence);
/// Errors: parse_error.
Expected<Presence> presence_from_json(const Json& json);

}  // namespace tw::farm
