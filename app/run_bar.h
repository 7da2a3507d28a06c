// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QToolBar>

#include "app/views/view.h"

class QComboBox;
class QLabel;
class QMenu;
class QProgressBar;
class QToolButton;

namespace tw::app {

class TuneView;

/// What runs, on what, with which tuner and how long; start, pause and stop, how far it is, and what the network takes by now. The one place for each of these.
class RunBar : public QToolBar {
  Q_OBJECT
 public:
  /// Takes the inputs of tuner and trials out of the form of options.
  RunBar(Services& services, TuneView& options, QWidget* parent);
  /// What the button of networks opens: bundled networks, files, recent ones.
  QMenu* networks() { return m_networks; }
  /// The network, its target and its tasks.
  void showModel();
  /// The farm's devices that were chosen, as farm::open_device names them; empty: times are taken here.
  std::string device() const;

  /// How wide a bar at the window's left edge is: the window adds that to the least width of this one, which goes past it.
  void setBeside(int width);
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  /// Another target for the models that are opened from now on, as parse_target() reads it; empty: one is to be typed.
  void targetChosen(const QString& target);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  int m_beside = 0;
  void fitProgress();
  void makeTargets();
  void showDevices();
  void showTask();
  void showProgress();
  void showEstimate();
  Services& m_services;
  QToolButton* m_network;
  QMenu* m_networks;
  QComboBox *m_target, *m_device, *m_task;
  QProgressBar* m_progress;
  QLabel *m_status, *m_estimate;
};

}  // namespace tw::app
