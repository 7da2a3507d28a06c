// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/services/measure_service.h"

namespace tw::app {

/// What each choice of the shown point is worth: the point is measured again with one knob after another put back to its value by rule (that of the point that
/// untuned networks use, else the first candidate), and before and after all of them as it is. Every changed point is kept as a trial of a session `ledger`.
class LedgerService : public QObject {
  Q_OBJECT
 public:
  struct Row {
    QString knob, here, byRule;
    qint64 index = -1;  ///< of the point with the knob put back
    bool done = false;  ///< measured, or known not to work
    double ratio = 0;   ///< its time ÷ that of the shown point; 0 if it has none
    QString problem;    ///< why it has none
    TrialRef trial;     ///< without a number if it was not stored
    double seconds = HUGE_VAL;
  };

  LedgerService(Engine& engine, SelectionHub& hub, Workspace& workspace, TuneService& tuning, ExplainService& explain, JobBoard& board, QObject* parent);
  /// Why it cannot be made now; empty if it can.
  QString obstacle() const;
  void start();
  void stop();
  bool isBusy() const { return m_busy; }
  /// Of the last ledger, those worth most first once it is whole.
  const std::vector<Row>& rows() const { return m_rows; }
  /// The point that it is about, empty while there was none.
  const QString& about() const { return m_about; }
  /// How far the two times of the shown point lie apart, as a part of them; negative while unknown. Smaller differences say nothing.
  double noise() const { return m_noise; }

 Q_SIGNALS:
  void changed();
  void failed(const QString& message);

 private:
  void prepare(const std::vector<int>& positions, qint64 byRule);
  void next();
  void end(JobBoard::Outcome outcome, const QString& message = {});

  Engine& m_engine;
  SelectionHub& m_hub;
  Workspace& m_workspace;
  TuneService& m_tuning;
  ExplainService& m_explain;
  JobBoard& m_board;
  LatestJob m_job;
  OpenModelPtr m_model;
  int m_task = -1, m_boardJob = 0;
  records::Candidate m_candidate;
  Engine::Space m_space;
  std::vector<int> m_positions;  ///< of the shown point's choices
  SessionId m_session;
  std::vector<Row> m_rows;
  size_t m_at = 0;  ///< 0: the point as it is; n: row n - 1; behind the last row: the point as it is once more
  double m_before = 0, m_noise = -1;
  QString m_about;
  bool m_busy = false;
};

}  // namespace tw::app
