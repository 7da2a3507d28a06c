// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/curve_data.h"
#include "widgets/common/tabular.h"
#include "widgets/records/time_kind.h"

class QCustomPlot;
class QCPGraph;
class QCPAxisRect;
class QTimer;

namespace tw::widgets {

/// The tuning curve of one task: trials as points, the best so far as steps, failures by kind in a strip below, and the best so far of other sessions, or
/// of groups of them as bands.
/// Reads TrialStores; never blocks on them.
class CurveChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  /// Another session's best so far. Colour, dashes and marker follow from `style`.
  struct Overlay {
    QString name;
    TrialStorePtr store;
    int style = 0;
    std::vector<TrialStorePtr> seeds = {};  ///< instead of `store`: sessions that differ in their seed alone, as their median and middle half
  };
  explicit CurveChart(QWidget* parent = nullptr);
  void setOverlays(std::vector<Overlay> overlays);
  /// Name of the session whose trials are shown, for the legend while there are overlays.
  void setName(const QString& name);
  void setX(CurveX x);
  CurveX x() const { return m_x; }
  void setStore(TrialStorePtr store);
  /// Time of the default schedule in seconds, for the reference line; 0 or infinity hides it.
  void setDefaultSeconds(double seconds);
  double defaultSeconds() const { return m_defaultSeconds; }
  void setUnit(CurveUnit unit);
  /// The axis says so if times are not measured.
  void setTimes(TimeKind kind);
  /// The unit of the data: seconds where no speed is known. The axis of times is marked in s, ms, µs or ns.
  CurveUnit unit() const;
  /// What stands beside that axis.
  QString valueTitle() const;
  void setSelectedTrial(qint64 number);
  /// Draws what was appended since the last call.
  void refresh();
  const CurveData& data() const { return m_data; }
  /// What the chart shows, in one sentence.
  QString summary() const;
  /// The trials in sight, thinned as they are drawn, failures among them; then the overlays' improvements.
  Table table() const override;

 Q_SIGNALS:
  void trialActivated(qint64 number);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void buildPlot();
  void restyle();
  void rescale();
  void reduce();
  void styleTrials();
  void showFailures();
  void showOverlays();
  double farthest() const;
  /// Every store that is drawn.
  std::vector<const TrialStore*> stores() const;
  void showSelection();
  int rowNear(const QPointF& pixel) const;
  QString describeRow(int row) const;
  void hover(const QPoint& pixel);

  QCustomPlot* m_plot;
  QCPAxisRect* m_strip = nullptr;
  QCPGraph *m_trials = nullptr, *m_best = nullptr, *m_failures = nullptr, *m_selected = nullptr, *m_selectedFailure = nullptr, *m_default = nullptr;
  TrialStorePtr m_store;
  TimeKind m_times = TimeKind::measured;
  CurveData m_data;
  CurveUnit m_unit = CurveUnit::gflops;
  double m_defaultSeconds = 0;
  qint64 m_selectedNumber = -1;
  CurveX m_x = CurveX::trials;
  QString m_name;
  std::vector<Overlay> m_overlays;
  std::vector<QCPGraph*> m_overlayGraphs, m_bandGraphs;
  QTimer* m_zoomed = nullptr;  ///< collects changes of the range
  int m_shown = -1;
  bool m_userZoomed = false;
};

}  // namespace tw::widgets
