// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "widgets/charts/landscape_data.h"

class QComboBox;
class QLabel;
class QTabWidget;

namespace tw::widgets {
class EmptyState;
class HeatMapView;
class ImportanceView;
class ParallelView;
class ProjectionView;
}  // namespace tw::widgets

namespace tw::app {

/// The trials of the selected task and session over the knobs of the selected space: heat map, projection, parallel coordinates, importance of knobs.
class LandscapeView : public QWidget {
  Q_OBJECT
 public:
  explicit LandscapeView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new LandscapeView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Computed {
    std::shared_ptr<const widgets::PointSet> points;
    std::shared_ptr<const widgets::Projection> projection;
    widgets::HeatMap map;
    std::vector<double> importance;
    std::vector<char> kept;
  };
  QWidget* makeBar();
  void showSpace();
  /// Knobs to choose from; `x` and `y` are the chosen ones, -1: the first two.
  void showAxes(const std::vector<space::Knob>& knobs, int x, int y);
  void later();
  void compute();
  void show(const Computed& computed);
  void showSummary();
  void showState(size_t points);
  Services& m_services;
  widgets::HeatMapView* m_map;
  widgets::ProjectionView* m_projection;
  widgets::ParallelView* m_parallel;
  widgets::ImportanceView* m_importance;
  widgets::EmptyState* m_state;
  QTabWidget* m_tabs;
  QComboBox *m_x = nullptr, *m_y = nullptr;
  QLabel* m_summary = nullptr;
  QWidget* m_axes = nullptr;
  QTimer m_timer;
  LatestJob m_job;
  const space::ConfigSpace* m_shownSpace = nullptr;
  QString m_spaceName;  ///< of the pictures
  QString m_ownFilter;  ///< the one that the brushes made
  bool m_stale = true, m_quiet = false;
};

}  // namespace tw::app
