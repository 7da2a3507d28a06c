// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/integer_box.h"

#include <QFontMetrics>
#include <QLineEdit>
#include <QStyleOptionSpinBox>
#include <algorithm>

namespace tw::widgets {
namespace {
/// Numbers of so many characters are seen whole.
constexpr int kSeen = 9;
/// Beside the text, for the cursor.
constexpr int kRoom = 6;
}  // namespace

IntegerBox::IntegerBox(QWidget* parent) : QAbstractSpinBox(parent) {
  lineEdit()->setText(textOf(m_value));
  setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);
  connect(lineEdit(), &QLineEdit::textEdited, this, [this](const QString& text) {
    if (qint64 value = 0; keyboardTracking() && read(text, value)) take(value);
  });
  // What is no number goes back to what was.
  connect(this, &QAbstractSpinBox::editingFinished, this, [this] {
    if (qint64 value = 0; read(lineEdit()->text(), value)) take(value);
    lineEdit()->setText(textOf(m_value));
  });
}

void IntegerBox::setRange(qint64 low, qint64 high) {
  m_low = low, m_high = std::max(low, high);
  setValue(m_value);
}

void IntegerBox::setValue(qint64 value) {
  take(std::clamp(value, m_low, m_high));
  lineEdit()->setText(textOf(m_value));
}

void IntegerBox::setZeroText(const QString& text) {
  m_zero = text;
  lineEdit()->setText(textOf(m_value));
}

void IntegerBox::take(qint64 value) {
  if (value == m_value) return;
  m_value = value;
  Q_EMIT valueChanged(value);
}

QString IntegerBox::textOf(qint64 value) const { return value == 0 && !m_zero.isEmpty() ? m_zero : locale().toString(value); }

bool IntegerBox::read(const QString& text, qint64& value) const {
  const QString plain = text.trimmed();
  bool good = !m_zero.isEmpty() && plain == m_zero;
  value = 0;
  if (!good) value = locale().toLongLong(plain, &good);
  if (!good) value = QLocale::c().toLongLong(QString(plain).remove(locale().groupSeparator()), &good);
  return good && value >= m_low && value <= m_high;
}

void IntegerBox::stepBy(int steps) {
  const qint64 by = steps;
  const bool over = by > 0 ? m_value > m_high - by : m_value < m_low - by;
  setValue(over ? (by > 0 ? m_high : m_low) : m_value + by);
  selectAll();
}

QAbstractSpinBox::StepEnabled IntegerBox::stepEnabled() const {
  return (m_value < m_high ? StepUpEnabled : StepNone) | (m_value > m_low ? StepDownEnabled : StepNone);
}

QValidator::State IntegerBox::validate(QString& input, int&) const {
  qint64 value = 0;
  return read(input, value) ? QValidator::Acceptable : QValidator::Intermediate;
}

void IntegerBox::fixup(QString& input) const { input = textOf(m_value); }

QSize IntegerBox::minimumSizeHint() const {
  QStyleOptionSpinBox option;
  initStyleOption(&option);
  const int text = std::max(fontMetrics().horizontalAdvance(QString(kSeen, QLatin1Char('0'))), fontMetrics().horizontalAdvance(m_zero));
  return style()->sizeFromContents(QStyle::CT_SpinBox, &option, QSize(text + kRoom, lineEdit()->minimumSizeHint().height()), this);
}

}  // namespace tw::widgets
