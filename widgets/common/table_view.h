// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTreeView;
class QWidget;

namespace tw::widgets {

/// The look of the workbench's tables: flat rows of one height in alternating colours, whole rows in focus, no frame, columns no narrower than
/// their heads.
void setUpTable(QTreeView* table);
/// A menu of the widget's actions for the right button and the menu key. The one that Qt makes stands on the stack above an event loop: it must not be there when
/// its view is closed meanwhile.
void offerActions(QWidget* widget);

}  // namespace tw::widgets
