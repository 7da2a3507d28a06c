// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/network_data.h"
#include "widgets/common/tabular.h"
#include "widgets/records/time_kind.h"

class QCustomPlot;
class QCPGraph;

namespace tw::widgets {

/// The estimated time of the network after every round of a session, several sessions over each other; a target as a line, and where each session reaches it.
/// Rounds of the line that is in focus are chosen with the mouse or the arrow keys.
class NetworkChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  struct Line {
    QString name;
    int style = 0;       ///< see series_style.h
    bool focus = false;  ///< of the selected session
    std::vector<records::Round> rounds;
    double defaultSeconds = 0;  ///< what the session's tasks take by their default schedules as that is known now; 0: not known
  };
  explicit NetworkChart(QWidget* parent = nullptr);
  void setLines(std::vector<Line> lines);
  const std::vector<Line>& lines() const { return m_lines; }
  void setX(NetworkX x);
  /// In seconds; 0: none.
  void setTarget(double seconds);
  /// What the network takes as it runs, by default and with what is taken; 0: it was not run.
  void setMeasured(double defaultSeconds, double tunedSeconds);
  void setTimes(TimeKind kind);
  /// Of the line in focus; 0: none.
  void setSelectedRound(int64_t number);
  /// Whether a line has a point.
  bool isEmpty() const;
  /// What there is to say of a line: its name, its last time, and when it reached the target. In a low chart the legend has names alone, which take fewer rows.
  QString legend(size_t line) const;
  /// What the line in focus shows, in one sentence; else the first one.
  QString summary() const;
  Table table() const override;

 Q_SIGNALS:
  void roundActivated(qint64 number);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void draw();
  void rescale();
  const Line* focused() const;
  QString place(const records::Round& round) const;
  void hover(const QPoint& pixel);
  /// Line and point near a pixel; (-1, -1) if there is none.
  std::pair<int, int> near(const QPointF& pixel) const;

  QCustomPlot* m_plot;
  QCPGraph *m_target = nullptr, *m_selected = nullptr;
  std::vector<Line> m_lines;
  std::vector<std::vector<NetworkPoint>> m_points;  ///< of each line
  std::vector<QCPGraph*> m_graphs;
  NetworkX m_x = NetworkX::trials;
  double m_targetSeconds = 0, m_defaultSeconds = 0, m_tunedSeconds = 0;
  TimeKind m_times = TimeKind::measured;
  int64_t m_round = 0;
};

}  // namespace tw::widgets
