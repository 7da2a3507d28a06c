// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "app/views/view.h"
#include "engine/api/pass_cost.h"

class QLabel;
class QToolButton;
class QTreeWidget;

namespace tw::app {

/// What each pass is worth in the network: a row a pass, measured or not, the dearest first.
class PassCostPanel : public QWidget {
  Q_OBJECT
 public:
  struct Row {
    QString pass, needed;  ///< why it cannot be left out; empty if it can
  };
  explicit PassCostPanel(Services& services, QWidget* parent = nullptr);
  /// The passes to offer; `task`: key of the one in whose kernels they are left out; empty: in those of the whole network.
  void setPasses(std::vector<Row> rows, std::string task);

  /// `1.43 (1.40 to 1.46)`; a dash for what was not measured.
  static QString ratioText(const api::PassCost& cost);
  /// What leaving it out does, as a sentence.
  static QString sentence(const api::PassCost& cost);

 Q_SIGNALS:
  void passChosen(const QString& pass);

 private:
  void showCosts();
  void showState();
  Services& m_services;
  QTreeWidget* m_table;
  QToolButton *m_all, *m_stop;
  QLabel* m_state;
  std::vector<Row> m_rows;
  std::string m_task;  ///< a key: rows and task outlive their model until the next one's passes are known
};

}  // namespace tw::app
