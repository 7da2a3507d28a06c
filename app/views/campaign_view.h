// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "app/logs/campaign.h"
#include "app/views/view.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QProgressBar;
class QStandardItemModel;
class QTabWidget;
class QTreeView;

namespace tw::widgets {
class EmptyState;
class ImportanceView;
class ResourceChart;
}  // namespace tw::widgets

namespace tw::app {

/// A campaign: what matters most in one sentence, how speed follows from each resource, how much each explains, one operator on several devices, what a cost
/// model should be told, and all of it as tables. It is run from here, and says how far it is.
class CampaignView : public QWidget {
  Q_OBJECT
 public:
  explicit CampaignView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new CampaignView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Charts in as many columns as there is room for, on a page that scrolls.
  struct Charts {
    QWidget* page = nullptr;
    QGridLayout* grid = nullptr;
    std::vector<widgets::ResourceChart*> charts;
  };
  using Cells = std::vector<std::vector<std::string>>;

  QWidget* makeBar();
  Charts makeCharts(const char* id, const QString& name);
  QTreeView* makeTable(const char* id, const QString& name);
  QWidget* makeStudy();
  /// So many charts, each asked for.
  void resizeCharts(Charts& charts, size_t count);
  void placeCharts(Charts& charts);
  void fillTable(QTreeView* table, const Cells& cells);
  void showAll();
  void showNames();
  void showOperator();
  void showSeries();
  void showDevices();
  void showStudy();
  void showProgress();
  const logs::CampaignSeries* series() const;
  /// Those of the chosen operator, by their devices.
  std::vector<const logs::CampaignSeries*> sameOperator() const;

  Services& m_services;
  std::shared_ptr<const logs::Campaign> m_shown;
  QComboBox *m_names, *m_operators, *m_devices;
  QLabel *m_answer, *m_progressText, *m_noDevices, *m_studyText;
  QProgressBar* m_progress;
  QWidget* m_progressLine;
  QTabWidget* m_tabs;
  Charts m_curves, m_compared;
  widgets::ImportanceView* m_bars;
  QTreeView *m_importance, *m_values, *m_crossings, *m_worths, *m_leftOut;
  widgets::EmptyState *m_state, *m_studyState;
};

}  // namespace tw::app
