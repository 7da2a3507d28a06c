// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractSpinBox>
#include <limits>

namespace tw::widgets {

/// A whole number of 64 bits, with group separators; QSpinBox has 32.
class IntegerBox : public QAbstractSpinBox {
  Q_OBJECT
 public:
  explicit IntegerBox(QWidget* parent = nullptr);
  void setRange(qint64 low, qint64 high);
  qint64 value() const { return m_value; }
  /// Within the range.
  void setValue(qint64 value);
  /// What stands in the place of 0, such as `never`.
  void setZeroText(const QString& text);

  void stepBy(int steps) override;
  QValidator::State validate(QString& input, int& pos) const override;
  void fixup(QString& input) const override;
  QSize sizeHint() const override { return minimumSizeHint(); }
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void valueChanged(qint64 value);

 protected:
  StepEnabled stepEnabled() const override;

 private:
  QString textOf(qint64 value) const;
  /// Nothing if the text is no number of the range.
  bool read(const QString& text, qint64& value) const;
  void take(qint64 value);

  qint64 m_low = std::numeric_limits<qint64>::min(), m_high = std::numeric_limits<qint64>::max(), m_value = 0;
  QString m_zero;
};

}  // namespace tw::widgets
