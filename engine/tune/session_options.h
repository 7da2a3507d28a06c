// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/json.h"
#include "engine/base/param_schema.h"
#include "engine/records/measure_result.h"

namespace tw::tune {

struct StrategyDef;

/// Which trials are compared with the reference: all, or those alone that could be called best (TaskRun).
enum class Verify : uint8_t { all, best };

/// What a session is told before it begins. Each field is one row of session_schema(), from which the command line, the stored form and the workbench's form
/// are made.
struct SessionOptions {
  std::string tuner = "random";
  Json tuner_params;  ///< object, see StrategyDef::params
  std::string space;  ///< template whose space is searched, such as AutoTVM's "dense_pack.x86"; empty: those of our own that match
  uint64_t seed = 1;
  int64_t trials = 0;           ///< over all tasks; 0: no such limit
  int64_t trials_per_task = 0;  ///< 0: no such limit
  double time_s = 0;            ///< wall time of work; 0: no such limit
  int batch = 16;               ///< candidates of a round: proposed, built and measured together
  std::string scheduler = "proportional";
  Json scheduler_params;       ///< object, see SchedulerDef::params
  int64_t early_stopping = 0;  ///< stop a task after this many trials without a better one; 0: never
  bool transfer = false;       ///< tuners that can learn from other tasks of the same template do so
  int finalists = 8;           ///< of a task's trials that run against each other in the end; below 2: no finals
  int repeats = 0;             ///< samples of each trial; 0: until they agree
  records::Weights weights = records::Weights::unknown;  ///< where a trial's constants are before a call; unknown: where the network has them, else cold
  Verify verify = Verify::all;
  double min_repeat_s = 0;     ///< least time of a sample; 0: 200 us
  double timeout_s = 10;       ///< of one trial's run
  double build_timeout_s = 10; ///< of one trial's build
};

/// Where trials have their constants: cold where nobody said what the network does.
inline records::Weights timed_weights(const SessionOptions& o) { return o.weights == records::Weights::unknown ? records::Weights::cold : o.weights; }

/// One row for each option, in the order of a form. The tuner's and the scheduler's parameters, which are objects, have schemas of their own.
const ParamSchema& session_schema();

/// As stored with a session; `session_options` reads it back. What is not there has its default.
Json to_json(const SessionOptions& options);
/// Errors: invalid_argument naming an option of another type or out of its range, an unknown tuner or scheduler or one of their parameters. Keys that are no
/// options are passed over: what is stored with a session holds more.
Expected<SessionOptions> session_options(const Json& json);

/// A tuner by name, with parameters that the name stands for. Beside those of the table, names that AutoTVM's users know: `ga`, `gridsearch`, and `xgb_` with
/// one of knob, itervar and curve, one of rank and reg, or both.
struct NamedTuner {
  const StrategyDef* def = nullptr;
  Json params;  ///< object; what it holds goes before a parameter's default
};
/// Errors: unsupported, with the names that there are.
Expected<NamedTuner> tuner_named(const std::string& name);

}  // namespace tw::tune
