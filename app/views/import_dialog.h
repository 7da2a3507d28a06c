// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/services/import_service.h"
#include "widgets/common/dialog.h"

class QDialogButtonBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QTreeWidget;

namespace tw::app {

/// What a log holds, before and while it is imported: tasks, targets, lines of no use with their numbers.
class ImportDialog : public widgets::Dialog {
  Q_OBJECT
 public:
  explicit ImportDialog(ImportService& service, QWidget* parent = nullptr);

 protected:
  void reject() override;

 private:
  void showState();
  void showContent();
  ImportService& m_service;
  QLabel *m_summary, *m_problemsTitle;
  QTreeWidget *m_tasks, *m_problems;
  QProgressBar* m_progress;
  QPushButton *m_import, *m_close;
};

}  // namespace tw::app
