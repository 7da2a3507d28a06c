// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include "db/database.h"
#include "engine/base/stop_token.h"

namespace tw::app {

/// A session as one HTML page that needs no other file: what ran where and how, per task the curve, times and failures, notes.
/// Not for the GUI thread. Errors: not_found, cancelled, what the database says.
Expected<QByteArray> sessionReport(db::Database& database, SessionId session, StopToken stop);

}  // namespace tw::app
