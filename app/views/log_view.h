// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

#include "app/views/view.h"

namespace tw::app {

/// What happened, one line each, newest last.
class LogView : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit LogView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new LogView(services, parent); }
  void addLine(const QString& text);
};

}  // namespace tw::app
