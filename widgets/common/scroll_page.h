// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QBoxLayout;
class QWidget;

namespace tw::widgets {

/// Appends an empty page to `box`, inside a frameless scroll area that takes no focus of its own. The page grows with the area; the wheel
/// scrolls it over inputs too, unless they have the focus. Returns the page.
QWidget* addScrollPage(QBoxLayout* box);

}  // namespace tw::widgets
