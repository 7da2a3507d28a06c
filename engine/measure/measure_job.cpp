// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/measure_job.h"

#include <cmath>
#include <cstring>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/message_fields.h"

namespace tw::measure {

std::vector<int> MeasureJob::inputs() const {
  std::vector<int> out;
  for (size_t i = 0; i < signature.args.size(); ++i) {
    if (!signature.args[i].output) out.push_back(static_cast<int>(i));
  }
  return out;
}

std::vector<int> MeasureJob::outputs() const {
  std::vector<int> out;
  for (size_t i = 0; i < signature.args.size(); ++i) {
    if (signature.args[i].output) out.push_back(static_cast<int>(i));
  }
  return out;
}

int64_t MeasureJob::tensor_bytes() const {
  int64_t total = 0;
  for (const runtime::ArgSpec& a : signature.args) total += a.physical_bytes() + 2 * a.num_elements() * a.dtype.bytes();
  return total;
}

Json to_json(const MeasureJob& job) {
  Json ranges = Json::array(), positions = Json::array();
  for (const InputRange& r : job.ranges) ranges.push_back(Json::array({r.lo, r.hi}));
  for (const auto& p : job.positions) positions.push_back(p ? Json(*p) : Json());
  return Json{{"command", "measure"},
              {"id", job.id},
              {"signature", runtime::to_json(job.signature)},
              {"ranges", ranges},
              {"seed", job.seed},
              {"cores", job.cores},
              {"incumbent_s", job.incumbent_s},
              {"samples", job.samples},
              {"min_sample_s", job.min_sample_s},
              {"run_limit_s", job.run_limit_s},
              {"startup_limit_s", job.startup_limit_s},
              {"memory_bytes", job.memory_bytes},
              {"verify", job.verify},
              {"verify_below_s", job.verify_below_s},
              {"warm_weights", job.warm_weights},
              {"count_events", job.count_events},
              {"positions", positions}};
}

Expected<MeasureJob> measure_job_from_json(const Json& json) {
  Fields f(json);
  MeasureJob job;
  job.id = f.number<int64_t>("id");
  job.seed = f.number<uint64_t>("seed");
  job.cores = f.number<int>("cores");
  job.incumbent_s = f.number<double>("incumbent_s");
  job.samples = f.number<int>("samples");
  job.min_sample_s = f.number<double>("min_sample_s");
  job.run_limit_s = f.number<double>("run_limit_s");
  job.startup_limit_s = f.number<double>("startup_limit_s");
  job.memory_bytes = f.number<int64_t>("memory_bytes");
  job.verify = f.boolean("verify");
  job.verify_below_s = f.number<double>("verify_below_s");
  job.warm_weights = f.boolean("warm_weights");
  job.count_events = f.boolean("count_events");
  for (const Json& r : f.list("ranges")) {
    if (!r.is_array() || r.size() != 2 || !r[0].is_number() || !r[1].is_number()) {
      f.fail("ranges", "a list of pairs");
      break;
    }
    job.ranges.push_back({r[0].get<double>(), r[1].get<double>()});
  }
  for (const Json& p : f.list("positions")) {
    if (p.is_null()) {
      job.positions.emplace_back();
      continue;
    }
    std::vector<int64_t>& list = job.positions.emplace_back().emplace();
    if (!p.is_array()) f.fail("positions", "lists of positions");
    for (const Json& v : p) {
      if (!v.is_number_integer()) f.fail("positions", "lists of integers");
      if (f.error()) return *f.error();
      list.push_back(v.get<int64_t>());
    }
  }
  if (!json.contains("signature")) f.fail("signature", "a signature");
  if (f.error()) return *f.error();
  TW_TRY(job.signature, runtime::signature_from_json(json["signature"]));
  if (job.ranges.size() != job.inputs().size() || job.positions.size() != job.outputs().size()) {
    return Error(ErrorCode::parse_error, fmt::format("A job with {} inputs and {} outputs has {} ranges and {} lists of positions", job.inputs().size(),
                                                     job.outputs().size(), job.ranges.size(), job.positions.size()));
  }
  return job;
}

Json reply_header(const MeasureReply& reply) {
  Json events = Json::array();
  for (const EventCount& e : reply.events.counts) events.push_back(Json::array({static_cast<int>(e.event), e.count}));
  return Json{{"id", reply.id},
              {"status", records::status_name(reply.status)},
              {"message", reply.message},
              {"samples_s", reply.samples_s},
              {"flags", reply.flags},
              {"inner", reply.inner},
              {"censored", reply.censored},
              {"load_s", reply.load_s},
              {"fill_s", reply.fill_s},
              {"run_s", reply.run_s},
              {"verify_s", reply.verify_s},
              {"verified", reply.verified},
              {"first_nan", reply.first_nan},
              {"events", events},
              {"events_missing", reply.events.missing}};
}

int64_t values_wanted(const MeasureJob& job, size_t o) {
  return job.positions[o] ? static_cast<int64_t>(job.positions[o]->size()) : job.signature.args[static_cast<size_t>(job.outputs()[o])].num_elements();
}

Expected<MeasureReply> reply_from_frame(const process::Frame& frame, const MeasureJob& job) {
  Fields f(frame.header);
  MeasureReply reply;
  reply.id = f.number<int64_t>("id");
  reply.message = f.text("message");
  reply.samples_s = f.numbers<double>("samples_s");
  for (const Json& flag : f.list("flags")) reply.flags.push_back(flag.is_boolean() && flag.get<bool>());
  reply.inner = f.number<int>("inner");
  reply.censored = f.boolean("censored");
  reply.load_s = f.number<double>("load_s");
  reply.fill_s = f.number<double>("fill_s");
  reply.run_s = f.number<double>("run_s");
  reply.verify_s = f.number<double>("verify_s");
  reply.verified = f.boolean("verified");
  reply.first_nan = f.numbers<int64_t>("first_nan");
  reply.events.missing = f.text("events_missing");
  for (const Json& e : f.list("events")) {
    const bool good = e.is_array() && e.size() == 2 && e[0].is_number_integer() && e[1].is_number();
    const int event = good ? e[0].get<int>() : -1;
    if (event < 0 || event >= static_cast<int>(std::size(kAllEvents))) {
      f.fail("events", "pairs of an event and its count");
      break;
    }
    reply.events.counts.push_back({static_cast<Event>(event), e[1].get<double>()});
  }
  const std::string status = f.text("status");
  if (f.error()) return *f.error();
  reply.status = records::status_from_name(status);
  if (status != records::status_name(reply.status))
    return Error(ErrorCode::parse_error, fmt::format("Expected a status in a worker's reply, found \"{}\"", printable(status)));
  if (reply.status != records::Status::ok || !job.verify) {
    reply.verified = false;
    return reply;
  }
  if (!reply.verified) {
    if (job.verify_below_s > 0 || reply.censored) return reply;  // who is not among the fast is not asked
    return Error(ErrorCode::parse_error, "A worker's reply has no output values, though they were asked for");
  }

  const std::vector<int> outputs = job.outputs();
  const std::byte* at = frame.payload.data();
  size_t left = frame.payload.size();
  for (size_t o = 0; o < outputs.size(); ++o) {
    const DType t = job.signature.args[static_cast<size_t>(outputs[o])].dtype;
    const int64_t n = values_wanted(job, o);
    const size_t bytes = static_cast<size_t>(n * t.bytes());
    if (bytes > left) return Error(ErrorCode::parse_error, "A worker's reply has fewer output values than asked for");
    const HostArray values{t, {n}, std::vector<std::byte>(at, at + bytes)};
    at += bytes;
    left -= bytes;
    std::vector<double>& out = reply.values.emplace_back(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) out[static_cast<size_t>(i)] = values.get(i);
  }
  if (left != 0 || reply.first_nan.size() != outputs.size()) return Error(ErrorCode::parse_error, "A worker's reply does not have the shape asked for");
  return reply;
}

}  // namespace tw::measure
