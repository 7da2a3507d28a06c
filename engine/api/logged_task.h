// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/records/autotvm_json.h"

namespace tw::api {

/// The computation that a line of AutoTVM names, from its template's name and arguments alone: dense layers, convolutions (plain, depthwise, grouped) and
/// batched products of one element type, as a task for `target`. Errors: unsupported for other templates and arguments, other kinds of target than
/// `target`'s, and shapes that do not fit together.
Expected<records::Task> logged_task(const records::AutotvmRecord& line, const Target& target);

}  // namespace tw::api
