// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/compile.h"
#include "widgets/common/property_tree.h"

namespace tw::app {

/// What reading a model simplified, computed and expanded, and what the passes over its graph made of it.
void showGraphChanges(widgets::PropertyTree& tree, const api::Network& network);

}  // namespace tw::app
