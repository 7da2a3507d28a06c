// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/farm_service.h"

#include <algorithm>

#include "engine/base/clock.h"

namespace tw::app {
namespace {

/// Whether two lists of farms offer the same devices at the same places.
bool alike(const std::vector<farm::FarmFile>& a, const std::vector<farm::FarmFile>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const farm::FarmFile& x, const farm::FarmFile& y) {
    return x.farm == y.farm && x.folder == y.folder && x.address == y.address && x.port == y.port && x.fingerprint == y.fingerprint &&
           std::equal(x.kinds.begin(), x.kinds.end(), y.kinds.begin(), y.kinds.end(), [](const auto& k, const auto& l) { return k.name == l.name; });
  });
}

}  // namespace

FarmService::FarmService(Engine& engine, JobRunner& jobs, QObject* parent) : QObject(parent), m_engine(engine), m_jobs(jobs) {
  // Each question follows the answer before it: a farm that does not answer takes longer than the interval.
  m_timer.setSingleShot(true);
  m_timer.setInterval(kAskMillis);
  connect(&m_timer, &QTimer::timeout, this, &FarmService::ask);
  refresh();
}

void FarmService::refresh() {
  std::vector<farm::FarmFile> farms = m_engine.farms();
  if (alike(farms, m_farms)) return;
  m_farms = std::move(farms);
  if (!farm() && !m_farms.empty()) m_chosen = m_farms.front().farm;
  forget();
  if (m_watched) m_timer.start();  // the answer that would have led to the next question is no longer waited for
  Q_EMIT farmsChanged();
}

const farm::FarmFile* FarmService::farm() const {
  const auto at = std::find_if(m_farms.begin(), m_farms.end(), [this](const farm::FarmFile& f) { return f.farm == m_chosen; });
  return at == m_farms.end() ? nullptr : &*at;
}

void FarmService::setWatched(bool watched) {
  if (m_watched == watched) return;
  m_watched = watched;
  if (watched) return ask();
  m_timer.stop();
  m_job.stop();
}

void FarmService::choose(const std::string& farm) {
  if (farm == m_chosen) return;
  m_chosen = farm;
  forget();
  if (m_watched) ask();
}

void FarmService::command(const std::string& device, const std::string& command, const std::string& reason) {
  const farm::FarmFile* chosen = farm();
  if (!chosen) return;
  const auto work = [&engine = m_engine, farm = *chosen, device, command, reason](StopToken) { return engine.commandDevice(farm, device, command, reason); };
  m_jobs.run<farm::Presence>(Lane::farm, this, work, [this, name = chosen->farm](Expected<farm::Presence> now) {
    if (!now) {
      Q_EMIT failed(QString::fromStdString(now.error().text()));
      return;
    }
    if (name != m_chosen || !m_survey) return;
    for (farm::Presence& p : m_survey->devices)
      if (p.device == now->device) p = *now;
    Q_EMIT surveyed();
  });
}

void FarmService::forget() {
  m_job.stop();
  m_survey.reset();
  m_problem.clear();
  m_history.clear();
  Q_EMIT surveyed();
}

void FarmService::ask() {
  refresh();
  m_timer.stop();
  const farm::FarmFile* asked = farm();
  if (!asked) return m_timer.start();  // one may be made meanwhile
  const auto work = [&engine = m_engine, farm = *asked](StopToken) { return engine.survey(farm); };
  m_job.replace(m_jobs.run<farm::Survey>(Lane::farm, this, work, [this](Expected<farm::Survey> survey) {
    if (survey) {
      take(*std::move(survey));
    } else {
      m_survey.reset();
      m_problem = QString::fromStdString(survey.error().text());
    }
    Q_EMIT surveyed();
    if (m_watched) m_timer.start();
  }));
}

void FarmService::take(farm::Survey survey) {
  m_problem.clear();
  const double now = unix_now_s();
  for (const farm::Presence& p : survey.devices) {
    History& h = m_history[p.device];
    // An agent that began anew counts from zero.
    if (h.boot != p.boot) h = {p.boot, {}};
    h.moments.push_back({now, p.measured, p.references});
    if (h.moments.size() > kMoments) h.moments.pop_front();
  }
  m_survey = std::move(survey);
}

const std::deque<FarmService::Moment>& FarmService::moments(const std::string& device) const {
  static const std::deque<Moment> kNone;
  const auto at = m_history.find(device);
  return at == m_history.end() ? kNone : at->second.moments;
}

double FarmService::rate(const std::string& device) const {
  const auto& all = moments(device);
  if (all.size() < 2 || all.back().at_s <= all.front().at_s) return -1;
  return static_cast<double>(all.back().measured - all.front().measured) / (all.back().at_s - all.front().at_s);
}

}  // namespace tw::app
