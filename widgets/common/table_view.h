// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTreeView;

namespace tw::widgets {

/// The look of the workbench's tables: flat rows of one height in alternating colours, whole rows in focus, no frame.
void setUpTable(QTreeView* table);

}  // namespace tw::widgets
