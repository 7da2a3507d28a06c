// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QRadioButton>
#include <QTreeWidget>
#include <cmath>

#include "app/lesson_desk.h"
#include "app/services/lesson_service.h"
#include "app/views/code_dock.h"
#include "tests/app/app_fixture.h"
#include "widgets/ir/code_editor.h"
#include "widgets/ir/code_pane.h"
#include "widgets/ir/code_view.h"

namespace tw::app::fixture {

/// A learner in front of the window: opens a lesson, does what its steps ask for with what the window offers, and what is wrong as well.
class LessonPlayer {
 public:
  explicit LessonPlayer(MainWindow& window) : m_window(window) {}
  MainWindow& window() { return m_window; }
  LessonService& lessons() { return m_window.lessons(); }
  bool isDone() const { return m_window.lessons().current() && m_window.lessons().state() == lesson::StepState::done; }

  /// Chosen in the list and started by the button. False with a warning if that does not work.
  bool open(const char* name) {
    if (!m_window.actions().get(QStringLiteral("help.lessons"))->isChecked()) press(m_window, Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    auto* list = named<QTreeWidget>(m_window, "list.lessons");
    if (!list->isVisible()) return fail("the list of lessons is not visible");
    for (int i = 0; i < list->topLevelItemCount(); ++i)
      if (list->topLevelItem(i)->data(0, Qt::UserRole).toString() == QLatin1String(name)) list->setCurrentItem(list->topLevelItem(i));
    if (!click(m_window, "button.lesson.start")) return fail("the lesson cannot be started");
    return settle();
  }
  /// Until the step has set the window up.
  bool settle(int ms = 60'000) {
    QElapsedTimer timer;
    timer.start();
    while (lessons().isSetting() && timer.elapsed() < ms) QTest::qWait(20);
    if (lessons().isSetting()) return fail("the window was not set up in time");
    return lessons().problem().isEmpty() || fail(lessons().problem());
  }
  /// Whether the running step is this one and not yet done, though the window looks at it.
  bool isOpen(const char* step) {
    lessons().look();
    if (lessons().step().id != step) return fail(QStringLiteral("expected step %1, found %2").arg(QLatin1String(step), QString::fromStdString(lessons().step().id)));
    if (lessons().state() != lesson::StepState::open) return fail(QStringLiteral("step %1 is done before anything was").arg(QLatin1String(step)));
    return !named<QToolButton>(m_window, "button.lesson.next")->isEnabled() || !lessons().step().asks() || fail("Next is enabled too early");
  }
  /// Whether what was done does not count.
  bool isStillOpen() {
    QTest::qWait(350);  // two looks
    lessons().look();
    return lessons().state() == lesson::StepState::open || fail(QStringLiteral("step %1 counts what is wrong").arg(QString::fromStdString(lessons().step().id)));
  }
  /// Until the step is done, and on to the next.
  bool next(int ms = 60'000) {
    QElapsedTimer timer;
    timer.start();
    while (!isDone() && timer.elapsed() < ms) QTest::qWait(20);
    if (!isDone()) return fail(QStringLiteral("step %1 is not done: %2").arg(QString::fromStdString(lessons().step().id), holding()));
    if (!click(m_window, "button.lesson.next")) return fail("Next cannot be clicked");
    return !lessons().current() || settle();
  }
  /// Every wrong choice in turn, each of which has a hint, then the right one (from 1).
  bool choose(int right) {
    for (int i = 1; auto* radio = named<QRadioButton>(m_window, qPrintable(QStringLiteral("radio.lesson.%1").arg(i))); ++i) {
      if (i == right) continue;
      radio->setChecked(true);
      if (!click(m_window, "button.lesson.answer")) return fail("the answer cannot be given");
      if (lessons().state() != lesson::StepState::open) return fail(QStringLiteral("choice %1 counts").arg(i));
      const auto* said = named<QLabel>(m_window, "label.lesson.said");
      if (!said->isVisible() || said->text().size() < 20) return fail(QStringLiteral("choice %1 has no hint").arg(i));
    }
    auto* radio = named<QRadioButton>(m_window, qPrintable(QStringLiteral("radio.lesson.%1").arg(right)));
    if (!radio) return fail("there is no such choice");
    radio->setChecked(true);
    return click(m_window, "button.lesson.answer") || fail("the answer cannot be given");
  }
  /// The right answer after a text and a wrong number, once the window knows what is asked for.
  bool type(const QString& wrong, const QString& right) {
    if (!QTest::qWaitFor([&] { return knows(); }, 60'000)) return fail("what is asked for is never known");
    auto* edit = named<QLineEdit>(m_window, "edit.lesson.answer");
    for (const QString& text : {QStringLiteral("many"), wrong}) {
      edit->clear();
      QTest::keyClicks(edit, text);
      if (!click(m_window, "button.lesson.answer")) return fail("the answer cannot be given");
      if (lessons().state() != lesson::StepState::open) return fail(QStringLiteral("%1 counts").arg(text));
    }
    edit->clear();
    QTest::keyClicks(edit, right);
    QTest::keyClick(edit, Qt::Key_Return);
    return true;
  }
  /// A value in the list of a knob, as it is shown there.
  bool turn(const char* knob, const QString& value) {
    auto* combo = named<QComboBox>(m_window, qPrintable(QStringLiteral("combo.knob.") + QLatin1String(knob)));
    if (!combo || !combo->isVisible()) return fail(QStringLiteral("the knob %1 is not in sight").arg(QLatin1String(knob)));
    const int at = combo->findText(value);
    if (at < 0) return fail(QStringLiteral("%1 has no value %2").arg(QLatin1String(knob), value));
    combo->setCurrentIndex(at);
    Q_EMIT combo->activated(at);
    return true;
  }
  /// Goes to the first line of a column that has this in it.
  bool pick(widgets::CodeView::Column column, const char* text) {
    QElapsedTimer timer;
    timer.start();
    auto* pane = m_window.codeDock().code()->pane(column);
    if (!pane->isVisible()) return fail(QStringLiteral("the column of %1 is not in sight").arg(QLatin1String(text)));
    while (timer.elapsed() < 20'000) {
      const QStringList lines = pane->text().split(QLatin1Char('\n'));
      for (int i = 0; i < lines.size(); ++i)
        if (!m_window.explaining().isPending() && lines[i].contains(QLatin1String(text))) {
          Q_EMIT m_window.codeDock().code()->placeActivated({widgets::CodeView::formOf(column), i});
          return true;
        }
      QTest::qWait(20);
    }
    return fail(QStringLiteral("no line has %1").arg(QLatin1String(text)));
  }
  /// Whether the window knows the number that the running step asks for.
  bool knows() {
    const auto& question = lessons().step().question;
    return !question || !lesson::is_fact(question->number) || std::isfinite(fact(question->number.c_str()));
  }
  /// What the window knows.
  double fact(const char* name) { return m_window.findChild<LessonDesk*>()->fact(name); }
  bool see(const char* view) {
    showDock(m_window, qPrintable(QStringLiteral("dock.") + QLatin1String(view)));
    return true;
  }
  bool edit(QWidget* input, QString text, const QString& from, const QString& to) {
    if (!text.contains(from)) return fail(QStringLiteral("the text has no %1").arg(from));
    paste(input, text.replace(from, to));
    return true;
  }

 private:
  QString holding() const {
    QString out;
    const auto held = m_window.lessons().holding();
    for (size_t i = 0; i < held.size(); ++i) out += QStringLiteral(" [%1: %2]").arg(QString::fromStdString(m_window.lessons().step().checks[i].text)).arg(held[i]);
    return out + QLatin1Char(' ') + m_window.lessons().said();
  }
  static bool fail(const QString& why) {
    qWarning("%s", qPrintable(why));
    return false;
  }
  MainWindow& m_window;
};

}  // namespace tw::app::fixture
