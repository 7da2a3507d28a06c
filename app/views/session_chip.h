// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolButton>

#include "app/views/view.h"

namespace tw::app {

/// Stands in a view while the trials of one session alone are shown, and says which; a click shows those of all. Its name is `button.<view>.session`.
QToolButton* makeSessionChip(Services& services, const char* view, QWidget* parent);

}  // namespace tw::app
