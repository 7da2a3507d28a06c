// SPDX-License-Identifier: Apache-2.0
#include "engine/records/measure_result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/base/json.h"
#include "engine/base/paired_ratio.h"
#include "engine/base/text.h"
#include "engine/records/json_fields.h"

namespace tw::records {
namespace {

struct StatusRow {
  Status status;
  const char* name;
  bool blames_candidate;
};

constexpr std::array kStatuses = {
    StatusRow{Status::ok, "ok", false},
    StatusRow{Status::lower_fail, "lower_fail", true},
    StatusRow{Status::build_fail, "build_fail", true},
    StatusRow{Status::build_timeout, "build_timeout", true},
    StatusRow{Status::build_crash, "build_crash", true},
    StatusRow{Status::load_fail, "load_fail", true},
    StatusRow{Status::run_timeout, "run_timeout", true},
    StatusRow{Status::run_crash, "run_crash", true},
    StatusRow{Status::out_of_memory, "out_of_memory", true},
    StatusRow{Status::wrong_output, "wrong_output", true},
    StatusRow{Status::bad_timing, "bad_timing", true},
    StatusRow{Status::infra, "infra", false},
    StatusRow{Status::cancelled, "cancelled", false},
    StatusRow{Status::not_recorded, "not_recorded", false},
};

const StatusRow& row(Status s) {
  for (const StatusRow& r : kStatuses) {
    if (r.status == s) return r;
  }
  TW_UNREACHABLE("status");
}

}  // namespace

const char* status_name(Status s) { return row(s).name; }

Status status_from_name(std::string_view name) {
  for (const StatusRow& r : kStatuses) {
    if (name == r.name) return r.status;
  }
  return Status::infra;
}

bool possible_time(double seconds) { return seconds >= kLeastTime && seconds < kFailureCost; }

bool blames_candidate(Status s) { return row(s).blames_candidate; }

const char* weights_name(Weights w) { return w == Weights::cold ? "cold" : w == Weights::warm ? "warm" : ""; }

Weights weights_from_name(std::string_view name) {
  for (const Weights w : {Weights::cold, Weights::warm})
    if (name == weights_name(w)) return w;
  return Weights::unknown;
}

std::vector<double> MeasureResult::counted_samples() const {
  std::vector<double> kept;
  for (size_t i = 0; i < samples_s.size(); ++i) {
    if (i >= sample_flags.size() || !sample_flags[i]) kept.push_back(samples_s[i]);
  }
  return kept.empty() ? samples_s : kept;
}

double MeasureResult::seconds() const {
  const std::vector<double> times = counted_samples();
  if (!ok() || times.empty()) return std::numeric_limits<double>::infinity();
  return *std::min_element(times.begin(), times.end());
}

double MeasureResult::median_s() const {
  std::vector<double> times = counted_samples();
  return !ok() || times.empty() ? std::numeric_limits<double>::infinity() : median_of(std::move(times));
}

Json to_json(const MeasureResult& r) {
  Json flags = Json::array();
  for (size_t i = 0; i < r.sample_flags.size(); ++i) {
    if (r.sample_flags[i]) flags.push_back(i);
  }
  Json j = Json::object();
  j["status"] = status_name(r.status);
  if (!r.message.empty()) j["message"] = r.message;
  j["samples_s"] = r.samples_s;
  j["flagged_samples"] = std::move(flags);
  j["flagged"] = r.flagged;
  j["inner"] = r.inner;
  j["censored"] = r.censored;
  j["verified"] = r.verified;
  j["max_rel_error"] = r.max_rel_error;
  j["build_s"] = r.build_s;
  j["load_s"] = r.load_s;
  j["run_s"] = r.run_s;
  if (r.fill_s > 0) j["fill_s"] = r.fill_s;
  if (r.verify_s > 0) j["verify_s"] = r.verify_s;
  j["timestamp_s"] = r.timestamp_s;
  if (r.weights != Weights::unknown) j["weights"] = weights_name(r.weights);
  if (r.verdict) j["verdict"] = {std::isfinite(r.verdict->seconds) ? Json(r.verdict->seconds) : Json(), r.verdict->low, r.verdict->high};
  return j;
}

Expected<MeasureResult> measure_result_from_json(const Json& json) {
  FieldReader fields(json, "a measurement");
  MeasureResult r;
  std::string status;
  std::vector<int64_t> flags;
  fields.required("status", status);
  fields.optional("message", r.message);
  fields.required("samples_s", r.samples_s);
  fields.optional("flagged_samples", flags);
  fields.optional("flagged", r.flagged);
  fields.optional("inner", r.inner);
  fields.optional("censored", r.censored);
  fields.optional("verified", r.verified);
  fields.optional("max_rel_error", r.max_rel_error);
  fields.optional("build_s", r.build_s);
  fields.optional("load_s", r.load_s);
  fields.optional("run_s", r.run_s);
  fields.optional("fill_s", r.fill_s);
  fields.optional("verify_s", r.verify_s);
  fields.optional("timestamp_s", r.timestamp_s);
  Json verdict;
  std::string weights;
  fields.optional("weights", weights);
  fields.optional("verdict", verdict);
  TW_CHECK(fields.done());
  r.weights = weights_from_name(weights);
  r.status = status_from_name(status);
  for (const double seconds : {r.build_s, r.load_s, r.run_s, r.fill_s, r.verify_s, r.timestamp_s})
    if (!(seconds >= 0) || !std::isfinite(seconds))
      return Error(ErrorCode::parse_error, fmt::format("Expected durations of 0 s or more, found {:g} s", seconds));
  if (r.inner < 1 || r.flagged < 0) return Error(ErrorCode::parse_error, fmt::format("Expected counts of samples, found {} and {}", r.inner, r.flagged));
  if (status != status_name(r.status)) return Error(ErrorCode::parse_error, "Expected a status, found '" + printable(status) + "'");
  if (!verdict.is_null()) {
    const bool good =
        verdict.is_array() && verdict.size() == 3 && (verdict[0].is_number() || verdict[0].is_null()) && verdict[1].is_number() && verdict[2].is_number();
    if (!good) return Error(ErrorCode::parse_error, "Expected a verdict as [seconds or null, low, high], found " + printable(dump_json(verdict)));
    const double seconds = verdict[0].is_null() ? std::numeric_limits<double>::infinity() : verdict[0].get<double>();
    r.verdict = Verdict{seconds, verdict[1].get<double>(), verdict[2].get<double>()};
    if (!(r.verdict->low > 0) || !(r.verdict->high >= r.verdict->low) || !std::isfinite(r.verdict->high) || !(seconds > 0))
      return Error(ErrorCode::parse_error, "Expected a verdict of a time and an interval of ratios, found " + printable(dump_json(verdict)));
  }
  if (!flags.empty()) r.sample_flags.assign(r.samples_s.size(), false);
  for (const int64_t i : flags) {
    if (i < 0 || i >= static_cast<int64_t>(r.samples_s.size())) {
      return Error(ErrorCode::parse_error, fmt::format("Expected flagged samples below {}, found {}", r.samples_s.size(), i));
    }
    r.sample_flags[i] = true;
  }
  return r;
}

}  // namespace tw::records
