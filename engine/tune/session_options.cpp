// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/session_options.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/tune/scheduler.h"
#include "engine/tune/strategy.h"

namespace tw::tune {
namespace {

constexpr const char* kNetworkWeights = "network";  ///< where the network has them
constexpr double kMostTrials = 1LL << 40;

/// An option and the field that holds it.
struct Row {
  Param param;
  Json (*get)(const SessionOptions&);
  void (*set)(SessionOptions&, const Json&);
};

template <auto Field>
Row row(Param param) {
  return {std::move(param), [](const SessionOptions& o) { return Json(o.*Field); },
          [](SessionOptions& o, const Json& value) { o.*Field = value.get<std::decay_t<decltype(o.*Field)>>(); }};
}

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& def : table) names.push_back(def.name);
  return names;
}

template <auto Field>
Row integer(const char* name, const char* help, double min, double max) {
  return row<Field>(number_param(name, Param::Kind::integer, Json(SessionOptions().*Field), help, min, max));
}

template <auto Field>
Row duration(const char* name, const char* help) {
  return row<Field>(duration_param(name, SessionOptions().*Field, help));
}

const std::vector<Row>& rows() {
  using O = SessionOptions;
  static const std::vector<Row> table = [] {
    const O defaults;
    std::vector<Row> rows = {
        row<&O::tuner>(text_param("tuner", defaults.tuner.c_str(), fmt::format("search strategy: {}", fmt::join(names_of(strategies()), ", ")).c_str())),
        row<&O::space>(text_param("space", "", "the only template whose space is searched, such as AutoTVM's dense_pack.x86; empty: all of our own that match")),
        integer<&O::seed>("seed", "of the search", 0, 9e18),
        integer<&O::trials>("trials", "over all tasks; 0: no such limit", 0, kMostTrials),
        integer<&O::trials_per_task>("trials_per_task", "of each task; 0: no such limit", 0, kMostTrials),
        duration<&O::time_s>("time_s", "wall time of the session, pauses left out; 0: no such limit"),
        row<&O::scheduler>(choice_param("scheduler", defaults.scheduler.c_str(), "which task the next round goes to", names_of(schedulers()))),
        integer<&O::batch>("batch", "candidates of a round, which are proposed, built and measured together", 1, 4096),
        integer<&O::early_stopping>("early_stopping", "a task ends after so many trials without a better one; 0: never", 0, kMostTrials),
        row<&O::transfer>(flag_param("transfer", defaults.transfer, "tuners that can also learn from other tasks, of this session and of what is stored")),
        integer<&O::finalists>("finalists", "fastest trials of a task that run against each other in the end; below 2: none", 0, 64),
        integer<&O::repeats>("repeats", "samples of each trial; 0: until they agree", 0, 10'000),
        {choice_param("weights", kNetworkWeights, "where a trial's constants are before a call", {kNetworkWeights, "cold", "warm"}),
         [](const O& o) { return Json(o.weights == records::Weights::unknown ? kNetworkWeights : records::weights_name(o.weights)); },
         [](O& o, const Json& value) { o.weights = records::weights_from_name(value.get<std::string>()); }},
        {choice_param("verify", "all", "trials whose result is compared with the reference; best: those within 10 % of the best so far, as no other can be called best", {"all", "best"}),
         [](const O& o) { return Json(o.verify == Verify::best ? "best" : "all"); },
         [](O& o, const Json& value) { o.verify = value.get<std::string>() == "best" ? Verify::best : Verify::all; }},
        duration<&O::min_repeat_s>("min_repeat_s", "least time of a sample, for which a kernel is called often enough; 0: 200 us"),
        duration<&O::timeout_s>("timeout_s", "limit of a trial's run; 0: 10 s"),
        duration<&O::build_timeout_s>("build_timeout_s", "limit of a trial's build; 0: 10 s"),
    };
    return rows;
  }();
  return table;
}

/// Names as the table has them, and all parameters.
Expected<void> resolve(SessionOptions& o) {
  const SessionOptions defaults;
  if (o.timeout_s == 0) o.timeout_s = defaults.timeout_s;
  if (o.build_timeout_s == 0) o.build_timeout_s = defaults.build_timeout_s;
  TW_TRY(NamedTuner tuner, tuner_named(o.tuner));
  o.tuner = tuner.def->name;
  if (o.tuner_params.is_object()) tuner.params.update(o.tuner_params);
  TW_TRY(o.tuner_params, resolve_params(tuner.def->params, o.tuner_params.is_object() || o.tuner_params.is_null() ? tuner.params : o.tuner_params));
  TW_TRY(o.scheduler_params, resolve_params(find_scheduler(o.scheduler)->params, o.scheduler_params));
  return {};
}

}  // namespace

const ParamSchema& session_schema() {
  static const ParamSchema schema = [] {
    ParamSchema params;
    for (const Row& r : rows()) params.push_back(r.param);
    return params;
  }();
  return schema;
}

Json to_json(const SessionOptions& o) {
  Json json = Json::object();
  for (const Row& r : rows()) json[r.param.name] = r.get(o);
  json["tuner_params"] = o.tuner_params;
  json["scheduler_params"] = o.scheduler_params;
  return json;
}

Expected<SessionOptions> session_options(const Json& json) {
  if (!json.is_object()) return Error(ErrorCode::invalid_argument, "Expected a session's options as an object, found " + dump_json(json).substr(0, 60));
  Json known = Json::object();
  for (const Row& r : rows())
    if (json.contains(r.param.name)) known[r.param.name] = json[r.param.name];
  TW_TRY(const Json resolved, resolve_params(session_schema(), known));
  SessionOptions o;
  for (const Row& r : rows()) r.set(o, resolved[r.param.name]);
  if (json.contains("tuner_params")) o.tuner_params = json["tuner_params"];
  if (json.contains("scheduler_params")) o.scheduler_params = json["scheduler_params"];
  TW_CHECK(resolve(o));
  return o;
}

Expected<NamedTuner> tuner_named(const std::string& name) {
  if (const StrategyDef* def = find_strategy(name)) return NamedTuner{def, Json::object()};
  if (name == "ga") return NamedTuner{find_strategy("genetic"), Json::object()};
  if (name == "gridsearch") return NamedTuner{find_strategy("grid"), Json::object()};
  if (name.starts_with("xgb_")) {
    Json params = Json::object();
    bool understood = true;
    for (std::string_view rest = std::string_view(name).substr(4); !rest.empty();) {
      const std::string word(rest.substr(0, rest.find('_')));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      const bool feature = word == "knob" || word == "itervar" || word == "curve", loss = word == "rank" || word == "reg";
      const char* key = feature ? "feature" : "loss";
      understood = understood && (feature || loss) && !params.contains(key);
      params[key] = word;
    }
    if (understood && !params.empty()) return NamedTuner{find_strategy("xgb"), std::move(params)};
  }
  return Error(ErrorCode::unsupported, fmt::format("Expected a tuner out of {}, found '{}'", fmt::join(names_of(strategies()), ", "), printable(name)));
}

}  // namespace tw::tune
