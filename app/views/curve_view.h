// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/services/job_runner.h"
#include "app/views/view.h"

class QBoxLayout;
class QComboBox;
class QLabel;
class QStackedWidget;

namespace tw::widgets {
class ActivityChart;
class CurveChart;
class PredictionChart;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

class SessionSet;

/// The live tuning curve of the selected task, with the sessions put side by side over it; on a second page what the session spent its time on,
/// on a third what the tuner's models predicted against what was measured.
class CurveView : public QWidget {
  Q_OBJECT
 public:
  explicit CurveView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new CurveView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum Page { Curve, Activity, Predictions };
  QWidget* makeBar();
  QComboBox* addChoice(const char* id, const QString& name, const QStringList& items);
  void showStore();
  void showGrowth();
  void showOverlays();
  void showPage(int page);
  void readActivity();
  void readPredictions();
  Services& m_services;
  widgets::CurveChart* m_chart;
  widgets::ActivityChart* m_activity;
  widgets::PredictionChart* m_predictions;
  widgets::EmptyState* m_state;
  SessionSet* m_set;
  QStackedWidget* m_pages;
  QComboBox *m_page = nullptr, *m_x = nullptr, *m_unit = nullptr;
  QLabel* m_summary = nullptr;
  QBoxLayout* m_bar = nullptr;
  QTimer m_refresh, m_growth;
  LatestJob m_activityJob, m_predictionJob;
};

}  // namespace tw::app
