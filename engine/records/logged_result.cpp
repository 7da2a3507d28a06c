// SPDX-License-Identifier: Apache-2.0
#include "engine/records/logged_result.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/records/autotvm_json.h"

namespace tw::records {

Expected<int> read_logged_result(JsonElement result, const char* key, const char* program, MeasureResult& m) {
  const auto refused = [&] { return bad_line(fmt::format("Expected '{}' as [costs, error, seconds, time], found {}", key, shown(result))); };
  const auto parts = exactly<4>(result);
  if (!parts || !leading<1>((*parts)[0]) || !is_integer((*parts)[1]) || !is_number((*parts)[2]) || !is_number((*parts)[3])) return refused();
  for (const JsonElement cost : array_of((*parts)[0])) {
    if (!is_number(cost)) return refused();
    m.samples_s.push_back(value_of<double>(cost));
  }
  int64_t error_no = -1;
  if ((*parts)[1].get(error_no) != simdjson::SUCCESS || error_no < 0 || error_no > static_cast<int>(AutotvmError::unknown))
    return bad_line("Expected an error number from 0 to 8, found " + shown((*parts)[1]));
  m.status = status_from_autotvm(error_no);
  m.run_s = value_of<double>((*parts)[2]);
  m.timestamp_s = value_of<double>((*parts)[3]);
  constexpr double kLatest = 9007199254740992;  // 2^53: whole seconds up to there have doubles of their own
  if (!(m.run_s >= 0) || !(m.timestamp_s >= 0 && m.timestamp_s <= kLatest))
    return bad_line("Expected a duration of 0 or more and a time from 0 to 2^53, found " + shown(result));
  if (m.status != Status::ok) {
    m.samples_s.clear();
    m.message = fmt::format("{} recorded error {}", program, error_no);
    return static_cast<int>(error_no);
  }
  m.sample_flags.assign(m.samples_s.size(), false);
  const auto impossible = std::find_if(m.samples_s.begin(), m.samples_s.end(), [](double s) { return !possible_time(s); });
  if (impossible == m.samples_s.end()) return 0;
  m.message = fmt::format("Expected a time from 1 ns to below 1e9 s, found {} s", *impossible);
  m.status = Status::bad_timing;
  return static_cast<int>(autotvm_error(m.status));
}

}  // namespace tw::records
