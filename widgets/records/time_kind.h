// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "db/database.h"

namespace tw::widgets {

using db::TimeKind;
/// Of the session with that id; `measured` if there is none.
TimeKind timeKind(const std::vector<db::SessionRow>& sessions, SessionId id);
/// Such as `simulated`.
QString timeKindText(TimeKind kind);
/// `title`, followed by the kind if it is not measured.
QString withTimeKind(const QString& title, TimeKind kind);

}  // namespace tw::widgets
