// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolBar>

#include "app/services/playback_clock.h"

class QComboBox;
class QLabel;
class QSlider;
class QToolButton;

namespace tw::app {

class SelectionHub;
class Workspace;

/// The controls of the playback clock: to and fro by moments, play and pause, a bar to drag, the speed, an end. There only while sessions are played.
class PlaybackBar : public QToolBar {
  Q_OBJECT
 public:
  PlaybackBar(SelectionHub& hub, Workspace& workspace, QWidget* parent);
  /// Puts sessions of the open model under the clock and looks at them: alone, or side by side.
  void play(const std::vector<SessionId>& sessions);

 Q_SIGNALS:
  void failed(const QString& message);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void showIcons();
  void showSessions();
  void showMoment();
  void showRunning();
  SelectionHub& m_hub;
  Workspace& m_workspace;
  PlaybackClock& m_clock;
  QLabel *m_title, *m_time;
  QToolButton *m_back, *m_play, *m_forward, *m_close = nullptr;
  QSlider* m_slider;
  QComboBox* m_speed;
};

}  // namespace tw::app
