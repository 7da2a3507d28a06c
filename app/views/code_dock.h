// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/services/job_runner.h"
#include "app/views/view.h"

class QLabel;
class QMenu;
class QToolButton;

namespace tw::widgets {
class CodeView;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

/// Listings of the selected candidate, with what belongs to the selected place or else to the selected node of the graph; or their differences from those of
/// another candidate.
class CodeDock : public QWidget {
  Q_OBJECT
 public:
  explicit CodeDock(Services& services, QWidget* parent = nullptr);
  ~CodeDock() override;
  static QWidget* create(Services& services, QWidget* parent) { return new CodeDock(services, parent); }
  widgets::CodeView* code() { return m_code; }
  /// The selected trial becomes what others are compared with.
  void keepAsBase();

 private:
  void showSelection();
  void fillBases();
  void showDiff();
  void showDiffBar(const QString& text);
  Services& m_services;
  widgets::CodeView* m_code;
  widgets::EmptyState* m_state;
  QToolButton* m_difference;
  QMenu* m_bases;
  QWidget* m_diffBar;
  QLabel* m_diffText;
  LatestJob m_diffJob;
};

}  // namespace tw::app
