// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson_desk.h"

#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QFileInfo>
#include <QStandardPaths>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "app/logs/recorded_space.h"
#include "app/main_window.h"
#include "app/views/code_dock.h"
#include "app/views/operator_view.h"
#include "app/views/tune_view.h"
#include "app/views/why_view.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/space/own/operators.h"
#include "engine/te/source.h"
#include "widgets/tuning/knob_text.h"

namespace tw::app {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// As MeasureService calls sessions of single points.
constexpr const char* kByHand = "hand";

Error refused(const QString& why) { return {ErrorCode::not_applicable, why.toStdString()}; }

/// The form that a listing is, for the target at hand; nothing for one that it has not.
std::optional<widgets::CodeLanguage> formOf(const std::string& name, bool gpu) {
  using L = widgets::CodeLanguage;
  if (name == "steps") return L::steps;
  if (name == "loops") return L::loops;
  if (name == "tir") return L::tir;
  if (name == (gpu ? "cuda" : "llvm")) return L::llvm;
  if (name == (gpu ? "ptx" : "assembly")) return L::assembly;
  return std::nullopt;
}

const std::string& listingOf(const api::Explanation& e, widgets::CodeLanguage form) {
  using L = widgets::CodeLanguage;
  return form == L::steps ? e.steps : form == L::loops ? e.loops : form == L::tir ? e.tir : form == L::llvm ? e.llvm_ir : e.assembly;
}

double partOf(const api::Insight& insight, const char* part) {
  double seconds = 0;
  for (const api::LaunchInsight& l : insight.launches)
    for (const auto& [name, s] : l.parts) seconds += name == part ? s : 0;
  return seconds * 1e6;
}

}  // namespace

LessonDesk::LessonDesk(MainWindow& window) : QObject(&window), m_window(window), m_services(window.services()) {
  connect(&m_services.models, &ModelService::failed, this, [this](const QString& message) { m_failure = message; });
}

bool LessonDesk::is_in_front(const std::string& view) const {
  const auto* dock = m_window.findChild<QDockWidget*>(QStringLiteral("dock.") + QString::fromStdString(view), Qt::FindDirectChildrenOnly);
  return dock && dock->isVisible() && !dock->visibleRegion().isEmpty();
}

std::string LessonDesk::perspective() const { return m_window.perspective().toStdString(); }

int LessonDesk::task() const { return m_services.hub.model() ? m_services.hub.task() + 1 : 0; }

std::string LessonDesk::node() const {
  const SelectionHub& hub = m_services.hub;
  if (!hub.model() || hub.node() < 0) return {};
  const graph::Node& n = hub.model()->network.optimized.nodes[static_cast<size_t>(hub.node())];
  return n.name + " " + n.op;
}

bool LessonDesk::has_trial(bool best) const {
  const auto& store = m_services.trials.store();
  if (!store || m_services.hub.trial() < 0) return false;
  return !best || (!store->improvements().empty() && store->rowOf(m_services.trials.selected()) == store->improvements().back().row);
}

std::optional<lesson::KnobNow> LessonDesk::knob(const std::string& name) const {
  const auto& space = m_services.explain.space().space;
  const qint64 index = m_services.hub.configIndex();
  if (!space || index < 0 || index >= space->size()) return std::nullopt;
  const std::vector<int> positions = space->knob_positions(index);
  for (size_t k = 0; k < positions.size(); ++k) {
    const space::Knob& knob = space->knobs()[k];
    if (knob.name != name) continue;
    const space::KnobValue& value = knob.candidates[static_cast<size_t>(positions[k])];
    return lesson::KnobNow{widgets::valueNumber(knob.kind, value), widgets::knobValueText(knob, value).toStdString()};
  }
  return std::nullopt;
}

std::optional<std::string> LessonDesk::code(const std::string& form) const {
  const auto* task = m_services.hub.taskValue();
  const auto& shown = m_services.explain.explanation();
  if (!task || !shown || m_services.explain.isPending()) return std::nullopt;
  const auto wanted = formOf(form, task->target.gpu.has_value());
  return wanted ? std::optional(listingOf(*shown, *wanted)) : std::nullopt;
}

std::optional<std::string> LessonDesk::place(const std::string& form) const {
  const widgets::CodePlace at = m_services.hub.place();
  const auto* task = m_services.hub.taskValue();
  if (at.isNull() || !task || formOf(form, task->target.gpu.has_value()) != at.form) return std::nullopt;
  const auto text = code(form);
  if (!text) return std::nullopt;
  const auto lines = split_lines(*text);
  return at.line < static_cast<int>(lines.size()) ? std::optional(std::string(lines[static_cast<size_t>(at.line)])) : std::nullopt;
}

std::optional<std::string> LessonDesk::edited_loops() const {
  const auto* view = m_window.findChild<OperatorView*>();
  return view && view->isRight() ? std::optional(view->loops().toStdString()) : std::nullopt;
}

double LessonDesk::fact(const std::string& name) const {
  for (const double value : {trialFact(name), networkFact(name), kernelFact(name)})
    if (!std::isnan(value)) return value;
  return kUnknown;
}

double LessonDesk::trialFact(const std::string& name) const {
  const SelectionHub& hub = m_services.hub;
  if (!hub.model()) return kUnknown;
  if (name == "compared") return static_cast<double>(hub.comparedSessions().size());
  int ended = 0;
  std::set<SessionId> byHand;
  std::set<std::string> tuners;
  for (const db::SessionRow& s : m_services.workspace.sessions()) {
    if (s.model != hub.model()->id) continue;
    ended += s.state == "done" && s.started_s >= m_since_s ? 1 : 0;
    if (s.tuner == kByHand) byHand.insert(s.id);
    if (std::find(hub.comparedSessions().begin(), hub.comparedSessions().end(), s.id) != hub.comparedSessions().end()) tuners.insert(s.tuner);
  }
  if (name == "sessions") return ended;
  if (name == "tuners") return static_cast<double>(tuners.size());
  const auto& store = m_services.trials.store();
  if (name == "trials" || name == "failures" || name == "by-hand") {
    int trials = 0, failed = 0, hand = 0;
    for (int row = 0; store && row < store->size(); ++row) {
      if (store->timestamp(row) < m_since_s) continue;
      ++trials;
      failed += store->ok(row) ? 0 : 1;
      hand += byHand.contains(store->session(row)) ? 1 : 0;
    }
    return name == "trials" ? trials : name == "failures" ? failed : hand;
  }
  if (!store) return kUnknown;
  if (store->improvements().empty()) return kUnknown;
  const double best = store->improvements().back().seconds;
  if (name == "speedup") {
    const double before = m_services.tasks.defaultSeconds(hub.task(), m_services.trials.kind());
    return before > 0 ? before / best : kUnknown;
  }
  const int row = store->rowOf(m_services.trials.selected());
  if (row < 0 || !store->timed(row)) return kUnknown;
  if (name == "trial-gain") return store->seconds(store->improvements().front().row) / store->seconds(row);
  if (name == "percent-of-best") return 100 * best / store->seconds(row);
  return kUnknown;
}

double LessonDesk::networkFact(const std::string& name) const {
  const OpenModelPtr& model = m_services.hub.model();
  if (!model) return kUnknown;
  const Target& target = m_services.hub.taskValue() ? m_services.hub.taskValue()->target : model->target;
  if (name == "lanes") return target.vector_bits / 32.0;
  if (name == "cores") return target.cores;
  if (name == "l1-kib") return static_cast<double>(target.l1d_bytes) / 1024;
  if (name == "l2-kib") return static_cast<double>(target.l2_bytes) / 1024;
  if (!model->isWhole) return kUnknown;
  if (name == "nodes") return static_cast<double>(model->network.optimized.nodes.size());
  if (name == "imported-nodes") return static_cast<double>(model->network.imported.nodes.size());
  if (name == "kernels") return static_cast<double>(model->network.partition.groups.size());
  if (name == "tasks") return static_cast<double>(model->tasks.size());
  const auto& built = m_services.build.built();
  if (!built || built->model != model) return kUnknown;
  const runtime::Executable& e = built->executable;
  if (name == "built-kernels") return static_cast<double>(e.calls.size());
  if (name == "arena-bytes") return static_cast<double>(e.arena_bytes);
  if (name == "alive-bytes") return static_cast<double>(e.live_bytes);
  if (name == "unplanned-bytes") return static_cast<double>(e.unplanned_bytes);
  return kUnknown;
}

double LessonDesk::kernelFact(const std::string& name) const {
  const auto* task = m_services.hub.taskValue();
  if (!task) return kUnknown;
  if (name == "gflop") return static_cast<double>(task->flops) / 1e9;
  if (name == "points") return m_services.explain.space().space ? static_cast<double>(m_services.explain.space().space->size()) : kUnknown;
  const auto* why = m_window.findChild<WhyView*>(QStringLiteral("view.why"));
  const api::Insight* insight = why && !m_services.explain.isPending() ? why->insight() : nullptr;
  if (!insight) return kUnknown;
  if (name == "intensity") return insight->compulsory_bytes > 0 ? insight->flops / insight->compulsory_bytes : kUnknown;
  if (insight->launches.empty()) return kUnknown;
  const api::LaunchInsight& first = insight->launches.front();
  if (name == "threads") return static_cast<double>(first.threads);
  if (name == "blocks") return static_cast<double>(first.blocks);
  if (name == "shared-bytes") return static_cast<double>(first.shared_bytes);
  if (name == "occupancy") return 100 * first.occupancy;
  if (name == "launch-us") {
    double seconds = 0;
    for (const api::LaunchInsight& l : insight->launches) seconds += l.seconds;
    return seconds * 1e6;
  }
  if (name == "shared-us") return partOf(*insight, "shared memory");
  if (name == "memory-us") return partOf(*insight, "memory");
  return kUnknown;
}

void LessonDesk::begin(double since_s) {
  m_since_s = since_s;
  m_targetBefore.reset();
}

void LessonDesk::putBack() {
  m_job.stop();
  m_isEntering = false;
  m_wanted = {};
  if (m_targetBefore) m_window.setTarget(*std::exchange(m_targetBefore, std::nullopt));
}

void LessonDesk::setTarget(const Target& target) {
  const Target before = m_services.engine.target();
  if (before.str() == target.str()) return;
  if (!m_targetBefore) m_targetBefore = before;
  m_window.setTarget(target);
}

Expected<bool> LessonDesk::perform(const lesson::Line& action, const lesson::Lesson& of, const QString& file, bool isNew) {
  const std::string verb = action.word->name;
  const Arguments& a = action.arguments;
  if (verb.starts_with("open ")) return isNew ? open(verb, a, of, file) : isOpen();
  if (verb == "target") {
    TW_TRY(const Target target, measure::target_named(a[0]));
    setTarget(target);
    return true;
  }
  if (verb == "edit text") {
    if (!isNew) return false;  // the question below is open
    auto* view = m_window.findChild<OperatorView*>();
    const QString text = QString::fromStdString(of.texts.at(a[0])), name = QString::fromStdString(a[0]);
    m_services.actions.get(QStringLiteral("file.operator"))->trigger();
    // What was changed in a lesson's own text was an exercise.
    if (view->name() != m_ownText && !view->mayReplace()) return refused(tr("The text that you are editing stays"));
    view->setText(text, m_ownText = name, {});
    return true;
  }
  if (verb == "perspective") {
    m_window.setPerspective(QString::fromStdString(a[0]));
    return true;
  }
  if (verb == "view") {
    m_window.raiseView(a[0].c_str());
    return true;
  }
  // What was selected just now is shown a moment later.
  if (isNew && (verb == "measure" || verb == "place")) return false;
  if (verb == "tune" || verb == "race" || verb == "measure" || verb == "build") return tune(verb, a, isNew);
  if (!m_services.hub.model()) return refused(tr("No network is open"));
  if (!m_services.hub.model()->isWhole) return false;
  return select(verb, a);
}

Expected<bool> LessonDesk::open(const std::string& verb, const Arguments& a, const lesson::Lesson& of, const QString& file) {
  if (m_services.tuning.isActive()) return refused(tr("A session is running"));
  m_failure.clear();
  if (verb == "open network") {
    m_window.openZoo(QString::fromStdString(a[0]), a.size() > 1);
    return false;
  }
  if (verb == "open file") {
    const QFileInfo folder(QFileInfo(file).absolutePath());
    const QFileInfo wanted(folder.filePath() + QLatin1Char('/') + QString::fromStdString(a[0]));
    // A link could lead out of the folder.
    if (!wanted.isFile() || QFileInfo(wanted.canonicalFilePath()).absolutePath() != folder.canonicalFilePath()) return refused(tr("The lesson's folder has no file %1").arg(wanted.fileName()));
    m_window.openFile(wanted.filePath());
    return false;
  }
  if (verb == "open space") return openSpace(a[0]);
  if (verb == "open text") return openText(of.texts.at(a[0]), a[0], of);
  const space::own::Operator* op = space::own::find_operator(a[0]);
  if (!op) return refused(tr("There is no bundled operator %1").arg(QString::fromStdString(a[0])));
  std::vector<int64_t> sizes;
  for (size_t i = 1; i < a.size(); ++i) sizes.push_back(QString::fromStdString(a[i]).toLongLong());
  TW_TRY(const std::string text, te::with_args(op->text, sizes, std::nullopt));
  return openText(text, a[0], of);
}

Expected<bool> LessonDesk::openText(const std::string& text, const std::string& name, const lesson::Lesson& of) {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/lessons/") + QString::fromStdString(of.id);
  if (!QDir().mkpath(folder)) return refused(tr("The folder %1 cannot be created").arg(folder));
  const QString path = folder + QLatin1Char('/') + QString::fromStdString(name) + QStringLiteral(".te");
  TW_CHECK(write_file(path.toStdString(), kAnyOutput, text));
  m_window.openFile(path);
  return false;
}

Expected<bool> LessonDesk::openSpace(const std::string& name) {
  if (!m_services.workspace.isWritable()) return refused(tr("No workspace is open for writing"));
  TW_TRY(const std::string file, logs::space_file(std::string(logs::kSpaceByName) + name));
  struct Entered {
    ModelId model;
    Target target;
  };
  m_isEntering = true;
  const auto work = [file, database = m_services.workspace.database()](StopToken stop) -> Expected<Entered> {
    TW_TRY(const logs::RecordedSpace space, logs::read_recorded_space(file));
    TW_TRY(const logs::EnteredSpace entered, logs::enter_recorded_space(*database, space, Json::object(), stop));
    return Entered{entered.model, space.task.target};
  };
  m_job.replace(m_services.jobs.run<Entered>(Lane::work, this, work, [this](Expected<Entered> entered) {
    m_isEntering = false;
    if (!entered) {
      m_failure = QString::fromStdString(entered.error().text());
      return;
    }
    setTarget(entered->target);
    m_wanted = entered->model;
    m_services.workspace.refreshSessions();
  }));
  return false;
}

Expected<bool> LessonDesk::isOpen() {
  if (!m_failure.isEmpty()) return refused(std::exchange(m_failure, {}));
  if (m_isEntering || m_services.models.isBusy()) return false;
  if (m_wanted) {
    const auto& models = m_services.workspace.models();
    if (std::none_of(models.begin(), models.end(), [&](const db::ModelRow& m) { return m.id == m_wanted; })) return false;
    m_services.models.openStored(std::exchange(m_wanted, ModelId()));
    return false;
  }
  const OpenModelPtr& model = m_services.hub.model();
  return model && model->isWhole && (model->tasks.empty() || m_services.explain.spacesKnown());
}

Expected<bool> LessonDesk::select(const std::string& verb, const Arguments& a) {
  SelectionHub& hub = m_services.hub;
  const OpenModelPtr& model = hub.model();
  if (verb == "columns") {
    widgets::CodeView* view = m_window.codeDock().code();
    std::set<int> wanted;
    for (const std::string& form : a)
      for (const bool gpu : {false, true})
        if (const auto of = formOf(form, gpu)) wanted.insert(widgets::CodeView::columnOf(*of));
    for (int column = 0; column < widgets::CodeView::ColumnCount; ++column) view->setColumnVisible(static_cast<widgets::CodeView::Column>(column), wanted.contains(column));
    return true;
  }
  if (verb == "graph") {
    static constexpr const char* kShown[] = {"fused", "blocks", "optimized", "imported"};
    m_window.findChild<QComboBox*>(QStringLiteral("combo.graph.shown"))->setCurrentIndex(static_cast<int>(std::find(std::begin(kShown), std::end(kShown), a[0]) - std::begin(kShown)));
    return true;
  }
  if (verb == "node") {
    const auto& nodes = model->network.optimized.nodes;
    for (size_t n = 0; n < nodes.size(); ++n)
      if ((nodes[n].name + " " + nodes[n].op).find(a[0]) != std::string::npos) return hub.setNode(static_cast<int>(n)), true;
    return refused(tr("The graph has no node %1").arg(QString::fromStdString(a[0])));
  }
  if (verb == "task") {
    const int task = QString::fromStdString(a[0]).toInt();
    if (task < 1 || task > static_cast<int>(model->tasks.size())) return refused(tr("The network has no task %1").arg(task));
    hub.setTask(task - 1);
    return true;
  }
  if (!m_services.explain.spacesKnown()) return false;
  if (verb == "trial") {
    if (a[0] == "none") return hub.setTrial(-1), true;
    if (m_services.trials.isLoading() || !m_services.trials.store()) return false;
    m_services.trials.chooseBest();
    return true;
  }
  if (verb == "knob") return turnKnob(a);
  if (verb == "base") {
    hub.setCodeBase({a[0] == "default" ? CodeBase::Kind::defaultSchedule : a[0] == "best" ? CodeBase::Kind::best : CodeBase::Kind::none, {}});
    return true;
  }
  if (verb == "point") {
    const Engine::Space& space = m_services.explain.space();
    if (!space.space) return refused(tr("The task has no space"));
    const qint64 point = a[0] == "default" ? m_services.engine.pointByRule(*hub.taskValue(), space.name) : QString::fromStdString(a[0]).toLongLong();
    if (point < 0 || point >= space.space->size()) return refused(tr("The space has no point %1").arg(QString::fromStdString(a[0])));
    hub.setConfigIndex(point);
    return true;
  }
  // A place in the listing.
  const auto text = code(a[0]);
  if (!text) return m_services.explain.isPending() || m_services.explain.problem().isEmpty() ? Expected<bool>(false) : refused(m_services.explain.problem());
  const auto lines = split_lines(*text);
  for (size_t i = 0; i < lines.size(); ++i)
    if (lesson::has_any(lines[i], a[1])) {
      hub.setPlace({*formOf(a[0], hub.taskValue()->target.gpu.has_value()), static_cast<int>(i)});
      return true;
    }
  return refused(tr("The listing has no line with %1").arg(QString::fromStdString(a[1])));
}

Expected<bool> LessonDesk::turnKnob(const Arguments& a) {
  SelectionHub& hub = m_services.hub;
  const Engine::Space& space = m_services.explain.space();
  if (!space.space) return refused(tr("The task has no space"));
  qint64 index = hub.configIndex();
  if (index < 0) index = m_services.engine.pointByRule(*hub.taskValue(), space.name);
  std::vector<int> positions = space.space->knob_positions(std::max<qint64>(index, 0));
  for (size_t k = 0; k < positions.size(); ++k) {
    const space::Knob& knob = space.space->knobs()[k];
    if (knob.name != a[0]) continue;
    bool isNumber = false;
    const double number = QString::fromStdString(a[1]).toDouble(&isNumber);
    for (size_t v = 0; v < knob.candidates.size(); ++v) {
      const auto value = widgets::valueNumber(knob.kind, knob.candidates[v]);
      if (!(isNumber && value == number) && widgets::knobValueText(knob, knob.candidates[v]).toStdString() != a[1]) continue;
      positions[k] = static_cast<int>(v);
      hub.setConfigIndex(space.space->index_of(positions));
      return true;
    }
    return refused(tr("The knob %1 has no value %2").arg(QString::fromStdString(a[0]), QString::fromStdString(a[1])));
  }
  return refused(tr("The space has no knob %1").arg(QString::fromStdString(a[0])));
}

Expected<bool> LessonDesk::tune(const std::string& verb, const Arguments& a, bool isNew) {
  if (verb == "build") {
    QAction* build = m_services.actions.get(QStringLiteral("build.network"));
    if (!isNew) return !m_services.build.isActive();
    if (!build->isEnabled()) return refused(ActionRegistry::whyNotOf(build));
    build->trigger();
    return false;
  }
  if (verb == "measure") {
    // The button knows when a point can be measured; what it measures is the trial that is shown then.
    auto* button = m_window.findChild<QToolButton*>(QStringLiteral("button.space.measure"));
    if (!button || !button->isEnabled()) {
      if (m_services.explain.isPending() || m_services.explain.problem().isEmpty()) return false;
      return refused(m_services.explain.problem());
    }
    button->click();
    return true;
  }
  if (!isNew) return !m_services.tuning.isActive() && !m_services.race.isActive();
  QAction* start = m_services.actions.get(verb == "race" ? QStringLiteral("tune.race") : QStringLiteral("tune.task"));
  if (!start->isEnabled()) return refused(ActionRegistry::whyNotOf(start));
  tune::SessionOptions options = m_window.tuneView().options();
  options.trials_per_task = 0;
  const auto number = [&](size_t i) { return QString::fromStdString(a[i]).toLongLong(); };
  if (verb == "race") {
    options.trials = number(0);
    options.seed = 1;
    m_services.race.start({m_services.hub.model(), {m_services.hub.task()}, {a.begin() + 2, a.end()}, static_cast<int>(number(1)), options, {}});
    return false;
  }
  options.tuner = a[0];
  options.trials = number(1);
  options.seed = a.size() > 2 ? static_cast<uint64_t>(number(2)) : 1;
  m_window.tuneView().setOptions(options);
  start->trigger();
  return false;
}

}  // namespace tw::app
