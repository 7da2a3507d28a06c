// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/playback_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw::app {
namespace {

constexpr double kForEver = std::numeric_limits<double>::infinity();
constexpr double kLongestGap = 60;
constexpr int kFrameMillis = 16;

}  // namespace

std::vector<SessionMoment> sessionMoments(std::vector<double> timestamps, const std::vector<records::Round>& rounds) {
  std::sort(timestamps.begin(), timestamps.end());
  std::vector<SessionMoment> moments;
  size_t at = 0;
  double before = 0;
  for (const records::Round& r : rounds) {
    const size_t begin = at, end = std::min(timestamps.size(), static_cast<size_t>(std::max<int64_t>(0, r.session_trials)));
    const double length = std::max(0.0, r.elapsed_s - before);
    // From the round's end backwards, as what came before its first trial may be a pause or a night. A round that was cut off and finished later has its trials evenly.
    const bool whole = begin < end && timestamps[end - 1] - timestamps[begin] <= length;
    for (; at < end; ++at)
      moments.push_back({before + (whole ? length - (timestamps[end - 1] - timestamps[at]) : length * static_cast<double>(at + 1 - begin) / static_cast<double>(end - begin)), timestamps[at]});
    before += length;
  }
  for (; at < timestamps.size(); ++at) {
    const double gap = at == 0 ? 0 : std::min(timestamps[at] - timestamps[at - 1], kLongestGap);
    before = (moments.empty() ? before : moments.back().elapsed_s) + gap;
    moments.push_back({before, timestamps[at]});
  }
  return moments;
}

PlaybackClock::PlaybackClock(QObject* parent) : QObject(parent) {
  m_timer.setTimerType(Qt::PreciseTimer);
  m_timer.setInterval(kFrameMillis);
  connect(&m_timer, &QTimer::timeout, this, [this] { advance(static_cast<double>(m_since.nsecsElapsed()) * 1e-6); });
}

void PlaybackClock::open(std::vector<Session> sessions) {
  std::erase_if(sessions, [](const Session& s) { return s.moments.empty(); });
  if (sessions.empty() && m_sessions.empty()) return;
  setRunning(false);
  m_sessions = std::move(sessions);
  m_at = m_length = 0;
  for (const Session& s : m_sessions) m_length = std::max(m_length, s.moments.back().elapsed_s);
  Q_EMIT sessionsChanged();
}

const PlaybackClock::Session* PlaybackClock::find(SessionId session) const {
  const auto at = std::find_if(m_sessions.begin(), m_sessions.end(), [&](const Session& s) { return s.id == session; });
  return at == m_sessions.end() ? nullptr : &*at;
}

void PlaybackClock::setAt(double seconds) {
  const double next = std::clamp(seconds, 0.0, m_length);
  if (next == m_at) return;
  m_at = next;
  Q_EMIT moved();
}

void PlaybackClock::step(bool forward) {
  setRunning(false);
  double next = forward ? m_length : 0;
  for (const Session& s : m_sessions) {
    const auto above = std::upper_bound(s.moments.begin(), s.moments.end(), m_at, [](double at, const SessionMoment& m) { return at < m.elapsed_s; });
    if (forward) {
      if (above != s.moments.end()) next = std::min(next, above->elapsed_s);
      continue;
    }
    const auto here = std::lower_bound(s.moments.begin(), s.moments.end(), m_at, [](const SessionMoment& m, double at) { return m.elapsed_s < at; });
    if (here != s.moments.begin()) next = std::max(next, std::prev(here)->elapsed_s);
  }
  setAt(next);
}

void PlaybackClock::setRunning(bool running) {
  if (running == isRunning() || (running && !isOpen())) return;
  if (running) {
    if (isAtEnd()) setAt(0);
    m_since.start();
    m_timer.start();
  } else {
    m_timer.stop();
  }
  Q_EMIT runningChanged();
}

void PlaybackClock::setSpeed(double speed) { m_speed = std::clamp(speed, kSlowest, kFastest); }

void PlaybackClock::advance(double milliseconds) {
  m_since.restart();
  setAt(m_at + milliseconds * 1e-3 * m_speed);
  if (isAtEnd()) setRunning(false);
}

double PlaybackClock::elapsed(SessionId session) const {
  const Session* s = find(session);
  return s == nullptr || m_at >= s->moments.back().elapsed_s ? kForEver : m_at;
}

double PlaybackClock::timestamp(SessionId session) const {
  if (std::isinf(elapsed(session))) return kForEver;
  const std::vector<SessionMoment>& moments = find(session)->moments;
  const auto above = std::upper_bound(moments.begin(), moments.end(), m_at, [](double at, const SessionMoment& m) { return at < m.elapsed_s; });
  return above == moments.begin() ? -kForEver : std::prev(above)->timestamp_s;
}

PlayedTrials::PlayedTrials(std::vector<db::TrialOutcome> rows, double flops)
    : m_rows(std::move(rows)), m_flops(flops), m_store(std::make_shared<widgets::TrialStore>(flops)) {}

PlayedTrials::Change PlayedTrials::moveTo(double timestamp_s) {
  const bool ended = std::isinf(timestamp_s) && timestamp_s > 0;
  size_t shown = m_shown;
  while (shown < m_rows.size() && m_rows[shown].timestamp_s <= timestamp_s) ++shown;
  while (shown > 0 && m_rows[shown - 1].timestamp_s > timestamp_s) --shown;
  const bool anew = shown < m_shown || ended != m_ended;
  if (!anew && shown == m_shown) return Change::none;
  if (anew) {
    m_store = std::make_shared<widgets::TrialStore>(m_flops);
    m_shown = 0;
  }
  m_ended = ended;
  for (; m_shown < shown; ++m_shown) {
    db::TrialOutcome row = m_rows[m_shown];
    if (!ended) row.seconds = row.own_s;
    m_store->append(row);
  }
  return anew ? Change::replaced : Change::grew;
}

}  // namespace tw::app
