// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "engine/lesson/progress.h"

namespace tw::logs {

/// What learners did as one web page that needs no other file: for each the lessons with what is done of them, and every step with its hints, wrong answers and last
/// answer. `tw lesson collect` and the window write it.
std::string lesson_page(std::span<const lesson::Handed> all);

}  // namespace tw::logs
