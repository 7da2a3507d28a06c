// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/claims.h"
#include "engine/records/ansor_log.h"

/// Ansor's records as trials of tasks that can be lowered here.
namespace tw::api {

/// The task that a record is of, for `target`. Errors: those of topi_definition(), where nothing says what its key's computation is; unsupported for
/// records of another kind of target.
Expected<records::Task> ansor_task(const records::AnsorRecord& line, const Target& target);

/// A record as a trial of that task, which is a claim: its steps in our numbers, its choices by name. Errors: what is wrong with its steps.
Expected<records::Record> ansor_trial(const records::Task& task, const records::AnsorRecord& line, ClaimChecker& claims);

}  // namespace tw::api
