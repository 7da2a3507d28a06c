// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme/outlined_style.h"

#include <QPainter>
#include <QStyleFactory>
#include <QStyleOption>

#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
/// WCAG 2.1, 1.4.11: graphics that are needed to see a control.
constexpr double kGraphics = 3.0;
/// What the arrow of a tool button with a menu takes of its width.
constexpr int kArrow = 12;
constexpr int kIconGap = 4;

/// The option of a tool button whose whole face opens a menu, null for other buttons.
const QStyleOptionToolButton* menuButton(const QStyleOption* option) {
  const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
  const bool menu = button && button->features.testFlag(QStyleOptionToolButton::HasMenu) && !button->features.testFlag(QStyleOptionToolButton::MenuButtonPopup);
  return menu ? button : nullptr;
}
}  // namespace

OutlinedStyle::OutlinedStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

void OutlinedStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const {
  QProxyStyle::drawPrimitive(element, option, painter, widget);
  const Theme& theme = themeOf(option->palette);
  QColor line;
  if (element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck) {
    const bool selected = element == PE_IndicatorItemViewItemCheck && (option->state & State_Selected);
    line = withContrast(theme.border, selected ? option->palette.color(QPalette::Highlight) : option->palette.color(QPalette::Base), kGraphics);
  } else if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
             element == PE_Frame && frame && frame->frameShape == QFrame::StyledPanel) {
    line = theme.border;
  }
  if (!line.isValid()) return;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing, false);
  painter->setPen(QPen(line, 1));
  painter->setBrush(Qt::NoBrush);
  painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
  painter->restore();
}

void OutlinedStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const {
  if (const auto* box = qstyleoption_cast<const QStyleOptionComboBox*>(option); element == CE_ComboBoxLabel && box) {
    // A text that is cut off looks as if it were the whole.
    QStyleOptionComboBox shown = *box;
    const int icon = box->currentIcon.isNull() ? 0 : box->iconSize.width() + kIconGap;
    const int room = proxy()->subControlRect(CC_ComboBox, box, SC_ComboBoxEditField, widget).width() - icon - 2;
    shown.currentText = option->fontMetrics.elidedText(box->currentText, Qt::ElideRight, room);
    return QProxyStyle::drawControl(element, &shown, painter, widget);
  }
  const auto* button = element == CE_ToolButtonLabel ? menuButton(option) : nullptr;
  if (!button) return QProxyStyle::drawControl(element, option, painter, widget);
  QStyleOptionToolButton label = *button;
  label.rect.adjust(0, 0, -kArrow, 0);
  QProxyStyle::drawControl(element, &label, painter, widget);
}

QSize OutlinedStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents, const QWidget* widget) const {
  const QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
  return type == CT_ToolButton && menuButton(option) ? size + QSize(kArrow, 0) : size;
}

}  // namespace tw::widgets
