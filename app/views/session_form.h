// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "engine/tune/scheduler.h"
#include "engine/tune/session_options.h"
#include "engine/tune/strategy.h"

class QLabel;

namespace tw::widgets {
class ParamForm;
}

namespace tw::app {

/// The options of a session as tune::session_schema() has them, with the scheduler's parameters below it, and at the end what the tuner does, with its parameters. Inputs are named
/// `edit.<name>.<option>`, those of parameters `edit.<name>.tuner.<parameter>` and `edit.<name>.scheduler.<parameter>`.
class SessionForm : public QWidget {
  Q_OBJECT
 public:
  /// Without tuners it has no row for them, and options() keeps those of setOptions().
  SessionForm(const std::vector<tune::StrategyDef>& tuners, const QString& name, QWidget* parent = nullptr);
  tune::SessionOptions options() const;
  /// Tuners may have names that tune::tuner_named() understands.
  void setOptions(const tune::SessionOptions& options);
  /// The chosen tuner; null if there are none.
  const tune::StrategyDef* tuner() const;
  widgets::ParamForm& form() { return *m_form; }

 Q_SIGNALS:
  void tunerChanged();
  void changed();

 protected:
  bool event(QEvent* event) override;

 private:
  /// The scheduler's rows stand among the session's, in the same columns.
  void alignLabels();
  const tune::SchedulerDef* scheduler() const;
  void showTuner();
  void showScheduler();
  std::vector<tune::StrategyDef> m_tuners;
  tune::SessionOptions m_given;
  widgets::ParamForm* m_form;
  QLabel* m_about;  ///< what the tuner does
  const tune::StrategyDef* m_shownTuner = nullptr;  ///< whose parameters are there
  const tune::SchedulerDef* m_shownScheduler = nullptr;
  widgets::ParamForm *m_tunerParams, *m_schedulerParams;
};

}  // namespace tw::app
