// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/api/why_faster.h"

namespace tw::logs {

/// One of two candidates, as the reader knows it.
struct WhySide {
  std::string name;
  records::Candidate candidate;
};

/// Why one of two candidates is faster, as one web page that needs no other file: choices with what each explains, numbers that differ, and steps, loops and code
/// beside each other, compiled anew; nothing runs. `times`: what the times are. `tw explain` and the window write it. Not for the GUI thread.
std::string why_page(const records::Task& task, const WhySide& first, const WhySide& second, const api::WhyFaster& why, const std::string& times);

/// A number as that page and `tw explain` show it.
std::string fact_text(double value);
/// What part of the whole difference a choice explains, such as `42 %`; a dash where there is no difference.
std::string explained_text(const api::WhyFaster& why, const api::ChoiceDifference& choice);

}  // namespace tw::logs
