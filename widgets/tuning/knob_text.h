// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <map>
#include <memory>
#include <optional>

#include "engine/records/record.h"
#include "engine/space/config_space.h"

namespace tw::widgets {

/// Config spaces by the name of their template.
using SpaceMap = std::map<std::string, std::shared_ptr<const space::ConfigSpace>>;

/// A candidate value of a knob as text, such as `[4, 8, 16]`; of a reorder knob the order of its loops, of an annotate knob what is done to which, where the
/// space names them: `[ki, yi, xi]`, `unroll yi, vec xi`.
QString knobValueText(const space::Knob& knob, const space::KnobValue& value);
/// Knobs with their values, such as `tile_x [*, 8]  unroll 16`.
QString knobsText(const std::vector<std::pair<QString, QString>>& knobs);
/// All knobs of a point; empty for an index outside the space.
QString pointText(const space::ConfigSpace& space, int64_t index);
/// The loops that a reorder or annotate knob of a space speaks of; none where that is not known.
std::vector<std::string> axesOf(const SpaceMap& spaces, const std::string& space, std::string_view knob);
/// What a candidate chose, by name: as its record says, else as its index in a space that is known; empty if neither tells.
std::vector<std::pair<QString, QString>> knobsOf(const records::Candidate& candidate, const SpaceMap& spaces);
/// Positions of a candidate's choices among those of the space, by the names in its record, else by its index; nothing if it is no point of the space.
std::optional<std::vector<int>> positionsOf(const records::Candidate& candidate, const space::ConfigSpace& space);
/// A value as a number: the innermost factor of a split, a numeric knob's value; nothing if it is none.
std::optional<double> valueNumber(space::KnobKind kind, const space::KnobValue& value);
/// A candidate value as a number for axes and comparisons: valueNumber(), else its position among the candidates.
double knobNumber(const space::Knob& knob, int position);

}  // namespace tw::widgets
