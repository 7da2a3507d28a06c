// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runtime/artifact.h"
#include "engine/schedule/schedule.h"

namespace tw::measure {

/// The arguments of the function that lower() makes from a schedule: placeholders, then outputs, with the layouts the schedule gives them.
runtime::KernelSignature signature_of(const schedule::Schedule& s, const std::string& name);

}  // namespace tw::measure
