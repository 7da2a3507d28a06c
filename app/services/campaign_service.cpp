// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/campaign_service.h"

#include <QFileInfo>
#include <algorithm>
#include <thread>

#include "engine/base/clock.h"

namespace tw::app {
namespace {

constexpr int kCampaignPollMillis = 200;

}  // namespace

CampaignService::CampaignService(Engine& engine, Workspace& workspace, TuneService& tuning, JobBoard& board, QObject* parent)
    : QObject(parent), m_engine(engine), m_workspace(workspace), m_tuning(tuning), m_board(board) {
  m_timer.setInterval(kCampaignPollMillis);
  connect(&m_timer, &QTimer::timeout, this, &CampaignService::poll);
  connect(&tuning, &TuneService::stateChanged, this, [this] {
    if (m_tuning.isActive()) stop();
    Q_EMIT changed();
  });
  connect(&workspace, &Workspace::opening, this, [this] {
    stop();
    m_analysing.stop();
    endAnalysis(JobBoard::Outcome::cancelled);
    m_campaign.reset(), m_name.clear(), m_problem.clear(), m_told = {};
    Q_EMIT changed();
  });
  connect(&workspace, &Workspace::opened, this, [this] {
    if (QFileInfo(m_workspace.path()) != QFileInfo(m_planWorkspace)) m_plan.reset();
    if (m_plan) m_name = QString::fromStdString(m_plan->name);
    lookAgain();
  });
  connect(&workspace, &Workspace::sessionsChanged, this, &CampaignService::lookAgain);
}

void CampaignService::readPlan(const QString& file) {
  const auto work = [path = file.toStdString()](StopToken) { return logs::read_campaign(path); };
  m_reading.replace(m_workspace.jobs().run<logs::CampaignPlan>(Lane::work, this, work, [this, file](Expected<logs::CampaignPlan> plan) {
    if (!plan) return Q_EMIT failed(QString::fromStdString(plan.error().text()));
    stop();
    m_plan = std::make_shared<const logs::CampaignPlan>(std::move(*plan));
    m_planWorkspace = QString::fromStdString(logs::campaign_workspace(file.toStdString()));
    Q_EMIT planRead();
  }));
}

QStringList CampaignService::names() const {
  QStringList names;
  for (const std::string& name : logs::campaigns_of(m_workspace.sessions())) names << QString::fromStdString(name);
  if (m_plan && !names.contains(QString::fromStdString(m_plan->name))) names << QString::fromStdString(m_plan->name);
  return names;
}

bool CampaignService::isBegun() const {
  const auto begun = logs::campaigns_of(m_workspace.sessions());
  return m_plan && std::find(begun.begin(), begun.end(), m_plan->name) != begun.end();
}

void CampaignService::choose(const QString& name) {
  if (name == m_name) return;
  m_name = name;
  lookAgain();
}

void CampaignService::setWatched(bool watched) {
  m_watched = watched;
  if (watched) lookAgain();
}

void CampaignService::lookAgain() {
  const QStringList all = names();
  if (!all.contains(m_name)) m_name = all.isEmpty() ? QString() : all.last();
  qint64 trials = 0;
  for (const db::SessionRow& row : m_workspace.sessions())
    if (const auto of = logs::campaigns_of(std::span(&row, 1)); !of.empty() && QString::fromStdString(of.front()) == m_name) trials += row.trials;
  // Working out takes the processors from what is measured.
  if (m_watched && !isRunning() && m_told != std::pair(m_name, trials)) {
    m_told = {m_name, trials};
    m_campaign.reset(), m_problem.clear();
    if (trials > 0) return analyse();
    m_analysing.stop();
    endAnalysis(JobBoard::Outcome::cancelled);
  }
  Q_EMIT changed();
}

void CampaignService::analyse() {
  m_analysing.stop();
  endAnalysis(JobBoard::Outcome::cancelled);
  const auto reader = m_workspace.summaryReader();
  if (!reader) return;
  m_analysisJob = m_board.begin(tr("What the campaign %1 tells").arg(m_name), [this] {
    m_analysing.stop();
    m_problem = tr("Stopped; choose the campaign again to have it worked out.");
    m_told = {};
    endAnalysis(JobBoard::Outcome::cancelled);
    Q_EMIT changed();
  });
  const auto fail = [this](const Error& error) {
    m_problem = QString::fromStdString(error.text());
    endAnalysis(JobBoard::Outcome::failed, m_problem);
    Q_EMIT changed();
  };
  const auto read = [reader, name = m_name.toStdString()](StopToken) { return logs::campaign_trials(*reader, name); };
  m_analysing.replace(m_workspace.jobs().run<logs::CampaignTrials>(Lane::summary, this, read, [this, fail](Expected<logs::CampaignTrials> trials) {
    if (!trials) return fail(trials.error());
    logs::CampaignAnalysis how{.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency() / 2))};
    m_analysed = std::make_shared<Analysed>();
    how.progress = [told = m_analysed](int done, int of) { told->done = done, told->of = of; };
    m_timer.start();
    using Told = std::shared_ptr<const logs::Campaign>;
    const auto work = [read = std::move(*trials), how](StopToken stop) -> Expected<Told> {
      TW_TRY(logs::Campaign campaign, logs::analyse_campaign(read, how, stop));
      return std::make_shared<const logs::Campaign>(std::move(campaign));
    };
    m_analysing.replace(m_workspace.jobs().run<Told>(Lane::work, this, work, [this, fail](Expected<Told> campaign) {
      if (!campaign) return fail(campaign.error());
      m_campaign = std::move(*campaign);
      endAnalysis(JobBoard::Outcome::done);
      Q_EMIT changed();
    }));
  }));
  Q_EMIT changed();
}

void CampaignService::endAnalysis(JobBoard::Outcome outcome, const QString& text) {
  if (m_analysisJob == 0) return;
  m_analysed.reset();
  m_board.end(std::exchange(m_analysisJob, 0), outcome, text);
}

QString CampaignService::obstacle() const {
  if (!m_plan) return tr("open a campaign file first");
  if (isRunning()) return tr("it is running already");
  if (m_tuning.isActive()) return tr("a session is running");
  if (!m_workspace.isWritable()) return tr("no workspace is open for writing");
  return {};
}

void CampaignService::run() {
  if (!obstacle().isEmpty()) return;
  m_analysing.stop();
  endAnalysis(JobBoard::Outcome::cancelled);
  m_name = QString::fromStdString(m_plan->name);
  m_campaign.reset(), m_problem.clear(), m_told = {};
  m_ranPlan = m_plan;
  m_feed = std::make_shared<Feed>();
  m_progress = {.cells = static_cast<int>(m_plan->cells.size())};
  m_startedAt = unix_now_s(), m_doneBefore = -1;
  m_runJob = m_board.begin(tr("Campaign %1").arg(m_name), [this] { stop(); });
  logs::CampaignHooks hooks;
  hooks.cell = [feed = m_feed](size_t cell, bool isDone) {
    const std::lock_guard lock(feed->mutex);
    feed->cell = static_cast<int>(cell), feed->isDone = isDone, feed->trials = feed->there = feed->planned = 0;
  };
  hooks.begun = [feed = m_feed](const std::vector<api::NetworkTask>&, int64_t there) {
    const std::lock_guard lock(feed->mutex);
    feed->trials = feed->there = there;
  };
  hooks.events = [feed = m_feed](const tune::Event& event) {
    const std::lock_guard lock(feed->mutex);
    if (const auto* planned = std::get_if<tune::SessionPlanned>(&event)) feed->planned = planned->trials;
    if (std::holds_alternative<tune::TrialDone>(event)) ++feed->trials;
  };
  // A stopped campaign ends by itself, when all that it told of is stored: only then is it looked at what is there.
  m_stop = std::make_shared<StopSource>();
  hooks.stop = m_stop->get_token();
  const auto work = [&engine = m_engine, plan = m_plan, database = m_workspace.database(), hooks, mine = m_stop](StopToken stop) {
    const std::stop_callback whenWindowCloses(stop, [&mine] { mine->request_stop(); });
    return engine.runCampaign(*plan, database, hooks);
  };
  m_workspace.jobs().run<bool>(Lane::network, this, work, [this, mine = m_stop](Expected<bool> done) {
    if (mine->stop_requested() && (!done ? done.error().code == ErrorCode::cancelled : !*done)) return endRun(JobBoard::Outcome::cancelled);
    if (!done) {
      const QString why = QString::fromStdString(done.error().text());
      endRun(JobBoard::Outcome::failed, why);
      return Q_EMIT failed(tr("The campaign stopped: %1").arg(why));
    }
    endRun(JobBoard::Outcome::done);
  });
  m_timer.start();
  Q_EMIT changed();
}

void CampaignService::stop() {
  if (!isRunning() || isStopping()) return;
  m_stop->request_stop();
  Q_EMIT changed();
}

void CampaignService::endRun(JobBoard::Outcome outcome, const QString& text) {
  m_feed.reset(), m_stop.reset();
  m_board.end(std::exchange(m_runJob, 0), outcome, text);
  m_workspace.refreshSessions();  // then what is there is looked at again
  Q_EMIT changed();
}

void CampaignService::poll() {
  if (m_analysed && m_analysisJob != 0) m_board.setProgress(m_analysisJob, m_analysed->done, m_analysed->of);
  if (!m_feed && !m_analysed) m_timer.stop();
  if (!m_feed) return;
  {
    const std::lock_guard lock(m_feed->mutex);
    const double part = m_feed->isDone        ? 1
                        : m_feed->planned > 0 ? std::min(1.0, static_cast<double>(m_feed->trials) / static_cast<double>(m_feed->planned))
                                              : 0;
    m_progress.cell = m_feed->cell + 1, m_progress.trials = m_feed->trials, m_progress.planned = m_feed->planned;
    m_progress.done = (m_feed->cell + part) / m_progress.cells;
    // What was there when the first session began took no time today.
    if (m_doneBefore < 0 && !m_feed->isDone && m_feed->planned > 0)
      m_doneBefore = (m_feed->cell + static_cast<double>(m_feed->there) / static_cast<double>(m_feed->planned)) / m_progress.cells, m_startedAt = unix_now_s();
  }
  m_progress.title = QString::fromStdString(m_ranPlan->cells[static_cast<size_t>(m_progress.cell - 1)].title());
  const double gained = m_doneBefore < 0 ? 0 : m_progress.done - m_doneBefore;
  m_progress.secondsLeft = gained > 0 ? (unix_now_s() - m_startedAt) / gained * (1 - m_progress.done) : -1;
  m_board.setProgress(m_runJob, static_cast<qint64>(1000 * m_progress.done), 1000, tr("cell %1 of %2").arg(m_progress.cell).arg(m_progress.cells));
  Q_EMIT progressed();
}

}  // namespace tw::app
