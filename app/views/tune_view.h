// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"
#include "engine/tune/session.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QProgressBar;

namespace tw::app {

class SessionForm;

/// Session controls: what is tuned and with which options; start, pause, stop; progress.
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
  SessionForm* m_options;
  QComboBox* m_scope;
  QLabel *m_summary, *m_status;
  QCheckBox* m_follow;
  QProgressBar* m_progress;
};

}  // namespace tw::app
