// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProxyStyle>

namespace tw::widgets {

/// Fusion, with outlines of check boxes and frames that can be seen in the dark theme too: Fusion derives them from the window's colour, darker still.
/// Tool buttons that open a menu have room for its arrow beside their text, and what does not fit into a combo box ends with an ellipsis.
class OutlinedStyle : public QProxyStyle {
  Q_OBJECT
 public:
  OutlinedStyle();
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override;
  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override;
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents, const QWidget* widget) const override;
};

}  // namespace tw::widgets
