// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <array>
#include <optional>

#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "engine/api/loop_play.h"

class QComboBox;
class QLabel;
class QSlider;
class QToolButton;

namespace tw::widgets {
class EmptyState;
class LoopScene;
}  // namespace tw::widgets

namespace tw::app {

/// The loops of the shown kernel, step by step on sizes that can be watched: what they read and write, what caches hold, beside another schedule's.
class LoopsView : public QWidget {
  Q_OBJECT
 public:
  explicit LoopsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new LoopsView(services, parent); }
  /// Goes to the moment after so many steps of the shown kernel; the one beside it is then as far through its own.
  void seek(size_t steps);
  void setRunning(bool running);
  bool isRunning() const { return m_tick.isActive(); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum Beside { Nothing, BeforeLastStep, CodeBase };
  struct Played {
    api::PlayedLoops shown;
    std::optional<api::PlayedLoops> other;
    QString otherProblem;
  };
  QWidget* makeTransport();
  void invalidate();
  void compute();
  void show(Expected<Played> played);
  void showSizes(const Played& played);
  void showMoment();
  void showIcons();
  void leaveLoop();
  void tick();
  size_t size() const;
  size_t at() const;

  Services& m_services;
  widgets::EmptyState* m_state;
  std::array<widgets::LoopScene*, 2> m_scenes;
  QComboBox *m_beside, *m_caches, *m_speed = nullptr;
  QLabel *m_sizes, *m_position = nullptr;
  QSlider* m_bar = nullptr;
  QToolButton *m_start = nullptr, *m_back = nullptr, *m_play = nullptr, *m_forward = nullptr, *m_out = nullptr;
  LatestJob m_job;
  QTimer m_tick;
  QElapsedTimer m_sinceTick;
  double m_due = 0;  ///< steps that are to happen at the next tick, with their fraction
  bool m_stale = true;
};

}  // namespace tw::app
