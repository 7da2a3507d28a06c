// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"
#include "engine/tune/session.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;
class QSpinBox;

namespace tw::widgets {
class ParamForm;
}

namespace tw::app {

/// Session controls: tuner with its parameters, budget, seed; start, pause, stop; progress.
class TuneView : public QWidget {
  Q_OBJECT
 public:
  explicit TuneView(Services& services, QWidget* parent = nullptr);
  ~TuneView() override;
  static QWidget* create(Services& services, QWidget* parent) { return new TuneView(services, parent); }
  tune::SessionOptions options() const;
  void setOptions(const tune::SessionOptions& options);
  bool onlySelectedTask() const;
  void setOnlySelectedTask(bool only);

 private:
  void buildForm();
  void showTuner();
  void showProgress();
  void follow();
  Services& m_services;
  QComboBox *m_tuner, *m_scope;
  QLabel *m_summary, *m_status;
  widgets::ParamForm* m_params;
  QSpinBox *m_trials, *m_perTask, *m_seed, *m_batch, *m_stopping;
  QCheckBox* m_follow;
  QProgressBar* m_progress;
  QWidget* m_form;
};

}  // namespace tw::app
