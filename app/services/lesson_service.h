// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>
#include <QTranslator>
#include <deque>
#include <optional>

#include "app/services/job_runner.h"
#include "engine/lesson/desk.h"
#include "engine/lesson/library.h"
#include "engine/lesson/progress.h"

namespace tw::app {

/// The window as lessons see it: what checks ask of it, and what actions do to it.
class LessonStage : public lesson::Desk {
 public:
  /// Begins or goes on with an action. True: it is done; false: ask again in a moment. `isNew`: it was not asked before.
  /// Errors: why it cannot be done.
  virtual Expected<bool> perform(const lesson::Line& action, const lesson::Lesson& of, const QString& file, bool isNew) = 0;
  /// A lesson begins or goes on; what is counted is no older than `since_s`, Unix time.
  virtual void begin(double since_s) = 0;
  /// What the lesson changed and the learner had otherwise, such as the target, as it was.
  virtual void putBack() = 0;
};

/// Lessons, the one that runs and its step, and what the learner did. What the learner did is a person's and not a workspace's: it is kept in the settings.
class LessonService : public QObject {
  Q_OBJECT
 public:
  explicit LessonService(JobRunner& jobs, QObject* parent = nullptr);
  void setStage(LessonStage& stage) { m_stage = &stage; }

  /// Lessons in the chosen language, and those of a folder that a person named.
  const std::vector<lesson::Entry>& entries() const { return m_entries; }
  QString language() const { return m_language; }
  void setLanguage(const QString& language);
  /// Empty: none.
  QString folder() const { return m_folder; }
  void setFolder(const QString& folder);
  /// What a learner did in a lesson so far.
  lesson::LessonRecord record(const lesson::Lesson& of) const;

  /// Null while none runs.
  const lesson::Lesson* current() const { return m_current ? &*m_current : nullptr; }
  int at() const { return m_at; }
  const lesson::Step& step() const { return m_current->steps[static_cast<size_t>(m_at)]; }
  lesson::StepState state() const;
  /// Hints that were asked for in this step, the last of its own repeated.
  QStringList hints() const;
  /// What the window is busy with for the lesson, or could not do.
  bool isSetting() const { return !m_queue.empty(); }
  const QString& problem() const { return m_problem; }
  /// What was said to the last answer or run.
  const QString& said() const { return m_said; }
  bool isRunningExercise() const { return m_isRunning; }
  /// As the learner has it.
  const QString& exerciseText() const { return m_exercise; }
  void setExerciseText(const QString& text) { m_exercise = text; }
  /// Whether each check of the step holds now.
  std::vector<bool> holding() const;

  /// At a step by name or number from 1; empty: where the learner stopped. Returns what is wrong, empty if it began.
  QString start(const QString& name, const QString& step = {});
  void goTo(int step);
  void next();
  void back();
  void skip();
  void hint();
  void showMe();
  void answer(const QString& given);
  void runExercise();
  /// Forgets what was done in the lesson, and begins it again.
  void reset();
  void leave();
  /// What was done in all lessons that were begun.
  lesson::Handed handed(const QString& learner) const;
  /// The same as a web page. Errors: of writing.
  Expected<void> report(const QString& file, const QString& learner) const;
  /// As a file to hand in. Errors: of writing.
  Expected<void> handIn(const QString& file, const QString& learner) const;
  /// Looks at the checks now; a timer calls it.
  void look();

 Q_SIGNALS:
  void entriesChanged();
  void changed();  ///< lesson, step, its state, or what is said
  void progressed();  ///< which checks hold

 private:
  QString keyOf(const lesson::Lesson& of) const;
  void keep(const lesson::LessonRecord& record) const;
  void note(lesson::StepState state);
  void beginStage();
  /// Changes what is kept of this step.
  void change(const std::function<void(lesson::StepRecord&)>& how);
  void enter(int step);
  /// What the steps before it opened.
  std::vector<lesson::Line> broughtBy(int step) const;
  void run(const std::vector<lesson::Line>& actions);
  void read();
  void looked();
  /// The panel speaks the language of the lessons.
  void speak();

  JobRunner& m_jobs;
  LessonStage* m_stage = nullptr;
  QString m_language, m_folder, m_file;
  std::vector<lesson::Entry> m_entries;
  std::optional<lesson::Lesson> m_current;
  int m_at = 0;
  std::deque<lesson::Line> m_queue;
  bool m_isNew = true, m_answered = false, m_solved = false, m_wasShown = false, m_isRunning = false, m_hasEntered = false;
  QString m_problem, m_said, m_exercise;
  std::vector<bool> m_held;
  QTimer m_timer;
  QTranslator m_translator;
  LatestJob m_job;
};

}  // namespace tw::app
