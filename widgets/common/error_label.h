// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace tw::widgets {

/// What is wrong, in plain text and the theme's colour of errors; hidden while nothing is.
class ErrorLabel : public QLabel {
  Q_OBJECT
 public:
  explicit ErrorLabel(QWidget* parent = nullptr);
  void showProblem(const QString& problem);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void recolour();
  bool m_dark = false;
};

}  // namespace tw::widgets
