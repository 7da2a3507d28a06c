// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/ir/code_language.h"

namespace tw::widgets {

/// A line of one of the listings of a candidate, 0-based. A line of the steps is a step of the schedule, a line of the loops is a loop or a statement.
struct CodePlace {
  CodeLanguage form = CodeLanguage::tir;
  int line = -1;  ///< -1: nowhere
  bool isNull() const { return line < 0; }
  bool operator==(const CodePlace&) const = default;
};

}  // namespace tw::widgets
