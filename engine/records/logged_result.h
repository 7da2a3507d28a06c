// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/records/log_json.h"
#include "engine/records/measure_result.h"

namespace tw::records {

/// Reads [costs, error, seconds, time], which is AutoTVM's "result" and Ansor's "r". Returns the error number as AutoTVM counts, that of an impossible time
/// included. `program` stands in the messages of failures. Errors: parse_error.
Expected<int> read_logged_result(JsonElement result, const char* key, const char* program, MeasureResult& m);

}  // namespace tw::records
