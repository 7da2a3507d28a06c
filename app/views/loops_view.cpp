// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/loops_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/explain_service.h"
#include "widgets/charts/loop_scene.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

constexpr int kFrameMillis = 16;
/// Steps in a second at speed 1.
constexpr int kStepsAtOnce = 10;
constexpr int kTimesAsFast[] = {1, 3, 10, 30, 100, 300, 1000, 3000, 10000};
constexpr int kSmaller[] = {1, 4, 16, 64};
/// Places of the bar, however many steps there are.
constexpr int kBarPlaces = 10000;

}  // namespace

LoopsView::LoopsView(Services& services, QWidget* parent) : QWidget(parent), m_services(services) {
  auto* content = new QWidget(this);
  m_beside = new QComboBox(content);
  m_beside->setObjectName(QStringLiteral("combo.loops.beside"));
  m_beside->setAccessibleName(tr("What is played beside the shown kernel"));
  m_beside->addItem(tr("Alone"), Nothing);
  m_beside->addItem(tr("Beside it before its last step"), BeforeLastStep);
  m_beside->addItem(tr("Beside what Code compares with"), CodeBase);
  m_beside->setToolTip(tr("Before and after a primitive: the same schedule without its last step, or the candidate chosen under Difference in the code view"));
  m_caches = new QComboBox(content);
  m_caches->setObjectName(QStringLiteral("combo.loops.caches"));
  m_caches->setAccessibleName(tr("Sizes of the caches"));
  for (const int smaller : kSmaller) m_caches->addItem(smaller == 1 ? tr("The target's caches") : tr("Caches of 1/%1").arg(smaller), smaller);
  m_caches->setToolTip(tr("Small sizes fill small caches as the task's own sizes fill the target's"));
  for (QComboBox* box : {m_beside, m_caches}) box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_sizes = new QLabel(content);
  m_sizes->setObjectName(QStringLiteral("label.loops.sizes"));
  m_sizes->setTextFormat(Qt::PlainText);
  m_sizes->setForegroundRole(QPalette::PlaceholderText);
  m_sizes->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* head = new QHBoxLayout;
  head->addWidget(m_beside);
  head->addWidget(m_caches);
  head->addWidget(m_sizes, 1);
  auto* scenes = new QSplitter(Qt::Horizontal, content);
  scenes->setChildrenCollapsible(false);
  for (size_t k = 0; k < m_scenes.size(); ++k) {
    m_scenes[k] = new widgets::LoopScene(scenes);
    if (k > 0) m_scenes[k]->setObjectName(QStringLiteral("view.loops.other"));
    m_scenes[k]->installEventFilter(this);
    scenes->addWidget(m_scenes[k]);
  }
  m_scenes[1]->hide();
  auto* box = new QVBoxLayout(content);
  box->setContentsMargins(6, 4, 6, 4);
  box->setSpacing(4);
  box->addLayout(head);
  box->addWidget(scenes, 1);
  box->addWidget(makeTransport());
  m_state = new widgets::EmptyState(content, this);
  auto* whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(m_state);
  m_tick.setInterval(kFrameMillis);
  m_tick.setTimerType(Qt::PreciseTimer);
  connect(&m_tick, &QTimer::timeout, this, &LoopsView::tick);
  connect(m_beside, &QComboBox::currentIndexChanged, this, &LoopsView::invalidate);
  connect(m_caches, &QComboBox::currentIndexChanged, this, &LoopsView::invalidate);
  connect(&services.explain, &ExplainService::explained, this, &LoopsView::invalidate);
  connect(&services.explain, &ExplainService::baseExplained, this, [this] {
    if (m_beside->currentData() == CodeBase) invalidate();
  });
  showIcons();
  compute();
}

QWidget* LoopsView::makeTransport() {
  auto* row = new QWidget(this);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  const auto button = [&](const char* name, const QString& help, auto act) {
    auto* b = new QToolButton(row);
    b->setObjectName(QStringLiteral("button.loops.") + QLatin1String(name));
    b->setToolTip(help);
    b->setAccessibleName(help);
    connect(b, &QToolButton::clicked, this, act);
    layout->addWidget(b);
    return b;
  };
  m_start = button("start", tr("Back to the beginning (Home)"), [this] { seek(0); });
  m_start->setText(QStringLiteral("|◀"));
  m_back = button("back", tr("One step back (Left)"), [this] { seek(at() > 0 ? at() - 1 : 0); });
  m_play = button("play", tr("Run or pause (Space)"), [this] { setRunning(!isRunning()); });
  m_forward = button("forward", tr("One step (Right)"), [this] { seek(at() + 1); });
  m_out = button("out", tr("To the end of the innermost loop (Shift+Right)"), [this] { leaveLoop(); });
  m_out->setText(tr("Out of loop"));
  m_bar = new QSlider(Qt::Horizontal, row);
  m_bar->setObjectName(QStringLiteral("slider.loops"));
  m_bar->setAccessibleName(tr("How far through the loops"));
  m_bar->setRange(0, kBarPlaces);
  m_bar->setPageStep(kBarPlaces / 20);
  m_bar->installEventFilter(this);
  connect(m_bar, &QSlider::valueChanged, this, [this](int place) { seek(size() * static_cast<size_t>(place) / kBarPlaces); });
  layout->addWidget(m_bar, 1);
  m_position = new QLabel(row);
  m_position->setObjectName(QStringLiteral("label.loops.position"));
  layout->addWidget(m_position);
  m_speed = new QComboBox(row);
  m_speed->setObjectName(QStringLiteral("combo.loops.speed"));
  m_speed->setAccessibleName(tr("Speed"));
  m_speed->setToolTip(tr("1 time is ten steps a second"));
  for (const int times : kTimesAsFast) m_speed->addItem(tr("%1 times").arg(widgets::countText(times)), times);
  m_speed->setCurrentIndex(4);
  layout->addWidget(m_speed);
  return row;
}

void LoopsView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale) compute();
}

void LoopsView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  setRunning(false);
}

void LoopsView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && m_forward != nullptr) showIcons();
}

void LoopsView::showIcons() {
  const widgets::Theme& theme = widgets::themeOf(this);
  m_back->setIcon(widgets::themedIcon(QStringLiteral("playback.back"), theme));
  m_play->setIcon(widgets::themedIcon(isRunning() ? QStringLiteral("tune.pause") : QStringLiteral("tune.start"), theme));
  m_forward->setIcon(widgets::themedIcon(QStringLiteral("playback.forward"), theme));
}

/// The keys of players, where the pictures or the bar have the focus.
bool LoopsView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress || m_state->isEmpty()) return QWidget::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  const bool far = key->modifiers() & Qt::ShiftModifier;
  if (key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) return QWidget::eventFilter(watched, event);
  switch (key->key()) {
    case Qt::Key_Space:
      setRunning(!isRunning());
      return true;
    case Qt::Key_Left:
      seek(at() > 0 ? at() - 1 : 0);
      return true;
    case Qt::Key_Right:
      if (far)
        leaveLoop();
      else
        seek(at() + 1);
      return true;
    case Qt::Key_Home:
      seek(0);
      return true;
    case Qt::Key_End:
      seek(size());
      return true;
    default:
      return QWidget::eventFilter(watched, event);
  }
}

void LoopsView::invalidate() {
  m_stale = true;
  setRunning(false);
  if (isVisible()) compute();
}

void LoopsView::compute() {
  m_stale = false;
  m_job.stop();
  const records::Task* task = m_services.hub.taskValue();
  if (!task)
    return m_state->showEmpty(tr("No loops to play"), tr("The loops of the shown kernel are played here step by step, with its arrays and caches. Open a model first."),
                              m_services.actions.get(QStringLiteral("file.open")));
  if (!task->dag) return m_state->showEmpty(tr("No loops to play"), tr("This task came from a log that does not hold its computation."));
  const auto& explanation = m_services.explain.explanation();
  if (!explanation) {
    const QString& problem = m_services.explain.problem();
    return m_state->showEmpty(problem.isEmpty() ? tr("Lowering…") : tr("This point cannot be built"), problem);
  }
  m_state->showEmpty(tr("Playing the loops once…"), {});
  const std::vector<schedule::Step> steps = m_services.explain.candidate().steps;
  std::optional<std::vector<schedule::Step>> other;
  QString problem;
  if (m_beside->currentData() == BeforeLastStep) {
    if (steps.empty())
      problem = tr("This schedule has no steps, so there is none before the last.");
    else
      other = std::vector<schedule::Step>(steps.begin(), steps.end() - 1);
  } else if (m_beside->currentData() == CodeBase) {
    if (m_services.explain.base())
      other = m_services.explain.baseCandidate().steps;
    else
      problem = tr("Choose another candidate under Difference in the code view.");
  }
  api::LoopPlayOptions options;
  options.smaller_caches = m_caches->currentData().toInt();
  const auto work = [&engine = m_services.engine, task = *task, steps, other, problem, options](StopToken stop) -> Expected<Played> {
    Played played;
    TW_TRY(played.shown, engine.playLoops(task, steps, options, stop));
    played.otherProblem = problem;
    if (!other) return played;
    auto beside = engine.playLoops(task, *other, options, stop);
    if (beside)
      played.other = std::move(*beside);
    else
      played.otherProblem = QString::fromStdString(beside.error().text());
    return played;
  };
  m_job.replace(m_services.jobs.run<Played>(Lane::work, this, work, [this](Expected<Played> played) { show(std::move(played)); }));
}

void LoopsView::show(Expected<Played> played) {
  if (!played) {
    for (widgets::LoopScene* scene : m_scenes) scene->setPlay(nullptr, {});
    return m_state->showEmpty(tr("These loops cannot be played"), QString::fromStdString(played.error().text()));
  }
  const double share = size() > 0 ? static_cast<double>(at()) / static_cast<double>(size()) : 0;
  const QString title = m_services.explain.title();
  m_scenes[0]->setPlay(played->shown.play, title);
  const bool beside = played->other.has_value();
  m_scenes[1]->setPlay(beside ? played->other->play : nullptr, m_beside->currentData() == CodeBase ? m_services.explain.baseTitle() : tr("Before the last step"));
  m_scenes[1]->setVisible(beside);
  showSizes(*played);
  // As wide as it gets, so that the bar stays where it is.
  const QString most = widgets::countText(static_cast<qint64>(size()));
  m_position->setMinimumWidth(m_position->fontMetrics().horizontalAdvance(tr("%1 of %2").arg(most, most)));
  m_state->showContent();
  // Whoever looks at the middle of one schedule looks at the middle of the next.
  seek(static_cast<size_t>(std::llround(share * static_cast<double>(size()))));
}

void LoopsView::showSizes(const Played& played) {
  const auto sizes = [](const api::PlayedLoops& p) {
    if (p.longest > 0) return tr("Sizes smaller than the task's: no axis longer than %1.").arg(p.longest);
    if (p.play->trace().is_whole) return tr("The task's own sizes.");
    return tr("The first %1 steps of the task's own sizes.").arg(widgets::countText(static_cast<qint64>(p.play->size())));
  };
  QString text = sizes(played.shown);
  if (played.other && sizes(*played.other) != text) text += tr(" Beside it: %1").arg(sizes(*played.other));
  if (!played.otherProblem.isEmpty()) text += QLatin1Char(' ') + played.otherProblem;
  m_sizes->setText(text);
  QString why = text;
  if (played.shown.not_smaller)
    why += QLatin1Char('\n') + tr("The schedule fits no smaller sizes: %1").arg(QString::fromStdString(played.shown.not_smaller->text()));
  const auto& levels = played.shown.play->levels();
  for (const simulate::CacheLevel& l : levels)
    why += QLatin1Char('\n') + tr("%1: %2 in sets of %3 lines of %4 bytes; the line used longest ago makes room.")
                                   .arg(QString::fromStdString(l.name), widgets::bytesText(static_cast<double>(l.bytes)))
                                   .arg(l.ways)
                                   .arg(l.line);
  why += QLatin1Char('\n') + tr("Parallel loops and blocks run one after the other, on one core's caches.");
  m_sizes->setToolTip(why.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
}

size_t LoopsView::size() const { return m_scenes[0]->play() ? m_scenes[0]->play()->size() : 0; }
size_t LoopsView::at() const { return m_scenes[0]->at(); }

void LoopsView::seek(size_t steps) {
  if (!m_scenes[0]->play()) return;
  m_scenes[0]->seek(steps);
  if (const auto& other = m_scenes[1]->play())
    m_scenes[1]->seek(size() == 0 ? 0 : static_cast<size_t>(static_cast<double>(other->size()) * static_cast<double>(at()) / static_cast<double>(size())));
  if (at() == size()) setRunning(false);
  showMoment();
}

void LoopsView::showMoment() {
  const QSignalBlocker quiet(m_bar);
  m_bar->setValue(size() == 0 ? 0 : static_cast<int>(at() * kBarPlaces / size()));
  m_position->setText(tr("%1 of %2").arg(widgets::countText(static_cast<qint64>(at())), widgets::countText(static_cast<qint64>(size()))));
  m_start->setEnabled(at() > 0);
  m_back->setEnabled(at() > 0);
  m_play->setEnabled(at() < size() || isRunning());
  m_forward->setEnabled(at() < size());
  m_out->setEnabled(at() < size());
}

void LoopsView::leaveLoop() {
  const auto& play = m_scenes[0]->play();
  if (!play || at() >= size()) return;
  // Of the step that happens next: loops whose turns happen at once cannot be left before they end.
  const tir::AccessTrace& trace = play->trace();
  const std::vector<int>& loops = trace.statements[static_cast<size_t>(trace.steps[at()].statement)].loops;
  const auto innermost = std::find_if(loops.rbegin(), loops.rend(), [&](int l) { return !trace.loops[static_cast<size_t>(l)].lanes; });
  seek(innermost == loops.rend() ? at() + 1 : play->after_loop(at(), *innermost));
}

void LoopsView::setRunning(bool running) {
  running = running && m_scenes[0]->play() && at() < size();
  if (running == isRunning()) return;
  if (running) {
    m_due = 0;
    m_sinceTick.start();
    m_tick.start();
  } else {
    m_tick.stop();
  }
  showIcons();
}

void LoopsView::tick() {
  m_due += static_cast<double>(m_sinceTick.restart()) / 1000 * kStepsAtOnce * m_speed->currentData().toInt();
  const auto steps = static_cast<size_t>(m_due);
  if (steps == 0) return;
  m_due -= static_cast<double>(steps);
  seek(at() + steps);
}

}  // namespace tw::app
