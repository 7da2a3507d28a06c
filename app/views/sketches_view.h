// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>
#include <memory>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/views/view.h"

class QLabel;
class QStandardItem;
class QStandardItemModel;
class QTreeView;

namespace tw::widgets {
class CodePane;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

/// The sketches of the selected task as a tree of the rules that made them, what trials each had, and its steps with what is left open.
class SketchesView : public QWidget {
  Q_OBJECT
 public:
  explicit SketchesView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new SketchesView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  enum Column { Rule, Trials, Best, ColumnCount };
  /// What the shown trials say of one sketch.
  struct Tried {
    int trials = 0;
    qint64 best = -1;  ///< number of the fastest, as TrialStore counts
    double seconds = 0;
  };
  struct Shown {
    std::vector<space::Sketch> sketches;
    std::vector<QString> steps;               ///< of each, a line a step
    std::vector<std::vector<int>> openLines;  ///< of each, those whose lengths are chosen later
  };
  static Shown shown(std::vector<space::Sketch> sketches);
  void invalidate();
  void compute();
  void show(Shown shown);
  void showTrials();
  void showSteps();
  /// The item under `parent` for that use of a rule, made if it is new.
  static QStandardItem* ruleItem(QStandardItem* parent, const space::RuleUse& use);
  static QList<QStandardItem*> row(const QString& text, const QString& help);
  int current() const;

  Services& m_services;
  QStandardItemModel* m_model;
  QTreeView* m_tree;
  widgets::CodePane* m_steps;
  widgets::EmptyState* m_state;
  QLabel* m_summary;
  QTimer m_later;
  LatestJob m_job;
  Shown m_shown;
  std::vector<QStandardItem*> m_leaves;  ///< of each sketch
  std::vector<Tried> m_tried;
  std::string m_task;  ///< that is shown
  bool m_stale = true;
};

}  // namespace tw::app
