// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/step.h"

#include <optional>
#include <type_traits>

#include "engine/base/json.h"
#include "engine/base/json_text.h"
#include "engine/schedule/primitive.h"

namespace tw::schedule {

const char* annotation_name(Annotation a) {
  switch (a) {
    case Annotation::none: return "none";
    case Annotation::unroll: return "unroll";
    case Annotation::unroll_explicit: return "unroll_explicit";
    case Annotation::vectorize: return "vectorize";
    case Annotation::parallel: return "parallel";
    case Annotation::vthread: return "vthread";
    case Annotation::block_x: return "blockIdx.x";
    case Annotation::thread_x: return "threadIdx.x";
    case Annotation::block_y: return "blockIdx.y";
    case Annotation::thread_y: return "threadIdx.y";
    case Annotation::block_z: return "blockIdx.z";
    case Annotation::thread_z: return "threadIdx.z";
  }
  return "";
}

namespace {

/// The step that `json` holds, if it is of kind S.
template <class S>
bool read_as(const std::string& code, const Json& json, std::optional<Expected<Step>>& out) {
  const PrimitiveOf<S>& row = S::primitive();
  if (code != row.about.code) return false;
  StepReader reader(json);
  auto step = row.json.read(reader);
  out = step ? Expected<Step>(std::move(*step)) : Expected<Step>(step.error());
  return true;
}

template <class... S>
Expected<Step> read_step(const Json& json, std::type_identity<std::variant<S...>>) {
  const std::string code = json.at(0).get<std::string>();
  json.at(1).get<int>();
  std::optional<Expected<Step>> step;
  (read_as<S>(code, json, step) || ...);
  if (!step) return Error(ErrorCode::parse_error, "Expected the code of a schedule step such as 'SP' or 'RE', found '" + code + "'");
  return *std::move(step);
}

}  // namespace

const Json& StepReader::next() { return json_.at(at_++); }
bool StepReader::more() const { return at_ < json_.size(); }
bool StepReader::null() {
  const bool found = json_.at(at_).is_null();
  at_ += found;
  return found;
}
void StepReader::operator()(int& value) { next().get_to(value); }
void StepReader::operator()(int64_t& value) { next().get_to(value); }
void StepReader::operator()(std::string& value) { next().get_to(value); }
void StepReader::operator()(std::vector<int>& value) { next().get_to(value); }
void StepReader::operator()(std::vector<int64_t>& value) { next().get_to(value); }
void StepReader::operator()(std::vector<std::vector<int64_t>>& value) { next().get_to(value); }

std::string json_text(const std::vector<Step>& steps) {
  std::string out = "[";
  for (const Step& step : steps) {
    out += out.size() > 1 ? ",[" : "[";
    std::visit(
        [&]<class S>(const S& s) {
          append_json(out, S::primitive().about.code);
          StepWriter writer(out);
          S::primitive().json.write(writer, s);
        },
        step);
    out += ']';
  }
  return out + "]";
}

Json to_json(const std::vector<Step>& steps) { return parse_json(json_text(steps)).value(); }

Expected<Step> step_from_json(const Json& json) {
  try {
    return read_step(json, std::type_identity<Step>());
  } catch (const nlohmann::json::exception&) {
    return Error(ErrorCode::parse_error, "Expected a schedule step such as [\"SP\", 2, 0, 64, [8, 4], 1], found " + dump_json(json));
  }
}

Expected<std::vector<Step>> steps_from_json(const Json& json) {
  if (!json.is_array()) return Error(ErrorCode::parse_error, "Expected a list of schedule steps, found " + dump_json(json));
  std::vector<Step> out;
  for (const Json& j : json) {
    TW_TRY(Step s, step_from_json(j));
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace tw::schedule
