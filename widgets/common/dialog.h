// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

namespace tw::widgets {

/// What all windows of questions and tables are. Tab goes through them as people read, whatever was made, enabled or put between others when.
class Dialog : public QDialog {
  Q_OBJECT
 public:
  using QDialog::QDialog;

 protected:
  bool focusNextPrevChild(bool next) override;
};

}  // namespace tw::widgets
