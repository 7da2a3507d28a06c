// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "engine/records/measure_result.h"

namespace tw::widgets {

/// A trial's outcome in words, such as "wrong output".
QString statusText(records::Status status);
/// One character that stands for it beside the colour.
QString statusGlyph(records::Status status);

class TrialColumns;
/// Which trial a row is: `34`, or `34 of session 3` where several sessions are together.
QString trialText(const TrialColumns& trials, int row);

}  // namespace tw::widgets
