// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/duration_box.h"

#include <QFontMetrics>
#include <QLineEdit>
#include <QStyleOptionSpinBox>
#include <algorithm>

#include "engine/base/duration.h"

namespace tw::widgets {
namespace {
constexpr double kYears = 1e9;
}  // namespace

DurationBox::DurationBox(QWidget* parent) : QDoubleSpinBox(parent) {
  setDecimals(9);
  setRange(0, kYears);
}

QString DurationBox::textFromValue(double seconds) const { return QString::fromStdString(duration_text(seconds)); }

double DurationBox::valueFromText(const QString& text) const {
  if (!specialValueText().isEmpty() && text == specialValueText()) return minimum();
  const auto seconds = parse_duration(text.trimmed().toStdString());
  return seconds ? *seconds : value();
}

QValidator::State DurationBox::validate(QString& input, int&) const {
  if (!specialValueText().isEmpty() && input == specialValueText()) return QValidator::Acceptable;
  const auto seconds = parse_duration(input.trimmed().toStdString());
  return seconds && *seconds >= minimum() && *seconds <= maximum() ? QValidator::Acceptable : QValidator::Intermediate;
}

void DurationBox::fixup(QString& input) const { input = textFromValue(value()); }

void DurationBox::stepBy(int steps) {
  const double now = value();
  const double unit = now >= 7200 ? 3600 : now >= 120 ? 60 : now >= 1 || now == 0 ? 1 : now >= 1e-3 ? 1e-3 : 1e-6;
  setValue(now + steps * unit);
  selectAll();
}

QSize DurationBox::minimumSizeHint() const {
  // Not that of the largest number with all of its digits, as a QDoubleSpinBox has it.
  QStyleOptionSpinBox option;
  initStyleOption(&option);
  const int text = std::max(fontMetrics().horizontalAdvance(QStringLiteral("1000.5ms")), fontMetrics().horizontalAdvance(specialValueText()));
  constexpr int kCursor = 6;
  return style()->sizeFromContents(QStyle::CT_SpinBox, &option, QSize(text + kCursor, lineEdit()->minimumSizeHint().height()), this);
}

}  // namespace tw::widgets
