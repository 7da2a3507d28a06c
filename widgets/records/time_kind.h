// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "db/database.h"

namespace tw::widgets {

/// What the times of a session are: of runs on the machine, of a formula, or those of trials that were recorded before.
enum class TimeKind { measured, simulated, replayed };
/// By the device that the session names; one that names none measured if its target is no GPU.
TimeKind timeKind(const db::SessionRow& session);
/// Of the session with that id; `measured` if there is none.
TimeKind timeKind(const std::vector<db::SessionRow>& sessions, SessionId id);
/// `simulated` or `replayed`; `measured` is said too.
QString timeKindText(TimeKind kind);
/// `title`, followed by the kind if it is not measured.
QString withTimeKind(const QString& title, TimeKind kind);

}  // namespace tw::widgets
