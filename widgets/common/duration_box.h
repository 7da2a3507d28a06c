// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDoubleSpinBox>

namespace tw::widgets {

/// A time in seconds, typed and shown as `90s`, `30m` or `200us` (engine/base/duration.h).
class DurationBox : public QDoubleSpinBox {
  Q_OBJECT
 public:
  explicit DurationBox(QWidget* parent = nullptr);

  QString textFromValue(double seconds) const override;
  double valueFromText(const QString& text) const override;
  QValidator::State validate(QString& input, int& pos) const override;
  void fixup(QString& input) const override;
  /// By the unit that the time is shown in.
  void stepBy(int steps) override;
  QSize sizeHint() const override { return minimumSizeHint(); }
  QSize minimumSizeHint() const override;
};

}  // namespace tw::widgets
