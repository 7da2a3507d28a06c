// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "db/database.h"

namespace tw::cli {

/// Opens a workspace for a command that reads trials. Damaged rows that it meets are left out; say_damage() tells of them when the command is done.
Expected<std::shared_ptr<db::Database>> open_workspace(const std::string& path, db::Mode mode = db::Mode::read_write);

/// One line on standard error for each workspace of which damaged rows were left out.
void say_damage();

}  // namespace tw::cli
