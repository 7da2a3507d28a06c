// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

namespace tw::app {

/// The manual of resources/docs/manual, read inside the workbench.
class ManualWindow : public QDialog {
  Q_OBJECT
 public:
  explicit ManualWindow(QWidget* parent = nullptr);
};

}  // namespace tw::app
