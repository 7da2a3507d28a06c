// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QBoxLayout;
class QButtonGroup;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTextBrowser;
class QToolButton;
class QTreeWidget;
class QVBoxLayout;

namespace tw::lesson {
struct Lesson;
}
namespace tw::widgets {
class CodeEditor;
class ErrorLabel;
}

namespace tw::app {

class LessonService;

/// The lessons with what was done of each, or the one that runs: its step's text, what it asks for, and the ways on and out. It stands beside the work.
class LessonsView : public QWidget {
  Q_OBJECT
 public:
  explicit LessonsView(LessonService& lessons, QWidget* parent = nullptr);

  /// As wide as lines are read well.
  QSize sizeHint() const override;

 Q_SIGNALS:
  void closed();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  /// All of it anew, in the language of the lessons.
  void make();
  QWidget* makeList();
  QWidget* makeLesson();
  void makeQuestion(QBoxLayout* box);
  void makeWays(QBoxLayout* box);
  QToolButton* button(const char* name, const QString& text, const QString& help, const std::function<void()>& run);
  void showList();
  void showChosen();
  const lesson::Lesson* chosen() const;
  void startChosen();
  void show();
  /// Of another step, its text and inputs.
  void showStep();
  void showState();
  void chooseFolder();
  void handIn();

  LessonService& m_lessons;
  QStackedWidget* m_pages = nullptr;
  QTreeWidget* m_list = nullptr;
  QComboBox *m_language = nullptr, *m_steps = nullptr;
  QLabel *m_summary = nullptr, *m_title = nullptr, *m_state = nullptr, *m_said = nullptr, *m_hints = nullptr, *m_question = nullptr;
  QPushButton* m_start = nullptr;
  QProgressBar* m_progress = nullptr;
  QTextBrowser* m_text = nullptr;
  QWidget *m_answers = nullptr, *m_choices = nullptr;
  QVBoxLayout* m_choiceBox = nullptr;
  QButtonGroup* m_group = nullptr;
  QLineEdit* m_number = nullptr;
  widgets::CodeEditor* m_exercise = nullptr;
  widgets::ErrorLabel* m_problem = nullptr;
  QToolButton *m_answer = nullptr, *m_run = nullptr, *m_hint = nullptr, *m_show = nullptr, *m_back = nullptr, *m_skip = nullptr, *m_next = nullptr;
  QString m_shown;  ///< lesson, language and step whose text is there
  bool m_quiet = false;
};

}  // namespace tw::app
