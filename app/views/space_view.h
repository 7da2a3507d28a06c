// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/views/view.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace tw::widgets {
class EmptyState;
class KnobPanel;
}  // namespace tw::widgets

namespace tw::app {

class MeasureService;

/// The config spaces of the selected task, one a template: how many of their points can be built, and a hand on every knob. Every edited point is lowered at
/// once, and can be measured.
class SpaceView : public QWidget {
  Q_OBJECT
 public:
  explicit SpaceView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new SpaceView(services, parent); }

 private:
  QWidget* makeContent();
  void showSpace();
  void showChoices();
  /// What is found out about a space in the background.
  struct Looked {
    int64_t byRule = -1;
    Engine::SpaceSample sample;
  };
  void showPoint();
  void sample();
  void showSample(const Engine::SpaceSample& sample);
  void showMeasure();
  Services& m_services;
  MeasureService* m_measuring;
  widgets::KnobPanel* m_panel;
  widgets::EmptyState* m_state;
  QComboBox* m_space = nullptr;
  QLabel* m_facts = nullptr;
  QToolButton* m_measure = nullptr;
  LatestJob m_job;
  const space::ConfigSpace* m_sampled = nullptr;
  int64_t m_byRule = -1;  ///< of m_sampled
  bool m_quiet = false;
};

}  // namespace tw::app
