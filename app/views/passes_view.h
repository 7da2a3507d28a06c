// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "widgets/ir/pass_strip.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QSplitter;
class QTabWidget;
class QToolButton;

namespace tw::widgets {
class CodePane;
class EmptyState;
struct PassScene;
}  // namespace tw::widgets

namespace tw::app {

class PassCostPanel;
class PassPicture;

/// What every pass makes of the shown kernel, or of the network's graph: a strip of the passes, the difference that one or several of them made as text and as
/// a picture, linked with each other, what leaving a pass out costs the network, and where the kernel begins to differ in structure from what the code is
/// compared with. The picture stands beside the rest where there is room, and is one of its tabs where there is none.
class PassesView : public QWidget {
  Q_OBJECT
 public:
  explicit PassesView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new PassesView(services, parent); }
  /// Chooses the next or previous pass.
  void step(int by);
  void stepChange(bool forward);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  enum What { Kernel, Network };
  struct Traced {
    api::PassTrace trace;
    std::vector<widgets::PassStrip::Pass> strip;
    std::optional<api::PassTrace> base;
    int divergence = -1;
  };
  void invalidate();
  void compute();
  void showTraced(Expected<Traced> traced);
  void showText();
  void showPicture();
  void showDivergence();
  void showCosts();
  void showCost();
  /// The one pass that is chosen and may be looked at by itself; null otherwise.
  const api::TracedPass* chosenPass() const;
  /// Key of the task in whose kernels alone passes are left out, empty for all.
  std::string costTask() const;
  static Traced traced(api::PassTrace trace, std::optional<api::PassTrace> base);

  Services& m_services;
  widgets::EmptyState* m_state;
  widgets::PassStrip* m_strip;
  widgets::CodePane* m_text;
  QComboBox* m_what;
  QLabel *m_title, *m_about, *m_divergence;
  QToolButton *m_jump, *m_against, *m_without;
  QCheckBox* m_alone;
  QLabel* m_cost;
  QSplitter* m_split;
  QTabWidget* m_tabs;
  PassPicture* m_picture;
  PassCostPanel* m_costs;
  bool m_low = false;                           ///< there is little height
  bool m_beside = false;                        ///< the picture stands beside the tabs
  bool m_pictureStale = true;                   ///< it is of another pass
  std::optional<std::pair<bool, int>> m_place;  ///< the line that was chosen in the text: whether of the text after the pass, and which
  LatestJob m_job, m_diffJob, m_pictureJob;
  std::shared_ptr<const Traced> m_traced;
  bool m_stale = true;
};

}  // namespace tw::app
