// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <vector>

#include "db/comparison.h"
#include "widgets/common/side_by_side.h"

/// Sessions beside each other as tables; what they show against each other is db/comparison.h's.
namespace tw::widgets {

/// Best time of each session, a row for each task that one of them tried.
std::vector<SideBySideRow> bestTimes(const std::vector<db::ComparedSession>& sessions, const std::vector<db::ComparedTask>& tasks);
/// Options, host and version of each session; those that differ come first.
std::vector<SideBySideRow> configurations(const std::vector<db::ComparedSession>& sessions);

}  // namespace tw::widgets
