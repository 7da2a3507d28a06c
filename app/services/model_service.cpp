// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/model_service.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QPointer>
#include <QSettings>
#include <QStandardPaths>
#include <QUrl>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "engine/base/file.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/frontends/size_texts.h"
#include "engine/graph/expression.h"
#include "widgets/graph/task_title.h"

namespace tw::app {
namespace {

/// Which group computes each node and which task each group belongs to.
void indexGroups(OpenModel& model) {
  const graph::Partition& partition = model.network.partition;
  model.groupOfNodes.assign(model.network.optimized.nodes.size(), -1);
  for (size_t g = 0; g < partition.groups.size(); ++g) {
    for (const int node : partition.groups[g].nodes) model.groupOfNodes[static_cast<size_t>(node)] = static_cast<int>(g);
  }
  std::map<std::string, int> taskOfDag;
  for (size_t t = 0; t < model.tasks.size(); ++t) taskOfDag.emplace(te::structural_key(*model.tasks[t].task.dag), static_cast<int>(t));
  model.taskOfGroup.assign(partition.groups.size(), -1);
  for (const auto& workload : partition.workloads) {
    const auto it = taskOfDag.find(workload.key);
    for (const int g : workload.groups) model.taskOfGroup[static_cast<size_t>(g)] = it == taskOfDag.end() ? -1 : it->second;
  }
  for (size_t t = 0; t < model.tasks.size(); ++t) {
    const auto group = std::find(model.taskOfGroup.begin(), model.taskOfGroup.end(), static_cast<int>(t));
    model.titles << (group == model.taskOfGroup.end()
                         ? QString::fromStdString(model.tasks[t].task.name)
                         : widgets::taskTitle(model.network.optimized, partition.groups[static_cast<size_t>(group - model.taskOfGroup.begin())].nodes));
  }
}

Json summaryOf(const OpenModel& model) {
  double flops = 0;
  for (const auto& t : model.tasks) flops += static_cast<double>(t.task.flops) * t.weight;
  Json summary{{"operators", model.network.imported.nodes.size()}, {"parameters", model.network.imported.parameter_count()}, {"flops", flops}};
  if (const std::string* text = graph::text_of(model.network.imported)) summary["text"] = *text;
  return summary;
}

Expected<void> enter(OpenModel& model, db::Database& database) {
  TW_TRY(model.id, database.put_model(model.name.toStdString(), model.path.toStdString(), model.network.content_key, summaryOf(model)));
  for (const auto& t : model.tasks) {
    TW_TRY(const TaskId id, database.put_task(t.task));
    TW_CHECK(database.link_task(model.id, id, t.weight, t.constants));
    model.taskIds.push_back(id);
  }
  return {};
}

/// What a workspace that is only read knows of the model: its rows stay without ids where it knows nothing.
Expected<void> find(OpenModel& model, db::Database& database) {
  TW_TRY(const auto models, database.models());
  const auto stored = std::find_if(models.begin(), models.end(), [&](const db::ModelRow& m) { return m.content_key == model.network.content_key; });
  if (stored == models.end()) return {};
  model.id = stored->id;
  for (const auto& t : model.tasks) {
    TW_TRY(const auto row, database.task_by_key(t.task.key));
    model.taskIds.push_back(row ? row->id : TaskId());
  }
  return {};
}

constexpr const char* kPreparationKey = "preparation";
/// Where the sizes that a file was opened with are kept; slashes would make folders of it.
QString sizesKey(const QString& path) { return QStringLiteral("sizes/") + QString::fromLatin1(QUrl::toPercentEncoding(QFileInfo(path).absoluteFilePath())); }

std::map<std::string, int64_t> rememberedSizes(const QString& path) {
  std::map<std::string, int64_t> out;
  for (const QString& text : QSettings().value(sizesKey(path)).toStringList()) {
    if (const auto size = frontends::size_from_text(text.toStdString())) out.insert(*size);
  }
  return out;
}

/// Which build of the program is running, and which file that is: one that took its place is another. Empty without a file.
QByteArray stampOf(const QString& path) {
  struct stat info {};
  if (::stat(QFile::encodeName(path).constData(), &info) != 0) return {};
  const QFileInfo program(QCoreApplication::applicationFilePath());
  return QByteArray(TW_VERSION) + ' ' + program.fileName().toUtf8() + ' ' + program.lastModified().toString(Qt::ISODateWithMs).toUtf8() + ' ' +
         QByteArray::number(static_cast<quint64>(info.st_ino));
}
QString stampPath(const QString& path) { return path + QStringLiteral(".by"); }

constexpr const char* kTiny = "-tiny";
constexpr const char* kBatch = "-batch";
constexpr const char* kBatchSize = "batch";  ///< as SizesDialog shows and returns it

QString zooLabel(const QString& name, bool tiny, int64_t batch = 1) {
  return name + (tiny ? QLatin1String(kTiny) : QLatin1String()) + (batch > 1 ? QLatin1String(kBatch) + QString::number(batch) : QString());
}
/// Bundled networks are written once.
QString zooPath(const QString& label) { return QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/zoo/%1.onnx").arg(label); }

/// What zooPath and zooLabel made a path of.
struct ZooChoice {
  QString name;
  bool tiny = false;
  int64_t batch = 1;
};
std::optional<ZooChoice> zooChoiceOf(const QString& path) {
  ZooChoice choice{QFileInfo(path).completeBaseName()};
  if (const qsizetype at = choice.name.indexOf(QLatin1String(kBatch)); at > 0) choice.batch = choice.name.mid(at + qstrlen(kBatch)).toLongLong(), choice.name.truncate(at);
  choice.tiny = choice.name.endsWith(QLatin1String(kTiny));
  if (choice.tiny) choice.name.chop(qstrlen(kTiny));
  return path == zooPath(zooLabel(choice.name, choice.tiny, choice.batch)) ? std::optional(choice) : std::nullopt;
}
constexpr int64_t kMostBatch = 64;
QString openingKey(const QString& label) { return QStringLiteral("opening/") + label; }

}  // namespace

ModelService::ModelService(Engine& engine, JobRunner& jobs, Workspace& workspace, QObject* parent)
    : QObject(parent), m_engine(engine), m_jobs(jobs), m_workspace(workspace) {
  m_engine.setPreparation(preparation());
}

Json ModelService::preparation() const {
  const auto kept = parse_json(QSettings().value(QLatin1String(kPreparationKey)).toString().toStdString());
  return kept ? *kept : Json();
}

void ModelService::prepare(const Json& choices) {
  QSettings().setValue(QLatin1String(kPreparationKey), QString::fromStdString(dump_json(choices)));
  m_engine.setPreparation(choices);
}

void ModelService::openFile(const QString& path) {
  m_busy = true;
  Q_EMIT busyChanged(tr("Opening %1").arg(QFileInfo(path).fileName()));
  using OpenSizes = std::vector<frontends::OpenSize>;
  const auto work = [&engine = m_engine, file = path.toStdString()](StopToken) { return engine.openSizes(file); };
  m_sizesJob.replace(m_jobs.run<OpenSizes>(Lane::work, this, work, [this, path](Expected<OpenSizes> sizes) {
    const auto isAskedFor = [](const frontends::OpenSize& s) { return !s.is_input; };
    if (!sizes || std::none_of(sizes->begin(), sizes->end(), isAskedFor)) return openSized(path, sizes && !sizes->empty() ? rememberedSizes(path) : std::map<std::string, int64_t>());  // what is wrong with the file, its import says
    finish();
    Q_EMIT sizesWanted(path, *sizes, rememberedSizes(path));
  }));
}

void ModelService::askSizes(const QString& path) {
  if (const auto zoo = zooChoiceOf(path))
    return Q_EMIT sizesWanted(path, {{.name = kBatchSize, .places = {kBatchSize}, .most = kMostBatch}}, {{kBatchSize, zoo->batch}});
  using OpenSizes = std::vector<frontends::OpenSize>;
  const auto work = [&engine = m_engine, file = path.toStdString()](StopToken) { return engine.openSizes(file); };
  m_sizesJob.replace(m_jobs.run<OpenSizes>(Lane::work, this, work, [this, path](Expected<OpenSizes> sizes) {
    const QString name = QFileInfo(path).fileName();
    if (!sizes) return Q_EMIT failed(tr("%1 cannot be read: %2").arg(name, QString::fromStdString(sizes.error().message)), QString::fromStdString(sizes.error().text()));
    if (sizes->empty()) return Q_EMIT failed(tr("%1 leaves no sizes open: its batch is part of the file").arg(name), QString());
    Q_EMIT sizesWanted(path, *sizes, rememberedSizes(path));
  }));
}

void ModelService::openSized(const QString& path, const std::map<std::string, int64_t>& sizes) {
  if (const auto batch = sizes.find(kBatchSize); batch != sizes.end())
    if (const auto zoo = zooChoiceOf(path)) return openZoo(zoo->name, zoo->tiny, batch->second);
  const QFileInfo info(path);
  QStringList texts;
  for (const auto& [name, value] : sizes) texts << QStringLiteral("%1=%2").arg(QString::fromStdString(name)).arg(value);
  if (!texts.isEmpty()) QSettings().setValue(sizesKey(path), texts);
  run(
      tr("Opening %1").arg(info.fileName()), [file = path.toStdString()](const Stage&) -> Expected<std::string> { return file; }, info.completeBaseName(), sizes);
}

ModelService::ZooFile ModelService::zooFile(const QString& name, bool tiny) {
  const QString label = zooLabel(name, tiny);
  return {QFileInfo(zooPath(label)).size(), QSettings().value(openingKey(label)).toDouble()};
}

void ModelService::openZoo(const QString& name, bool tiny, int64_t batch) {
  const QString label = zooLabel(name, tiny, batch);
  QElapsedTimer timer;
  timer.start();
  connect(
      this, &ModelService::graphRead, this,
      [label, timer](const OpenModelPtr& begun) {
        if (begun->path == zooPath(label)) QSettings().setValue(openingKey(label), static_cast<double>(timer.elapsed()) / 1e3);
      },
      Qt::SingleShotConnection);
  const auto write = [self = QPointer<ModelService>(this), &engine = m_engine, name = name.toStdString(), choice = frontends::ZooOptions{.tiny = tiny, .batch = batch},
                      path = zooPath(label)](const Stage& stage) -> Expected<std::string> {
    const QString folder = QFileInfo(path).path();
    if (!QDir().mkpath(folder)) return Error(ErrorCode::io_error, "The folder of bundled networks cannot be created", folder.toStdString());
    // A large network takes seconds to write: what this build of the program wrote is there still.
    const QByteArray stamp = stampOf(path);
    QFile written(stampPath(path));
    if (!stamp.isEmpty() && written.open(QIODevice::ReadOnly) && written.readAll() == stamp) return path.toStdString();
    written.close();
    written.remove();
    stage(tr("writing its file with seeded weights"));
    TW_CHECK(engine.writeZooModel(name, choice, path.toStdString()));
    QMetaObject::invokeMethod(qApp, [self, path] { if (self) self->keepZooFile(path); }, Qt::QueuedConnection);
    return path.toStdString();
  };
  run(tr("Opening %1").arg(label), write, label);
}

void ModelService::keepZooFile(const QString& path) {
  const auto work = [path](StopToken) -> Expected<bool> {
    const QByteArray stamp = stampOf(path);
    TW_CHECK(sync_file(path.toStdString()));
    QFile written(stampPath(path));
    return written.open(QIODevice::WriteOnly) && written.write(stamp) == stamp.size();
  };
  m_jobs.run<bool>(Lane::network, this, work, [](const Expected<bool>&) {});  // without its stamp it is written again
}

void ModelService::run(const QString& what, std::function<Expected<std::string>(const Stage&)> file, const QString& name, const std::map<std::string, int64_t>& sizes) {
  const auto work = [self = QPointer<ModelService>(this), &engine = m_engine, file = std::move(file), name, sizes, database = m_workspace.database()](StopToken stop) -> Expected<OpenModelPtr> {
    // What comes before the end is told as long as no other file is being opened.
    const auto tell = [&](const std::function<void(ModelService&)>& say) {
      QMetaObject::invokeMethod(qApp, [self, stop, say] { if (self && !stop.stop_requested()) say(*self); }, Qt::QueuedConnection);
    };
    const auto stage = [&](const QString& text, int done = 0, int total = 0) { tell([=](ModelService& s) { Q_EMIT s.progressed(text, done, total); }); };
    TW_TRY(const std::string path, file([&](const QString& text) { stage(text); }));
    stage(tr("reading and simplifying"));
    auto begun = std::make_shared<OpenModel>();
    begun->name = name;
    begun->path = QString::fromStdString(path);
    begun->target = engine.target();
    begun->isWhole = false;
    TW_TRY(begun->network, engine.import(path, begun->target, sizes));
    indexGroups(*begun);
    tell([begun](ModelService& s) { Q_EMIT s.graphRead(begun); });
    auto model = std::make_shared<OpenModel>(*begun);
    model->isWhole = true;
    const double start = clock_now_s(CLOCK_MONOTONIC);
    model->tasks = engine.tasks(model->network, model->target, [&](int done, int total) {
      stage(tr("making tasks: %1 of %2").arg(done).arg(total), done, total);
      return !stop.stop_requested();
    });
    model->extractSeconds = clock_now_s(CLOCK_MONOTONIC) - start;
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Opening was cancelled");
    indexGroups(*model);
    stage(tr("looking for what the workspace knows of it"));
    if (database) TW_CHECK(database->mode() == db::Mode::read_write ? enter(*model, *database) : find(*model, *database));
    return OpenModelPtr(model);
  };
  runJob(what, name, work);
}

void ModelService::runJob(const QString& what, const QString& name, std::function<Expected<OpenModelPtr>(StopToken)> work) {
  m_busy = true;
  Q_EMIT busyChanged(what);
  m_job.replace(m_jobs.run<OpenModelPtr>(Lane::work, this, work, [this, name](Expected<OpenModelPtr> result) {
    finish();
    if (result)
      Q_EMIT opened(*result);
    else
      Q_EMIT failed(tr("%1 cannot be opened: %2").arg(name, QString::fromStdString(result.error().message)), QString::fromStdString(result.error().text()));
  }));
}

void ModelService::openText(const QString& path, const QString& key, const std::string& text) {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/operators/") + key;
  const auto file = [path, folder, text](const Stage&) -> Expected<std::string> {
    if (const auto now = read_file(path.toStdString()); now && *now == text) return path.toStdString();
    if (!QDir().mkpath(folder)) return Error(ErrorCode::io_error, "The folder of stored computations cannot be created", folder.toStdString());
    const std::string copy = (folder + QLatin1Char('/') + QFileInfo(path).fileName()).toStdString();
    TW_CHECK(write_file(copy, kAnyOutput, text));
    return copy;
  };
  const QFileInfo info(path);
  run(tr("Opening %1").arg(info.fileName()), file, info.completeBaseName());
}

void ModelService::openStored(ModelId id) {
  const auto& models = m_workspace.models();
  const auto row = std::find_if(models.begin(), models.end(), [id](const db::ModelRow& m) { return m.id == id; });
  if (row != models.end() && !row->summary.contains("log")) {
    const QString path = QString::fromStdString(row->path);
    if (const auto text = row->summary.find("text"); text != row->summary.end() && text->is_string()) return openText(path, QString::fromStdString(row->content_key), text->get<std::string>());
    // A bundle knows the names of files alone, and another file may have one of them.
    if (!m_workspace.isBundle() && (QFileInfo::exists(path) || zooChoiceOf(path))) {
      const auto sizes = rememberedSizes(path);
      return sizes.empty() ? openFile(path) : openSized(path, sizes);
    }
  }
  const auto work = [&engine = m_engine, id, reader = m_workspace.reader()](StopToken) -> Expected<OpenModelPtr> {
    if (!reader) return Error(ErrorCode::not_found, "No workspace is open");
    TW_TRY(const auto known, reader->models());
    const auto stored = std::find_if(known.begin(), known.end(), [id](const db::ModelRow& m) { return m.id == id; });
    if (stored == known.end()) return Error(ErrorCode::not_found, "The workspace has no such model");
    auto model = std::make_shared<OpenModel>();
    model->name = QString::fromStdString(stored->name);
    model->path = QString::fromStdString(stored->path);
    model->target = engine.target();
    model->id = id;
    TW_TRY(const auto rows, reader->tasks_of(id));
    double flops = 0;
    for (const db::ModelTaskRow& r : rows) flops += static_cast<double>(r.task.flops) * r.weight;
    for (const db::ModelTaskRow& r : rows) {
      api::NetworkTask t;
      t.task.key = r.task.key, t.task.name = r.task.name, t.task.flops = r.task.flops, t.task.target = model->target;
      if (!r.task.dag_text.empty()) {
        TW_TRY(t.task.dag, te::parse_dag(r.task.dag_text));
        TW_TRY(t.task.target, parse_target(r.task.target));
        const std::vector<Engine::Space> spaces = engine.spaces(t.task);
        t.space = spaces.empty() ? "default" : spaces.front().name;
        t.space_size = spaces.empty() ? 1 : spaces.front().space->size();
      }
      t.weight = r.weight;
      t.constants = r.weights;
      t.flops_share = flops > 0 ? static_cast<double>(r.task.flops) * r.weight / flops : 0;
      model->titles << QString::fromStdString(t.task.name);
      model->tasks.push_back(std::move(t));
      model->taskIds.push_back(r.task.id);
    }
    return OpenModelPtr(model);
  };
  runJob(tr("Opening stored tasks"), tr("The workspace"), work);
}

void ModelService::finish() {
  m_busy = false;
  Q_EMIT busyChanged(QString());
}

void ModelService::cancel() {
  m_sizesJob.stop();
  m_job.stop();
  if (!m_busy) return;
  finish();
  Q_EMIT cancelled();
}

}  // namespace tw::app
