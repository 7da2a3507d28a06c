// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/playback_bar.h"

#include <QComboBox>
#include <QEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <limits>

#include "app/selection_hub.h"
#include "app/services/session_set.h"
#include "app/services/workspace.h"
#include "widgets/common/format.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {

constexpr int kSpeeds[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
/// Of sessions below so many seconds, tenths count.
constexpr double kShort = 60;
/// Places of the bar, whatever the session's length.
constexpr int kPlaces = 10000;

}  // namespace

PlaybackBar::PlaybackBar(SelectionHub& hub, Workspace& workspace, QWidget* parent) : QToolBar(tr("Playback"), parent), m_hub(hub), m_workspace(workspace), m_clock(hub.playback()) {
  setObjectName(QStringLiteral("playback"));
  setMovable(false);
  const auto button = [&](const char* name, const QString& what, const std::function<void()>& act) {
    auto* made = new QToolButton(this);
    made->setObjectName(QString::fromLatin1(name));
    made->setToolTip(what);
    made->setAccessibleName(what);
    made->setFocusPolicy(Qt::TabFocus);
    connect(made, &QToolButton::clicked, this, act);
    addWidget(made);
    return made;
  };
  m_title = new QLabel(this);
  m_title->setObjectName(QStringLiteral("playback.title"));
  m_title->setContentsMargins(6, 0, 6, 0);
  addWidget(m_title);
  m_back = button("playback.back", tr("To the trial before"), [this] { m_clock.step(false); });
  m_play = button("playback.play", tr("Play"), [this] { m_clock.setRunning(!m_clock.isRunning()); });
  m_forward = button("playback.forward", tr("To the next trial"), [this] { m_clock.step(true); });
  m_slider = new QSlider(Qt::Horizontal, this);
  m_slider->setObjectName(QStringLiteral("playback.slider"));
  m_slider->setAccessibleName(tr("Moment of the session"));
  m_slider->setRange(0, kPlaces);
  m_slider->setPageStep(kPlaces / 20);
  m_slider->setSingleStep(kPlaces / 200);
  connect(m_slider, &QSlider::valueChanged, this, [this](int place) { m_clock.setAt(m_clock.length() * place / kPlaces); });
  addWidget(m_slider);
  m_time = new QLabel(this);
  m_time->setObjectName(QStringLiteral("playback.time"));
  m_time->setContentsMargins(6, 0, 6, 0);
  addWidget(m_time);
  m_speed = new QComboBox(this);
  m_speed->setObjectName(QStringLiteral("playback.speed"));
  m_speed->setAccessibleName(tr("Speed"));
  m_speed->setToolTip(tr("How much faster than the session was"));
  for (const int speed : kSpeeds) m_speed->addItem(tr("%1 times").arg(speed), speed);
  m_speed->setCurrentIndex(m_speed->findData(static_cast<int>(m_clock.speed())));
  connect(m_speed, &QComboBox::currentIndexChanged, this, [this] { m_clock.setSpeed(m_speed->currentData().toInt()); });
  addWidget(m_speed);
  m_close = button("playback.close", tr("End playback: show the sessions whole again"), [this] { m_clock.close(); });
  connect(&m_clock, &PlaybackClock::sessionsChanged, this, &PlaybackBar::showSessions);
  connect(&m_clock, &PlaybackClock::moved, this, &PlaybackBar::showMoment);
  connect(&m_clock, &PlaybackClock::runningChanged, this, &PlaybackBar::showRunning);
  // What is played is of one model and one workspace.
  connect(&hub, &SelectionHub::modelChanged, &m_clock, &PlaybackClock::close);
  connect(&workspace, &Workspace::opened, &m_clock, &PlaybackClock::close);
  connect(&workspace, &Workspace::contentsChanged, &m_clock, &PlaybackClock::close);
  showSessions();
}

void PlaybackBar::changeEvent(QEvent* event) {
  QToolBar::changeEvent(event);
  if (m_close != nullptr && event->type() == QEvent::PaletteChange) showIcons();
}

void PlaybackBar::showIcons() {
  const widgets::Theme& theme = widgets::themeOf(this);
  m_back->setIcon(widgets::themedIcon(QStringLiteral("playback.back"), theme));
  m_play->setIcon(widgets::themedIcon(m_clock.isRunning() ? QStringLiteral("tune.pause") : QStringLiteral("tune.start"), theme));
  m_forward->setIcon(widgets::themedIcon(QStringLiteral("playback.forward"), theme));
  m_close->setIcon(widgets::themedIcon(QStringLiteral("playback.close"), theme));
}

void PlaybackBar::play(const std::vector<SessionId>& sessions) {
  if (!m_hub.model() || !m_workspace.reader()) return;
  using Played = std::vector<PlaybackClock::Session>;
  const auto work = [reader = m_workspace.reader(), tasks = m_hub.model()->taskIds, sessions](StopToken) -> Expected<Played> {
    Played all;
    for (const SessionId id : sessions) {
      std::vector<double> ends;
      for (const TaskId task : tasks) {
        TW_TRY(const auto rows, reader->outcomes(id, task, 0, std::numeric_limits<int64_t>::max()));
        for (const db::TrialOutcome& row : rows) ends.push_back(row.timestamp_s);
      }
      TW_TRY(const auto rounds, reader->rounds(id));
      all.push_back({id, sessionMoments(std::move(ends), rounds)});
    }
    return all;
  };
  m_workspace.jobs().run<Played>(Lane::database, this, work, [this, sessions, model = m_hub.model()](Expected<Played> played) {
    if (!played) return Q_EMIT failed(tr("The session cannot be played: %1").arg(QString::fromStdString(played.error().text())));
    if (m_hub.model() != model) return;
    m_clock.open(std::move(*played));
    if (!m_clock.isOpen()) return Q_EMIT failed(tr("There is nothing to play: the session has no trials of this network."));
    m_hub.setSession(sessions.front());
    if (sessions.size() > 1) m_hub.setComparedSessions(sessions);
  });
}

void PlaybackBar::showSessions() {
  setVisible(m_clock.isOpen());
  QStringList names;
  for (const PlaybackClock::Session& s : m_clock.sessions())
    for (const db::SessionRow& row : m_workspace.sessions())
      if (row.id == s.id) names << SessionSet::nameOf(row);
  m_title->setText(tr("Playback of session %1").arg(names.join(QStringLiteral(" · "))));
  showRunning();
  showMoment();
}

void PlaybackBar::showMoment() {
  {
    const QSignalBlocker quiet(m_slider);
    m_slider->setValue(m_clock.length() > 0 ? static_cast<int>(m_clock.at() / m_clock.length() * kPlaces) : 0);
  }
  const auto text = m_clock.length() < kShort ? &widgets::secondsText : &widgets::durationText;
  m_time->setText(tr("%1 of %2").arg(text(m_clock.at()), text(m_clock.length())));
  m_back->setEnabled(m_clock.at() > 0);
  m_forward->setEnabled(!m_clock.isAtEnd());
}

void PlaybackBar::showRunning() {
  const bool running = m_clock.isRunning();
  showIcons();
  m_play->setToolTip(running ? tr("Pause") : tr("Play"));
  m_play->setAccessibleName(m_play->toolTip());
}

}  // namespace tw::app
