// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/json_fwd.h"
#include "engine/measure/counters.h"
#include "engine/measure/inputs.h"
#include "engine/process/frame.h"
#include "engine/records/measure_result.h"
#include "engine/runtime/artifact.h"

namespace tw::measure {

/// What a measuring worker is asked to do with one candidate. The object code is the frame's payload.
struct MeasureJob {
  int64_t id = 0;
  runtime::KernelSignature signature;
  std::vector<InputRange> ranges;  ///< one per input
  uint64_t seed = 1;
  int cores = 1;
  double incumbent_s = 0;
  int samples = 0;              ///< RunOptions::samples
  double min_sample_s = 0;      ///< RunOptions::min_sample_s
  double run_limit_s = 10;      ///< from the first call on
  double startup_limit_s = 30;  ///< before it
  int64_t memory_bytes = 0;     ///< address space beyond the tensors
  bool verify = true;
  double verify_below_s = 0;  ///< with `verify`: only where its time is less, and then after the timing; 0: always
  bool warm_weights = false;  ///< RunOptions::weights
  bool count_events = false;                                   ///< also count events during further calls
  std::vector<std::optional<std::vector<int64_t>>> positions;  ///< per output: elements to send back; nothing means all of them

  std::vector<int> inputs() const;  ///< argument numbers
  std::vector<int> outputs() const;
  int64_t tensor_bytes() const;  ///< of all arguments, physical and row-major
};

/// What came of it: measured in the candidate's process, or said about it by the process that watched.
struct MeasureReply {
  int64_t id = 0;
  records::Status status = records::Status::infra;
  std::string message;
  std::vector<double> samples_s;
  std::vector<bool> flags;
  int inner = 1;
  bool censored = false;
  double load_s = 0, fill_s = 0, run_s = 0, verify_s = 0;  ///< as in records::MeasureResult
  bool verified = false;                    ///< the outputs were looked at: what follows is there
  std::vector<int64_t> first_nan;           ///< per output: row-major position of the first NaN, -1 if there is none
  std::vector<std::vector<double>> values;  ///< per output: the elements asked for
  CounterReading events;                    ///< of one call, if they were asked for
};

Json to_json(const MeasureJob&);
Expected<MeasureJob> measure_job_from_json(const Json&);

/// The reply as a frame: values travel as raw elements of their types.
Json reply_header(const MeasureReply&);
/// Errors: parse_error; nothing in a reply is trusted.
Expected<MeasureReply> reply_from_frame(const process::Frame& frame, const MeasureJob& job);
/// How many elements of output number `o` are sent back.
int64_t values_wanted(const MeasureJob& job, size_t o);

}  // namespace tw::measure
