// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <map>
#include <memory>

#include "engine/space/config_space.h"

namespace tw::widgets {

/// Config spaces by the name of their template.
using SpaceMap = std::map<std::string, std::shared_ptr<const space::ConfigSpace>>;

/// A candidate value of a knob as text, such as `[4, 8, 16]`.
QString knobValueText(const space::Knob& knob, const space::KnobValue& value);
/// All knobs of a point, such as `tile_x [*, 8]  unroll 16`; empty for an index outside the space.
QString pointText(const space::ConfigSpace& space, int64_t index);
/// A candidate value as a number for axes and comparisons: the innermost factor of a split, a numeric knob's value, else its position among the candidates.
double knobNumber(const space::Knob& knob, int position);

}  // namespace tw::widgets
