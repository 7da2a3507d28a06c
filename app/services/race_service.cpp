// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/race_service.h"

#include <QDateTime>
#include <algorithm>

#include "engine/base/clock.h"
#include "engine/base/json.h"

namespace tw::app {

RaceService::RaceService(TuneService& tuning, QObject* parent) : QObject(parent), m_tuning(tuning) {
  connect(&tuning, &TuneService::sessionStarted, this, [this] {
    if (!m_active) return;
    m_sessions.push_back(m_tuning.session());
    Q_EMIT changed();
  });
  connect(&tuning, &TuneService::stateChanged, this, [this] {
    // Who stops a session of a race means the race.
    if (m_active && m_tuning.state() == TuneService::State::stopping) stop();
  });
  connect(&tuning, &TuneService::failed, this, [this] {
    if (m_tuning.isActive()) return;
    stop();
    if (m_active) QMetaObject::invokeMethod(this, &RaceService::next, Qt::QueuedConnection);
  });
  // Others hear of the end of a session before the next one begins.
  connect(&tuning, &TuneService::finished, this, [this] {
    if (m_active) QMetaObject::invokeMethod(this, &RaceService::next, Qt::QueuedConnection);
  });
}

void RaceService::start(const Plan& plan) {
  if (m_active || m_tuning.isActive() || plan.tuners.empty()) return;
  m_queue.clear();
  m_sessions.clear();
  m_startedAt = unix_now_s();
  m_name = QDateTime::currentDateTime().toString(Qt::ISODate);
  for (int seed = 0; seed < plan.seeds; ++seed) {
    for (const std::string& tuner : plan.tuners) {
      TuneService::Request request{plan.model, plan.tasks, plan.options, {}, plan.replay};
      if (request.options.tuner != tuner) request.options.tuner_params = Json::object();
      request.options.tuner = tuner;
      request.options.seed += static_cast<uint64_t>(seed);
      request.race = m_name.toStdString();
      m_queue.push_back(std::move(request));
    }
  }
  std::reverse(m_queue.begin(), m_queue.end());
  m_total = static_cast<int>(m_queue.size());
  m_active = true;
  next();
}

double RaceService::secondsLeft() const {
  if (!m_active || m_total == 0) return -1;
  // Sessions take about as long as those before; of the running one its trials say how far it is.
  const qint64 planned = m_tuning.trialsPlanned();
  const double running = !m_tuning.isActive() ? 1 : planned > 0 ? std::min(1.0, static_cast<double>(m_tuning.trialsDone()) / static_cast<double>(planned)) : 0;
  const double done = static_cast<double>(m_sessions.size()) - 1 + running;
  if (!(done > 0)) return -1;
  const double elapsed = unix_now_s() - m_startedAt;
  return elapsed / done * std::max(0.0, m_total - done);
}

void RaceService::next() {
  if (!m_active || m_tuning.isActive()) return;
  if (!m_queue.empty()) {
    const TuneService::Request request = std::move(m_queue.back());
    m_queue.pop_back();
    m_tuning.start(request);
    if (m_tuning.isActive()) return;
  }
  stop();
  m_active = false;
  Q_EMIT changed();
  Q_EMIT finished();
}

}  // namespace tw::app
