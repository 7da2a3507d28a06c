// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QLabel;
class QToolButton;
class QTreeWidget;

namespace tw::app {

class LedgerService;

/// What each choice of the shown point is worth, one row for each knob: measured when asked for.
class LedgerPanel : public QWidget {
  Q_OBJECT
 public:
  LedgerPanel(Services& services, QWidget* parent);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show();
  void fill();
  void fitHeight();
  Services& m_services;
  LedgerService* m_ledger;
  QToolButton* m_button;
  QLabel* m_text;
  QTreeWidget* m_table;
  QString m_problem;
};

}  // namespace tw::app
