// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "engine/records/measure_result.h"

namespace tw::widgets {

/// A trial's outcome in words, such as "wrong output".
QString statusText(records::Status status);
/// One character that stands for it beside the colour.
QString statusGlyph(records::Status status);

}  // namespace tw::widgets
