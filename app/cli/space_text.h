// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/json_fwd.h"
#include "engine/records/task.h"

namespace tw::cli {

/// The knobs of every space that a search of the task goes through: kind, number of values and meaning, and for few values these.
std::string knobs_text(const records::Task& task);
Json knobs_json(const records::Task& task);

}  // namespace tw::cli
