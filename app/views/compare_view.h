// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "db/comparison.h"
#include "widgets/charts/curve_chart.h"

class QComboBox;
class QLabel;
class QTabWidget;
class QTreeView;

namespace tw::widgets {
class EmptyState;
class SideBySideModel;
}  // namespace tw::widgets

namespace tw::app {

class SessionSet;

/// Sessions side by side: the answer in one sentence, curves of the selected task with a row for each tuner, what each reached on every task with a verdict, and where their configurations differ.
class CompareView : public QWidget {
  Q_OBJECT
 public:
  explicit CompareView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new CompareView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* makeCurves();
  QWidget* makeTable(widgets::SideBySideModel* model, const char* id, const QString& name);
  std::vector<widgets::CurveChart::Overlay> sessionLines() const;
  /// One for each group of sessions that differ in their seed alone.
  std::vector<widgets::CurveChart::Overlay> seedBands() const;
  /// The default schedule's time, of the kind that the first session has.
  double defaultSeconds() const;
  std::vector<db::SessionGroup> groups() const;
  void showSet();
  void showTuners();
  /// As many columns as there is room for beside the names.
  void fitTuners();
  void showAnswer();
  void readBests();
  void showBests(const std::vector<db::BestRow>& rows);
  void compareNewest();
  Services& m_services;
  SessionSet* m_set;
  widgets::CurveChart* m_chart;
  widgets::SideBySideModel *m_bests, *m_configs;
  widgets::EmptyState* m_state;
  QTabWidget* m_tabs;
  QTreeView* m_tuners;
  QLabel* m_answer;
  QString m_winner;
  QTimer m_live;
  QComboBox* m_lines;
  QLabel* m_verdict;
  QAction* m_newest;
  LatestJob m_job;
};

}  // namespace tw::app
