// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/explain_service.h"

#include "engine/schedule/primitive.h"
#include "widgets/common/format.h"

namespace tw::app {
namespace {

api::Level levelOf(widgets::CodeLanguage form) {
  switch (form) {
    case widgets::CodeLanguage::steps:
      return api::Level::step;
    case widgets::CodeLanguage::loops:
      return api::Level::loop;
    case widgets::CodeLanguage::tir:
      return api::Level::tir_line;
    case widgets::CodeLanguage::llvm:
      return api::Level::llvm_line;
    case widgets::CodeLanguage::assembly:
      return api::Level::assembly_line;
    case widgets::CodeLanguage::sass:
    case widgets::CodeLanguage::expression:
      break;
  }
  return api::Level::sass_line;
}

std::vector<int> mergedLines(const std::vector<int>& origins) {
  std::vector<int> lines;
  for (size_t i = 0; i < origins.size(); ++i) {
    if (origins[i] == codegen::kMerged) lines.push_back(static_cast<int>(i));
  }
  return lines;
}

std::vector<int> relatedIn(const api::Explanation* e, api::Level from, int number, api::Level to) {
  return e ? e->provenance.related(from, number, to) : std::vector<int>();
}

/// CodeListing::related by what is known of a candidate.
std::function<std::vector<int>(const widgets::CodePlace&, widgets::CodeLanguage)> linksIn(std::shared_ptr<const api::Explanation> e) {
  return [e = std::move(e)](const widgets::CodePlace& from, widgets::CodeLanguage to) { return relatedIn(e.get(), levelOf(from.form), from.line, levelOf(to)); };
}

}  // namespace

ExplainService::ExplainService(Engine& engine, SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent)
    : QObject(parent), m_engine(engine), m_hub(hub), m_jobs(jobs), m_workspace(workspace), m_tuning(tuning) {
  m_follow.setSingleShot(true);
  m_follow.setInterval(1000);
  connect(&m_follow, &QTimer::timeout, this, &ExplainService::explainSelection);
  // One click may change the session, the task and the trial: they are lowered once.
  m_refresh.setSingleShot(true);
  m_refresh.setInterval(0);
  connect(&m_refresh, &QTimer::timeout, this, &ExplainService::explainSelection);
  connect(&hub, &SelectionHub::taskChanged, this, [this] {
    m_shownBest = 0;
    forget();
    loadSpaces();
    ask();
  });
  connect(&hub, &SelectionHub::taskChanged, this, &ExplainService::explainBase);
  connect(&hub, &SelectionHub::codeBaseChanged, this, &ExplainService::explainBase);
  connect(&hub, &SelectionHub::trialChanged, this, &ExplainService::ask);
  connect(&hub, &SelectionHub::configEdited, this, &ExplainService::ask);
  connect(&tuning, &TuneService::progressed, this, &ExplainService::followBest);
}

void ExplainService::followBest() {
  // While nothing in particular is selected the code follows the best of the running session, at most once a second.
  if (m_hub.isConfigEdited() || m_hub.trial() >= 0 || !m_hub.place().isNull() || m_tuning.model() != m_hub.model() || m_follow.isActive()) return;
  const auto* progress = m_tuning.progress(m_hub.task());
  if (!progress || progress->bestSeconds <= 0 || progress->bestSeconds == m_shownBest) return;
  m_shownBest = progress->bestSeconds;
  m_follow.start();
}

void ExplainService::loadSpaces() {
  const records::Task* task = m_hub.taskValue();
  m_spaces.clear();
  m_space = 0;
  m_spacesKnown = task != nullptr && !task->dag;  // it has none
  Q_EMIT spaceChanged();
  if (!task || !task->dag) return m_spaceJob.stop();
  using Spaces = std::vector<Engine::Space>;
  const auto work = [&engine = m_engine, copy = *task](StopToken) -> Expected<Spaces> { return engine.spaces(copy); };
  m_spaceJob.replace(m_jobs.run<Spaces>(Lane::work, this, work, [this](Expected<Spaces> result) {
    m_spacesKnown = true;
    if (result)
      m_spaces = std::move(*result);
    else
      Q_EMIT reasonChanged(QString::fromStdString(result.error().text()));
    selectSpace(m_wantedSpace);
    Q_EMIT spaceChanged();
    if (m_hub.configIndex() >= 0) Q_EMIT m_hub.configNoted();
  }));
}

const Engine::Space& ExplainService::space() const {
  static const Engine::Space none;
  return m_space < m_spaces.size() ? m_spaces[m_space] : none;
}

widgets::SpaceMap ExplainService::spaceMap() const {
  widgets::SpaceMap map;
  for (const Engine::Space& s : m_spaces) map[s.name] = s.space;
  return map;
}

bool ExplainService::selectSpace(const std::string& name) {
  for (size_t i = 0; i < m_spaces.size(); ++i) {
    if (m_spaces[i].name != name || m_space == i) continue;
    m_space = i;
    return true;
  }
  return false;
}

void ExplainService::setSpace(const std::string& name) {
  if (!selectSpace(name)) return;
  m_wantedSpace = name;
  Q_EMIT spaceChanged();
  m_hub.setConfigIndex(0);
}

void ExplainService::forget() {
  m_job.stop();
  m_outlineJob.stop();
  m_problem.clear();
  if (!m_explanation) return;
  m_explanation.reset();
  Q_EMIT explained({});
}

void ExplainService::ask() {
  m_isPending = true;
  m_refresh.start();
}

void ExplainService::explainSelection() {
  m_isPending = false;
  m_problem.clear();
  m_outlineJob.stop();
  if (!m_hub.taskValue()) {
    m_job.stop();
    m_explanation.reset();
    Q_EMIT explained({});
    return;
  }
  if (!m_hub.taskValue()->dag) {
    m_job.stop();
    m_explanation.reset();
    widgets::CodeListing listing;
    listing.title = tr("No code");
    listing.error =
        tr("This task came from a log of another program that does not hold its computation. Its times and failures can be looked at and compared.");
    Q_EMIT reasonChanged({});
    return Q_EMIT explained(listing);
  }
  if (m_hub.trial() >= 0) return run(tr("Lowering trial %1…").arg(m_hub.trial()), findTrial(m_hub.trialRef()));
  if (m_hub.isConfigEdited()) {
    runOutline(findConfig(m_hub.configIndex()));  // a knob that is being turned shows its loops at once
    return run(tr("Lowering point %1…").arg(m_hub.configIndex()), findConfig(m_hub.configIndex()));
  }
  run(tr("Lowering…"), findBest());
}

void ExplainService::explainBase() {
  m_baseJob.stop();
  m_baseExplanation.reset();
  m_baseTitle.clear();
  const CodeBase base = m_hub.codeBase();
  if (base.kind == CodeBase::Kind::trial && base.trial.task != m_hub.task())
    return m_hub.setCodeBase({}, SelectionHub::Way::followed);  // which comes back here
  Q_EMIT baseExplained();
  if (base.kind == CodeBase::Kind::none || !m_hub.taskValue() || !m_hub.taskValue()->dag) return;
  const Finder finder = base.kind == CodeBase::Kind::trial ? findTrial(base.trial) : base.kind == CodeBase::Kind::best ? findBest() : findDefault();
  m_baseJob.replace(m_jobs.run<Explained>(Lane::work, this, explaining(finder), [this](Expected<Explained> result) {
    if (!result) return Q_EMIT baseFailed(QString::fromStdString(result.error().text()));
    m_baseTitle = result->found.title;
    m_baseCandidate = std::move(result->found.candidate);
    m_baseExplanation = std::make_shared<const api::Explanation>(std::move(result->explanation));
    Q_EMIT baseExplained();
  }));
}

ExplainService::Finder ExplainService::findTrial(const TrialRef& trial) const {
  const auto& ids = m_hub.model()->taskIds;
  const TaskId id = static_cast<size_t>(trial.task) < ids.size() ? ids[static_cast<size_t>(trial.task)] : TaskId{};
  return [reader = m_workspace.reader(), session = trial.session, id, number = trial.number](StopToken) -> Expected<Found> {
    if (!reader) return Error(ErrorCode::not_found, "No workspace is open");
    TW_TRY(const std::optional<db::TrialRow> row, reader->trial(session, id, number));
    if (!row) return Error(ErrorCode::not_found, "The trial is not in the workspace", "trial " + std::to_string(number));
    return Found{tr("Trial %1 of session %2").arg(number).arg(session.value), row->record.candidate};
  };
}

ExplainService::Finder ExplainService::findConfig(qint64 index) const {
  return [&engine = m_engine, task = *m_hub.taskValue(), name = space().name, index](StopToken) -> Expected<Found> {
    TW_TRY(records::Candidate candidate, engine.candidateAt(task, name, index));
    return Found{tr("Point %1 of %2, not measured").arg(index).arg(QString::fromStdString(name)), std::move(candidate)};
  };
}

ExplainService::Finder ExplainService::findBest() const {
  return [&engine = m_engine, task = *m_hub.taskValue(), constants = m_hub.constants(), database = m_workspace.reader()](StopToken) -> Expected<Found> {
    if (database) {
      TW_TRY(const std::optional<records::Record> best, database->best(task.key, constants));
      if (best) return Found{tr("Best of all sessions: %1").arg(widgets::secondsText(best->result.decided_s())), best->candidate};
    }
    return Found{tr("Default schedule"), engine.defaultCandidate(task)};
  };
}

ExplainService::Finder ExplainService::findDefault() const {
  return [&engine = m_engine, task = *m_hub.taskValue()](StopToken) -> Expected<Found> { return Found{tr("Default schedule"), engine.defaultCandidate(task)}; };
}

std::function<Expected<ExplainService::Explained>(StopToken)> ExplainService::explaining(Finder finder, Explain explain) const {
  return [&engine = m_engine, model = m_hub.model(), index = m_hub.task(), finder = std::move(finder), explain](StopToken stop) -> Expected<Explained> {
    TW_TRY(Found found, finder(stop));
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Stopped");
    std::vector<int> groups;
    for (size_t g = 0; g < model->taskOfGroup.size(); ++g) {
      if (model->taskOfGroup[g] == index) groups.push_back(static_cast<int>(g));
    }
    api::Explanation explanation = (engine.*explain)(model->tasks[static_cast<size_t>(index)].task, found.candidate.steps, model->network, groups);
    return Explained{std::move(found), std::move(explanation)};
  };
}

void ExplainService::run(const QString& what, Finder finder) {
  m_isPending = true;
  Q_EMIT busy(what);
  m_job.replace(m_jobs.run<Explained>(Lane::work, this, explaining(std::move(finder)), [this](Expected<Explained> result) { show(std::move(result)); }));
}

void ExplainService::runOutline(Finder finder) {
  m_outlineJob.replace(m_jobs.run<Explained>(Lane::work, this, explaining(std::move(finder), &Engine::outline), [this](Expected<Explained> result) {
    if (!result || result->explanation.error) return;  // which the whole explanation says
    widgets::CodeListing listing = listingOf(*result);
    listing.related = linksIn(std::make_shared<const api::Explanation>(std::move(result->explanation)));
    Q_EMIT outlined(listing);
  }));
}

widgets::CodeListing ExplainService::listingOf(const Explained& explained) const {
  const api::Explanation& e = explained.explanation;
  widgets::CodeListing listing;
  listing.title = explained.found.title;
  const records::Task* task = m_hub.taskValue();
  listing.forGpu = task && task->target.gpu;
  if (task) listing.kernel = QString::fromStdString(task->key);
  listing.steps = QString::fromStdString(e.steps);
  for (const schedule::Step& step : explained.found.candidate.steps) {
    const schedule::StepWord& word = schedule::word_of(step);
    listing.stepHelp.push_back(tr("%1: %2\nSource: %3").arg(QLatin1String(word.word), QLatin1String(word.help), QLatin1String(word.source)));
  }
  listing.loops = QString::fromStdString(e.loops);
  listing.tir = QString::fromStdString(e.tir.empty() ? e.lowered : e.tir);
  listing.llvm = QString::fromStdString(e.llvm_ir);
  listing.assembly = QString::fromStdString(e.assembly);
  listing.sass = QString::fromStdString(e.sass);
  listing.merged[widgets::CodeView::Llvm] = mergedLines(e.llvm_ir_line_to_tir_line);
  listing.merged[widgets::CodeView::Assembly] = mergedLines(e.assembly_line_to_tir_line);
  listing.shares[widgets::CodeView::Loops] = e.shares.loops;
  listing.shares[widgets::CodeView::Tir] = e.shares.tir;
  listing.shares[widgets::CodeView::Assembly] = e.shares.assembly;
  listing.sharesSource = QString::fromStdString(e.shares.source);
  if (e.error) listing.error = QString::fromStdString(e.error->text());
  return listing;
}

void ExplainService::show(Expected<Explained> result) {
  m_isPending = false;
  m_outlineJob.stop();
  widgets::CodeListing listing;
  if (!result) {
    m_explanation.reset();
    m_problem = QString::fromStdString(result.error().message);
    listing.error = QString::fromStdString(result.error().text());
    Q_EMIT reasonChanged(m_problem);
    Q_EMIT explained(listing);
    return;
  }
  listing = listingOf(*result);
  m_title = listing.title;
  m_candidate = std::move(result->found.candidate);
  m_explanation = std::make_shared<const api::Explanation>(std::move(result->explanation));
  const api::Explanation& e = *m_explanation;
  listing.related = linksIn(m_explanation);
  if (!m_hub.isConfigEdited()) {
    // The panel shows the space that the candidate is a point of.
    m_wantedSpace = m_candidate.space;
    if (selectSpace(m_candidate.space)) Q_EMIT spaceChanged();
    m_hub.noteConfigIndex(m_candidate.space == space().name || !m_spacesKnown ? m_candidate.index : -1);
  }
  Q_EMIT reasonChanged(e.error ? QString::fromStdString(e.error->message) : QString());
  Q_EMIT explained(listing);
}

std::vector<int> ExplainService::related(const widgets::CodePlace& place, widgets::CodeLanguage to) const {
  return relatedIn(m_explanation.get(), levelOf(place.form), place.line, levelOf(to));
}

std::vector<int> ExplainService::nodesOf(const widgets::CodePlace& place) const {
  return relatedIn(m_explanation.get(), levelOf(place.form), place.line, api::Level::node);
}

std::vector<int> ExplainService::linesOfNode(int node, widgets::CodeLanguage form) const {
  return relatedIn(m_explanation.get(), api::Level::node, node, levelOf(form));
}

}  // namespace tw::app
