// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "widgets/ir/pass_strip.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace tw::widgets {
class CodePane;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

/// What every pass makes of the shown kernel, or of the network's graph: a strip of the passes, the difference that one or several of them made, and where the
/// kernel begins to differ in structure from what the code is compared with.
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
  void showDivergence();
  static Traced traced(api::PassTrace trace, std::optional<api::PassTrace> base);

  Services& m_services;
  widgets::EmptyState* m_state;
  widgets::PassStrip* m_strip;
  widgets::CodePane* m_text;
  QComboBox* m_what;
  QLabel *m_title, *m_about, *m_divergence, *m_range;
  QToolButton *m_jump, *m_against;
  LatestJob m_job, m_diffJob;
  std::shared_ptr<const Traced> m_traced;
  bool m_stale = true;
};

}  // namespace tw::app
