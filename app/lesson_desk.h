// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>

#include "app/services/lesson_service.h"
#include "app/views/view.h"
#include "db/database.h"
#include "engine/api/insight.h"
#include "engine/target/target.h"

namespace tw::app {

class MainWindow;

/// What lessons ask of the window and do to it, answered from the services and views that people look at.
class LessonDesk : public QObject, public LessonStage {
  Q_OBJECT
 public:
  explicit LessonDesk(MainWindow& window);

  bool is_in_front(const std::string& view) const override;
  std::string perspective() const override;
  int task() const override;
  std::string node() const override;
  bool has_trial(bool best) const override;
  std::optional<lesson::KnobNow> knob(const std::string& name) const override;
  std::optional<std::string> place(const std::string& form) const override;
  std::optional<std::string> code(const std::string& form) const override;
  std::optional<std::string> edited_loops() const override;
  double fact(const std::string& name) const override;

  Expected<bool> perform(const lesson::Line& action, const lesson::Lesson& of, const QString& file, bool isNew) override;
  void begin(double since_s) override;
  void putBack() override;

 private:
  using Arguments = std::vector<std::string>;
  double networkFact(const std::string& name) const;
  double trialFact(const std::string& name) const;
  double kernelFact(const std::string& name) const;
  /// Opens a computation under a name; its file lies among what can be made again.
  Expected<bool> openText(const std::string& text, const std::string& name, const lesson::Lesson& of);
  Expected<bool> openSpace(const std::string& name);
  Expected<bool> open(const std::string& verb, const Arguments& arguments, const lesson::Lesson& of, const QString& file);
  /// Whether what was opened is there; its error if it cannot be.
  Expected<bool> isOpen();
  Expected<bool> select(const std::string& verb, const Arguments& arguments);
  Expected<bool> turnKnob(const Arguments& arguments);
  Expected<bool> tune(const std::string& verb, const Arguments& arguments, bool isNew);
  void setTarget(const Target& target);

  MainWindow& m_window;
  Services& m_services;
  double m_since_s = 0;  ///< what is counted is no older, Unix time
  std::optional<Target> m_targetBefore;
  QString m_failure;         ///< of what is being opened
  QString m_ownText;         ///< name of the text that it put into the editor last
  ModelId m_wanted;          ///< of the workspace, that is opened as soon as it is listed
  bool m_isEntering = false;
  LatestJob m_job;
};

}  // namespace tw::app
