// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/lesson_service.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QLocale>
#include <QSettings>
#include <algorithm>

#include "app/logs/lesson_page.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/ir/lexer.h"
#include "engine/lesson/exercise.h"

namespace tw::app {
namespace {

/// Checks ask what the views show already: a look costs microseconds.
constexpr int kLookMs = 150;
constexpr const char* kLanguageKey = "lessons/language";
constexpr const char* kFolderKey = "lessons/folder";
constexpr const char* kRecords = "lessons/done";

const FileKind kHandedKind{"what a learner handed in",
                           [](std::string_view beginning) { return beginning.find("\"tilewright_lessons\"") != std::string_view::npos; }};

QString systemLanguage() { return QLocale().language() == QLocale::Chinese ? QStringLiteral("zh-CN") : QStringLiteral("en"); }

}  // namespace

LessonService::LessonService(JobRunner& jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {
  m_language = QSettings().value(QLatin1String(kLanguageKey), systemLanguage()).toString();
  const auto known = lesson::languages();
  if (std::find(known.begin(), known.end(), m_language.toStdString()) == known.end()) m_language = systemLanguage();
  m_folder = QSettings().value(QLatin1String(kFolderKey)).toString();
  m_timer.setInterval(kLookMs);
  connect(&m_timer, &QTimer::timeout, this, &LessonService::look);
  speak();
  read();
}

void LessonService::speak() {
  QCoreApplication::removeTranslator(&m_translator);
  // English is what the sources are in.
  if (m_translator.load(QStringLiteral(":/translations/lessons_%1.qm").arg(m_language))) QCoreApplication::installTranslator(&m_translator);
}

void LessonService::read() {
  m_entries.clear();
  const auto add = [this](const Expected<std::string>& folder) {
    auto found = folder ? lesson::lessons_in(*folder) : Expected<std::vector<lesson::Entry>>(folder.error());
    if (found)
      std::move(found->begin(), found->end(), std::back_inserter(m_entries));
    else
      m_entries.push_back({folder ? *folder : std::string(), found.error()});
  };
  add(lesson::bundled_folder(m_language.toStdString()));
  if (!m_folder.isEmpty()) add(m_folder.toStdString());
  Q_EMIT entriesChanged();
}

void LessonService::setLanguage(const QString& language) {
  if (language == m_language) return;
  m_language = language;
  QSettings().setValue(QLatin1String(kLanguageKey), language);
  speak();
  read();
  if (!m_current) return;
  // The same lesson, at the same step.
  for (const lesson::Entry& e : m_entries)
    if (e.lesson && e.lesson->id == m_current->id && e.lesson->steps.size() == m_current->steps.size()) {
      m_current = *e.lesson;
      m_file = QString::fromStdString(e.file);
      break;
    }
  Q_EMIT changed();
}

void LessonService::setFolder(const QString& folder) {
  m_folder = folder;
  QSettings().setValue(QLatin1String(kFolderKey), folder);
  read();
}

QString LessonService::keyOf(const lesson::Lesson& of) const {
  // A stranger's lesson may have the name of one that comes along.
  QString place;
  for (const lesson::Entry& e : m_entries)
    if (e.lesson && &*e.lesson == &of && !m_folder.isEmpty() && QString::fromStdString(e.file).startsWith(m_folder + QLatin1Char('/'))) place = m_folder;
  if (m_current && &*m_current == &of && !m_folder.isEmpty() && m_file.startsWith(m_folder + QLatin1Char('/'))) place = m_folder;
  if (place.isEmpty()) return QStringLiteral("%1/%2").arg(QLatin1String(kRecords), QString::fromStdString(of.id));
  const QByteArray hash = QCryptographicHash::hash(QDir(place).absolutePath().toUtf8(), QCryptographicHash::Sha256).toHex().left(12);
  return QStringLiteral("%1/%2@%3").arg(QLatin1String(kRecords), QString::fromStdString(of.id), QString::fromLatin1(hash));
}

lesson::LessonRecord LessonService::record(const lesson::Lesson& of) const {
  const auto json = parse_json(QSettings().value(keyOf(of)).toString().toStdString());
  auto record = json ? lesson::lesson_record_from(*json) : Expected<lesson::LessonRecord>(json.error());
  if (!record) return {of.id, of.title, {}};
  record->title = of.title;
  return *record;
}

void LessonService::keep(const lesson::LessonRecord& record) const {
  QSettings().setValue(keyOf(*m_current), QString::fromStdString(dump_json(lesson::to_json(record))));
}

void LessonService::change(const std::function<void(lesson::StepRecord&)>& how) {
  lesson::LessonRecord all = record(*m_current);
  how(all.at(step().id));
  keep(all);
}

lesson::StepState LessonService::state() const { return record(*m_current).at(step().id).state; }

QStringList LessonService::hints() const {
  QStringList out;
  const auto& known = step().hints;
  const int asked = record(*m_current).at(step().id).hints;
  for (size_t i = 0; i < std::min(known.size(), static_cast<size_t>(asked)); ++i) out << QString::fromStdString(known[i]);
  return out;
}

std::vector<bool> LessonService::holding() const {
  std::vector<bool> out;
  for (const lesson::Line& check : step().checks) out.push_back(lesson::holds(check, *m_stage));
  return out;
}

QString LessonService::start(const QString& name, const QString& wanted) {
  for (const lesson::Entry& e : m_entries) {
    if (!e.lesson || QString::fromStdString(e.lesson->id) != name) continue;
    int step = 0;
    bool isNumber = false;
    if (const int number = wanted.toInt(&isNumber); isNumber)
      step = number - 1;
    else if (!wanted.isEmpty())
      step = e.lesson->step(wanted.toStdString());
    if (step < 0 || step >= static_cast<int>(e.lesson->steps.size())) return tr("The lesson %1 has no step %2").arg(name, wanted);
    if (m_current) leave();
    m_current = *e.lesson;
    m_file = QString::fromStdString(e.file);
    if (wanted.isEmpty()) {
      lesson::LessonRecord done = record(*m_current);
      const auto& steps = m_current->steps;
      const auto first = std::find_if(steps.begin(), steps.end(), [&](const lesson::Step& s) { return done.at(s.id).state == lesson::StepState::open; });
      step = first == steps.end() ? 0 : static_cast<int>(first - steps.begin());
    }
    beginStage();
    m_hasEntered = false;
    m_timer.start();
    enter(step);
    return {};
  }
  return tr("There is no lesson %1").arg(name);
}

void LessonService::beginStage() {
  lesson::LessonRecord all = record(*m_current);
  if (all.begun_s == 0) {
    all.begun_s = unix_now_s();
    keep(all);
  }
  m_stage->begin(all.begun_s);
}

void LessonService::enter(int step) {
  m_job.stop();
  const bool isNext = step == m_at + 1 && m_hasEntered;
  m_hasEntered = true;
  m_at = step;
  m_answered = m_solved = m_wasShown = m_isRunning = false;
  m_said.clear();
  m_exercise = this->step().exercise ? QString::fromStdString(this->step().exercise->text) : QString();
  m_queue.clear();
  m_held.clear();
  if (!isNext) run(broughtBy(step));
  run(this->step().actions);
  Q_EMIT changed();
}

std::vector<lesson::Line> LessonService::broughtBy(int step) const {
  // The last of each kind: who comes to a step otherwise than by the one before finds the same network there.
  const lesson::Line *target = nullptr, *open = nullptr, *edit = nullptr;
  for (int i = 0; i < step; ++i)
    for (const lesson::Line& l : m_current->steps[static_cast<size_t>(i)].actions) {
      const std::string_view name = l.word->name;
      if (name == "target") target = &l;
      if (name == "edit text") edit = &l;
      if (name.starts_with("open ")) open = &l;
    }
  std::vector<lesson::Line> out;
  for (const lesson::Line* l : {target, open, edit})
    if (l) out.push_back(*l);
  return out;
}

void LessonService::run(const std::vector<lesson::Line>& actions) {
  m_problem.clear();
  if (m_queue.empty()) m_isNew = true;
  m_queue.insert(m_queue.end(), actions.begin(), actions.end());
}

void LessonService::goTo(int step) {
  if (m_current && step >= 0 && step < static_cast<int>(m_current->steps.size())) enter(step);
}

void LessonService::next() {
  if (!step().asks()) note(lesson::StepState::done);
  if (m_at + 1 < static_cast<int>(m_current->steps.size())) return enter(m_at + 1);
  leave();
}

void LessonService::back() { goTo(m_at - 1); }

void LessonService::skip() {
  if (state() == lesson::StepState::open) note(lesson::StepState::skipped);
  next();
}

void LessonService::note(lesson::StepState state) {
  change([state](lesson::StepRecord& r) {
    r.state = state;
    r.when_s = unix_now_s();
  });
}

void LessonService::hint() {
  change([&](lesson::StepRecord& r) { r.hints = std::min(r.hints + 1, std::max(r.hints, static_cast<int>(step().hints.size()))); });
  Q_EMIT changed();
}

void LessonService::showMe() {
  m_wasShown = true;
  std::vector<lesson::Line> actions;
  for (const lesson::Line& l : step().show) {
    const std::string_view name = l.word->name;
    if (name == "answer") {
      const std::string right = step().question->right();
      answer(lesson::is_fact(right) ? QString::number(m_stage->fact(right), 'g', 12) : QString::fromStdString(right));
    } else if (name == "solve") {
      m_exercise = QString::fromStdString(step().exercise->solution);
      Q_EMIT changed();
      runExercise();
    } else {
      actions.push_back(l);
    }
  }
  run(actions);
  Q_EMIT changed();
}

void LessonService::answer(const QString& given) {
  const lesson::Question& q = *step().question;
  const auto right = lesson::is_right(q, given.toStdString(), *m_stage);
  m_answered = right && *right;
  change([&](lesson::StepRecord& r) {
    r.answer = given.toStdString();
    r.wrong += right && !*right ? 1 : 0;
  });
  if (!right) {
    m_said = right.error().code == ErrorCode::not_found ? tr("That is not known yet: do what the step says first.") : tr("A number is asked for.");
  } else if (*right) {
    m_said = tr("Right.");
  } else {
    m_said = tr("Not quite.");
    const int choice = q.choices.empty() ? 0 : given.toInt();
    if (choice >= 1 && choice <= static_cast<int>(q.choices.size()) && !q.choices[static_cast<size_t>(choice - 1)].hint.empty())
      m_said = QString::fromStdString(q.choices[static_cast<size_t>(choice - 1)].hint);
    else if (!step().hints.empty())
      m_said += QLatin1Char(' ') + QString::fromStdString(step().hints.front());
  }
  look();
  Q_EMIT changed();
}

void LessonService::runExercise() {
  m_isRunning = true;
  m_said.clear();
  const auto work = [text = m_exercise.toStdString(), solution = step().exercise->solution](StopToken stop) -> Expected<bool> {
    TW_CHECK(lesson::run_exercise(text, solution, stop));
    return true;
  };
  m_job.replace(m_jobs.run<bool>(Lane::work, this, work, [this](Expected<bool> done) {
    m_isRunning = false;
    m_solved = done.has_value();
    m_said = m_solved ? tr("No race, and every element is right.") : QString::fromStdString(done.error().text());
    if (!m_solved) change([](lesson::StepRecord& r) { ++r.wrong; });
    look();
    Q_EMIT changed();
  }));
  Q_EMIT changed();
}

void LessonService::reset() {
  QSettings().remove(keyOf(*m_current));
  m_stage->putBack();
  beginStage();
  enter(0);
}

void LessonService::leave() {
  if (!m_current) return;
  m_timer.stop();
  m_job.stop();
  m_queue.clear();
  m_current.reset();
  m_problem.clear();
  m_stage->putBack();
  Q_EMIT entriesChanged();
  Q_EMIT changed();
}

void LessonService::look() {
  if (!m_current) return;
  if (!m_queue.empty()) {
    // One after the other; those that open something take a while.
    while (!m_queue.empty()) {
      const lesson::Line action = m_queue.front();
      const auto done = m_stage->perform(action, *m_current, m_file, std::exchange(m_isNew, false));
      if (!m_current) return;  // what it did ended the lesson
      if (!done) {
        m_problem = tr("%1: %2", "an action and why it failed").arg(QString::fromStdString(action.text), QString::fromStdString(done.error().text()));
        m_queue.clear();
        break;
      }
      if (!*done) return;
      m_queue.pop_front();
      m_isNew = true;
    }
    Q_EMIT changed();
  }
  looked();
}

void LessonService::looked() {
  const lesson::Step& s = step();
  if (!s.asks()) return;
  std::vector<bool> held = holding();
  const bool all = std::all_of(held.begin(), held.end(), [](bool h) { return h; }) && (!s.question || m_answered) && (!s.exercise || m_solved);
  const lesson::StepState before = state();
  if (all && before != lesson::StepState::done) {
    const auto now = m_wasShown ? lesson::StepState::shown : lesson::StepState::done;
    if (now != before) {
      note(now);
      Q_EMIT changed();
    }
  }
  if (held == m_held) return;
  m_held = std::move(held);
  Q_EMIT progressed();
}

lesson::Handed LessonService::handed(const QString& learner) const {
  lesson::Handed handed{learner.toStdString(), {}};
  for (const lesson::Entry& e : m_entries) {
    if (!e.lesson) continue;
    lesson::LessonRecord done = record(*e.lesson);
    if (!done.steps.empty()) handed.lessons.push_back(std::move(done));
  }
  return handed;
}

Expected<void> LessonService::handIn(const QString& file, const QString& learner) const {
  return write_file(file.toStdString(), kHandedKind, lesson::handed_text(handed(learner)));
}

Expected<void> LessonService::report(const QString& file, const QString& learner) const {
  const lesson::Handed all = handed(learner);
  return write_file(file.toStdString(), kAnyOutput, logs::lesson_page(std::span(&all, 1)));
}

}  // namespace tw::app
