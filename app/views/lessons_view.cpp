// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/lessons_view.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QSettings>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTextBrowser>
#include <QTextDocument>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>

#include "app/services/lesson_service.h"
#include "widgets/common/error_label.h"
#include "widgets/common/scroll_page.h"
#include "widgets/ir/code_editor.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

constexpr int kNameRole = Qt::UserRole;
constexpr int kExerciseHeight = 230, kPanelWidth = 318;

/// The text of a stranger: no pictures, no markup but Markdown's, no links that lead anywhere.
class LessonText : public QTextBrowser {
 public:
  using QTextBrowser::QTextBrowser;
  QVariant loadResource(int, const QUrl&) override { return {}; }
};

QString languageName(const std::string& language) { return language == "zh-CN" ? QStringLiteral("简体中文") : QStringLiteral("English"); }

QLabel* plainLabel(const char* name, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setObjectName(QLatin1String(name));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  return label;
}

void setBold(QLabel* label, double scale) {
  QFont font = label->font();
  font.setBold(true);
  font.setPointSizeF(font.pointSizeF() * scale);
  label->setFont(font);
}

}  // namespace

LessonsView::LessonsView(LessonService& lessons, QWidget* parent) : QWidget(parent), m_lessons(lessons) {
  setObjectName(QStringLiteral("view.lessons"));
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  make();
  connect(&lessons, &LessonService::entriesChanged, this, &LessonsView::showList);
  connect(&lessons, &LessonService::changed, this, &LessonsView::show);
  connect(&lessons, &LessonService::progressed, this, &LessonsView::showState);
}

void LessonsView::make() {
  const lesson::Lesson* before = m_pages ? chosen() : nullptr;
  delete m_pages;
  m_pages = new QStackedWidget(this);
  m_pages->addWidget(makeList());
  m_pages->addWidget(makeLesson());
  layout()->addWidget(m_pages);
  m_shown.clear();
  showList();
  for (int i = 0; before && i < m_list->topLevelItemCount(); ++i)
    if (m_list->topLevelItem(i)->data(0, kNameRole).toString() == QString::fromStdString(before->id)) m_list->setCurrentItem(m_list->topLevelItem(i));
  show();
}

QSize LessonsView::sizeHint() const { return {qRound(kPanelWidth * widgets::typeScale()), QWidget::sizeHint().height()}; }

QToolButton* LessonsView::button(const char* name, const QString& text, const QString& help, const std::function<void()>& run) {
  auto* b = new QToolButton(this);
  b->setObjectName(QStringLiteral("button.lesson.") + QLatin1String(name));
  b->setText(text);
  b->setAccessibleName(text);
  b->setToolTip(help);
  b->setFocusPolicy(Qt::StrongFocus);
  connect(b, &QToolButton::clicked, this, run);
  return b;
}

QWidget* LessonsView::makeList() {
  auto* page = new QWidget(this);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(8, 6, 8, 6);
  auto* head = new QHBoxLayout;
  auto* title = new QLabel(tr("Lessons"), page);
  setBold(title, 1.2);
  m_language = new QComboBox(page);
  m_language->setObjectName(QStringLiteral("combo.lesson.language"));
  m_language->setAccessibleName(tr("Language of the lessons"));
  m_language->setToolTip(m_language->accessibleName());
  for (const std::string& l : lesson::languages()) m_language->addItem(languageName(l), QString::fromStdString(l));
  m_language->setCurrentIndex(m_language->findData(m_lessons.language()));
  connect(m_language, &QComboBox::activated, this, [this] { m_lessons.setLanguage(m_language->currentData().toString()); });
  head->addWidget(title, 1);
  head->addWidget(m_language);
  head->addWidget(button("close", QString(QChar(0x2715)), tr("Close the lessons"), [this] { Q_EMIT closed(); }));
  box->addLayout(head);
  m_list = new QTreeWidget(page);
  m_list->setObjectName(QStringLiteral("list.lessons"));
  m_list->setAccessibleName(tr("Lessons"));
  m_list->setRootIsDecorated(false);
  m_list->setHeaderLabels({tr("Lesson"), tr("Done")});
  m_list->header()->setStretchLastSection(false);
  m_list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  m_list->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  m_list->setTextElideMode(Qt::ElideRight);
  connect(m_list, &QTreeWidget::currentItemChanged, this, &LessonsView::showChosen);
  connect(m_list, &QTreeWidget::itemActivated, this, &LessonsView::startChosen);
  box->addWidget(m_list, 1);
  m_summary = plainLabel("label.lesson.summary", page);
  box->addWidget(m_summary);
  m_start = new QPushButton(tr("Start"), page);
  m_start->setObjectName(QStringLiteral("button.lesson.start"));
  m_start->setToolTip(tr("Begin the lesson, or go on where it was left"));
  connect(m_start, &QPushButton::clicked, this, &LessonsView::startChosen);
  box->addWidget(m_start);
  auto* line = new QHBoxLayout;
  line->addWidget(button("folder", tr("Folder…"), tr("Show the lessons of a folder too, such as a teacher's"), [this] { chooseFolder(); }));
  line->addWidget(button("handIn", tr("Hand in…"), tr("Write what you did in all lessons as a file, which tw lesson collect tabulates, or as a web page"),
                         [this] { handIn(); }));
  line->addStretch();
  box->addLayout(line);
  return page;
}

QWidget* LessonsView::makeLesson() {
  auto* page = new QWidget(this);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(8, 6, 8, 6);
  auto* head = new QHBoxLayout;
  m_title = plainLabel("label.lesson.title", page);
  setBold(m_title, 1.1);
  head->addWidget(m_title, 1);
  head->addWidget(button("leave", tr("Leave"), tr("Leave the lesson; what is done of it stays done"), [this] { m_lessons.leave(); }));
  box->addLayout(head);
  m_steps = new QComboBox(page);
  m_steps->setObjectName(QStringLiteral("combo.lesson.steps"));
  m_steps->setAccessibleName(tr("Step of the lesson"));
  m_steps->setToolTip(tr("Go to a step; a tick stands before those that are done"));
  m_steps->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  connect(m_steps, &QComboBox::activated, this, [this](int step) { m_lessons.goTo(step); });
  box->addWidget(m_steps);
  m_progress = new QProgressBar(page);
  m_progress->setObjectName(QStringLiteral("progress.lesson"));
  m_progress->setAccessibleName(tr("Steps done"));
  m_progress->setTextVisible(false);
  m_progress->setMaximumHeight(6);
  box->addWidget(m_progress);
  m_text = new LessonText(page);
  m_text->setObjectName(QStringLiteral("text.lesson"));
  m_text->setAccessibleName(tr("Text of the step"));
  m_text->setOpenLinks(false);
  m_text->setTabChangesFocus(true);
  box->addWidget(m_text, 1);
  makeQuestion(box);
  m_said = plainLabel("label.lesson.said", page);
  m_hints = plainLabel("label.lesson.hints", page);
  m_hints->setForegroundRole(QPalette::PlaceholderText);
  m_problem = new widgets::ErrorLabel(page);
  m_problem->setObjectName(QStringLiteral("label.lesson.problem"));
  m_problem->setWordWrap(true);
  m_state = plainLabel("label.lesson.state", page);
  for (QLabel* label : std::initializer_list<QLabel*>{m_said, m_hints, m_problem, m_state}) box->addWidget(label);
  makeWays(box);
  return page;
}

void LessonsView::makeQuestion(QBoxLayout* box) {
  m_answers = new QWidget(this);
  auto* inner = new QVBoxLayout(m_answers);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(4);
  m_question = plainLabel("label.lesson.question", m_answers);
  setBold(m_question, 1.0);
  m_choices = new QWidget(m_answers);
  m_choiceBox = new QVBoxLayout(m_choices);
  m_choiceBox->setContentsMargins(0, 0, 0, 0);
  m_group = new QButtonGroup(m_answers);
  m_number = new QLineEdit(m_answers);
  m_number->setObjectName(QStringLiteral("edit.lesson.answer"));
  m_number->setAccessibleName(tr("Your answer, a number"));
  m_number->setPlaceholderText(tr("A number"));
  const auto give = [this] { m_lessons.answer(m_number->isVisible() ? m_number->text() : QString::number(m_group->checkedId())); };
  connect(m_number, &QLineEdit::returnPressed, this, give);
  m_answer = button("answer", tr("Answer"), tr("Give this answer"), give);
  const auto mayAnswer = [this] { m_answer->setEnabled(m_number->isVisibleTo(this) ? !m_number->text().trimmed().isEmpty() : m_group->checkedId() > 0); };
  connect(m_number, &QLineEdit::textChanged, this, mayAnswer);
  connect(m_group, &QButtonGroup::idToggled, this, mayAnswer);
  inner->addWidget(m_question);
  inner->addWidget(m_choices);
  inner->addWidget(m_number);
  inner->addWidget(m_answer, 0, Qt::AlignLeft);
  m_exercise = new widgets::CodeEditor(tr("Exercise"), this);
  m_exercise->setObjectName(QStringLiteral("editor.lesson"));
  m_exercise->setMinimumHeight(kExerciseHeight);
  connect(m_exercise, &widgets::CodeEditor::textEdited, this, [this] {
    if (!m_quiet) m_lessons.setExerciseText(m_exercise->text());
  });
  m_run =
      button("run", tr("Run"), tr("Run the program in the interpreter, thread by thread, and compare what it computes"), [this] { m_lessons.runExercise(); });
  box->addWidget(m_answers);
  box->addWidget(m_exercise, 1);
  box->addWidget(m_run, 0, Qt::AlignLeft);
}

void LessonsView::makeWays(QBoxLayout* box) {
  m_hint = button("hint", tr("Hint"), tr("Say a hint, or one more"), [this] { m_lessons.hint(); });
  m_show = button("show", tr("Show me"), tr("Do what the step asks for; it counts as shown, not as done"), [this] { m_lessons.showMe(); });
  auto* reset = button("reset", tr("Reset"), tr("Forget what was done in this lesson and begin it again"), [this] { m_lessons.reset(); });
  m_back = button("back", tr("Back"), tr("The step before"), [this] { m_lessons.back(); });
  m_skip = button("skip", tr("Skip"), tr("Go on without having done it"), [this] { m_lessons.skip(); });
  m_next = button("next", tr("Next"), tr("The next step"), [this] { m_lessons.next(); });
  auto* upper = new QHBoxLayout;
  for (QToolButton* b : {m_hint, m_show}) upper->addWidget(b);
  upper->addStretch();
  upper->addWidget(reset);
  auto* lower = new QHBoxLayout;
  lower->addWidget(m_back);
  lower->addStretch();
  for (QToolButton* b : {m_skip, m_next}) lower->addWidget(b);
  box->addLayout(upper);
  box->addLayout(lower);
}

void LessonsView::showList() {
  const QString before = m_list->currentItem() ? m_list->currentItem()->data(0, kNameRole).toString() : QString();
  const QSignalBlocker quiet(m_list);
  m_list->clear();
  for (const lesson::Entry& e : m_lessons.entries()) {
    auto* item = new QTreeWidgetItem(m_list);
    if (!e.lesson) {
      item->setText(0, tr("%1 is no lesson", "a file's name").arg(QString::fromStdString(e.file).section(QLatin1Char('/'), -1)));
      item->setToolTip(0, QString::fromStdString(e.lesson.error().text()).toHtmlEscaped());
      item->setFlags(Qt::ItemIsEnabled);
      continue;
    }
    const lesson::Lesson& l = *e.lesson;
    const int done = m_lessons.record(l).finished(l), all = static_cast<int>(l.steps.size());
    item->setText(0, QString::fromStdString(l.title));
    item->setToolTip(0, QString::fromStdString(l.summary).toHtmlEscaped());
    item->setText(1, done == all ? QString(QChar(0x2713)) : done > 0 ? tr("%1 of %2", "steps").arg(done).arg(all) : QString());
    item->setTextAlignment(1, Qt::AlignCenter);
    item->setData(0, kNameRole, QString::fromStdString(l.id));
    if (QString::fromStdString(l.id) == before) m_list->setCurrentItem(item);
  }
  if (!m_list->currentItem()) m_list->setCurrentItem(m_list->topLevelItem(0));
  showChosen();
}

const lesson::Lesson* LessonsView::chosen() const {
  const QString name = m_list->currentItem() ? m_list->currentItem()->data(0, kNameRole).toString() : QString();
  for (const lesson::Entry& e : m_lessons.entries())
    if (e.lesson && QString::fromStdString(e.lesson->id) == name) return &*e.lesson;
  return nullptr;
}

void LessonsView::showChosen() {
  const lesson::Lesson* l = chosen();
  m_start->setEnabled(l != nullptr);
  QString text = l ? QString::fromStdString(l->summary) : tr("Choose a lesson.");
  if (l && l->minutes > 0) text += QLatin1Char(' ') + tr("%n step(s), about %1 minutes.", nullptr, static_cast<int>(l->steps.size())).arg(l->minutes);
  m_summary->setText(text);
}

void LessonsView::startChosen() {
  if (const lesson::Lesson* l = chosen()) m_lessons.start(QString::fromStdString(l->id));
}

void LessonsView::show() {
  const lesson::Lesson* l = m_lessons.current();
  m_pages->setCurrentIndex(l ? 1 : 0);
  if (!l) {
    m_shown.clear();
    return;
  }
  const QString shown = QStringLiteral("%1 %2 %3").arg(QString::fromStdString(l->id), m_lessons.language()).arg(m_lessons.at());
  if (shown != m_shown) {
    m_shown = shown;
    showStep();
  }
  showState();
}

void LessonsView::showStep() {
  const lesson::Lesson& l = *m_lessons.current();
  const lesson::Step& s = m_lessons.step();
  m_title->setText(QString::fromStdString(l.title));
  QString body = QString::fromStdString(s.body);
  if (m_lessons.at() == 0 && !l.body.empty()) body = QString::fromStdString(l.body) + QStringLiteral("\n\n") + body;
  m_text->document()->setDefaultFont(font());
  m_text->document()->setMarkdown(QStringLiteral("### %1\n\n%2").arg(QString::fromStdString(s.title), body),
                                  QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | QTextDocument::MarkdownNoHTML);
  m_answers->setVisible(s.question.has_value());
  for (QAbstractButton* b : m_group->buttons()) {
    m_group->removeButton(b);
    b->setObjectName({});  // its successor has the name now
    b->hide();
    b->deleteLater();
  }
  m_number->clear();
  m_answer->setEnabled(false);
  if (s.question) {
    m_question->setText(QString::fromStdString(s.question->text));
    m_number->setVisible(s.question->choices.empty());
    m_choices->setVisible(!s.question->choices.empty());
    int number = 0;
    for (const lesson::Question::Choice& c : s.question->choices) {
      auto* radio = new QRadioButton(QString::fromStdString(c.text).replace(QLatin1Char('&'), QLatin1String("&&")), m_choices);
      radio->setObjectName(QStringLiteral("radio.lesson.%1").arg(++number));
      m_group->addButton(radio, number);
      m_choiceBox->addWidget(radio);
    }
  }
  m_exercise->setVisible(s.exercise.has_value());
  m_run->setVisible(s.exercise.has_value());
}

void LessonsView::showState() {
  const lesson::Lesson& l = *m_lessons.current();
  const lesson::Step& s = m_lessons.step();
  using lesson::StepState;
  const StepState state = m_lessons.state();
  lesson::LessonRecord record = m_lessons.record(l);
  QStringList steps;
  for (size_t i = 0; i < l.steps.size(); ++i) {
    const StepState of = record.at(l.steps[i].id).state;
    steps << (of == StepState::open ? QString() : QString(QChar(of == StepState::skipped ? 0x2013 : 0x2713)) + QLatin1Char(' ')) +
                 QStringLiteral("%1. %2").arg(i + 1).arg(QString::fromStdString(l.steps[i].title));
  }
  m_steps->clear();
  m_steps->addItems(steps);
  m_steps->setCurrentIndex(m_lessons.at());
  m_progress->setMaximum(static_cast<int>(l.steps.size()));
  m_progress->setValue(record.finished(l));
  if (s.exercise && m_exercise->text() != m_lessons.exerciseText()) {
    m_quiet = true;
    m_exercise->setText(m_lessons.exerciseText());
    m_quiet = false;
  }
  m_run->setEnabled(!m_lessons.isRunningExercise());
  m_said->setText(m_lessons.isRunningExercise() ? tr("Running…") : m_lessons.said());
  m_said->setVisible(!m_said->text().isEmpty());
  QStringList hints = m_lessons.hints();
  m_hint->setEnabled(hints.size() < static_cast<int>(s.hints.size()));
  for (QString& h : hints) h = tr("Hint: %1").arg(h);
  m_hints->setText(hints.join(QLatin1Char('\n')));
  m_hints->setVisible(!hints.isEmpty());
  m_problem->showProblem(m_lessons.problem());
  m_show->setEnabled(s.asks() && !m_lessons.isSetting());
  m_back->setEnabled(m_lessons.at() > 0);
  m_skip->setVisible(s.asks() && state == StepState::open);
  const bool isLast = m_lessons.at() + 1 == static_cast<int>(l.steps.size());
  m_next->setText(isLast ? tr("Finish") : tr("Next"));
  m_next->setEnabled(!s.asks() || state != StepState::open);
  const auto held = m_lessons.holding();
  const auto holding = std::count(held.begin(), held.end(), true);
  QString text;
  if (!s.asks())
    text = tr("Read, then go on.");
  else if (state == StepState::done)
    text = QString(QChar(0x2713)) + QLatin1Char(' ') + tr("Done.");
  else if (state == StepState::shown)
    text = QString(QChar(0x2713)) + QLatin1Char(' ') + tr("Shown.");
  else if (m_lessons.isSetting())
    text = tr("Getting ready…");
  else if (!held.empty())
    text = tr("%1 of %2 done", "things that a step asks for").arg(holding).arg(held.size());
  m_state->setText(text);
  QPalette p = palette();
  p.setColor(QPalette::WindowText, state == StepState::done || state == StepState::shown ? widgets::themeOf(this).success : widgets::themeOf(this).text);
  m_state->setPalette(p);
}

void LessonsView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::LanguageChange) make();
  if (event->type() == QEvent::PaletteChange && m_lessons.current() && m_state) showState();
}

void LessonsView::chooseFolder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of lessons"), m_lessons.folder());
  if (!folder.isEmpty()) m_lessons.setFolder(folder);
}

void LessonsView::handIn() {
  bool isGiven = false;
  const QString learner = QInputDialog::getText(this, tr("Hand in"), tr("Your name, as your teacher knows you"), QLineEdit::Normal,
                                                QSettings().value(QStringLiteral("lessons/learner")).toString(), &isGiven);
  if (!isGiven) return;
  QSettings().setValue(QStringLiteral("lessons/learner"), learner);
  const QString page = tr("Web page (*.html)");
  QString kind;
  QString path =
      QFileDialog::getSaveFileName(this, tr("Hand in"), QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation) + QStringLiteral("/lessons.json"),
                                   tr("What a learner did (*.json)") + QStringLiteral(";;") + page, &kind);
  if (path.isEmpty()) return;
  // The name that was offered ends otherwise than the kind that was chosen.
  if (kind == page && path.endsWith(QStringLiteral(".json"), Qt::CaseInsensitive)) path = path.chopped(5) + QStringLiteral(".html");
  const auto written =
      kind == page || path.endsWith(QStringLiteral(".html"), Qt::CaseInsensitive) ? m_lessons.report(path, learner) : m_lessons.handIn(path, learner);
  m_summary->setText(written ? tr("Written: %1").arg(path) : QString::fromStdString(written.error().text()));
}

}  // namespace tw::app
