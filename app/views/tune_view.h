// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"
#include "engine/tune/session.h"

class QCheckBox;
class QComboBox;

namespace tw::app {

class SessionForm;

/// The options of a session, with what the chosen tuner does.
class TuneView : public QWidget {
  Q_OBJECT
 public:
  explicit TuneView(Services& services, QWidget* parent = nullptr);
  ~TuneView() override;
  static QWidget* create(Services& services, QWidget* parent) { return new TuneView(services, parent); }
  tune::SessionOptions options() const;
  void setOptions(const tune::SessionOptions& options);
  /// Inputs that stand in the run bar: what is tuned, by which tuner, with how many trials. The form goes on reading them.
  std::vector<QWidget*> barInputs();
  bool onlySelectedTask() const;
  void setOnlySelectedTask(bool only);
  /// Those of the target of the network on screen.
  void showThreads();

 Q_SIGNALS:
  /// Following ended because another task was clicked: what to say of it.
  void yielded(const QString& message);
  /// Kernels are to use so many cores: that is another target.
  void threadsChosen(int threads);

 private:
  void buildForm();
  void enableInputs(bool on);
  void follow();
  Services& m_services;
  SessionForm* m_options;
  QComboBox* m_scope;
  QComboBox* m_threads;
  QCheckBox* m_follow;
  bool m_yielded = false;  ///< following ended because another task was clicked
};

}  // namespace tw::app
