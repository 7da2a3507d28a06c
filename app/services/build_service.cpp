// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/build_service.h"

#include <QFileInfo>
#include <QSettings>
#include <algorithm>

#include "engine/api/c_export.h"
#include "engine/base/clock.h"
#include "engine/base/output_folder.h"

namespace tw::app {
namespace {
constexpr const char* kRepeatKey = "build/repeat";
}

BuildService::BuildService(Engine& engine, Workspace& workspace, JobBoard& board, QObject* parent)
    : QObject(parent), m_engine(engine), m_workspace(workspace), m_board(board) {
  m_repeat = std::clamp(QSettings().value(QLatin1String(kRepeatKey), m_repeat).toInt(), 1, kMostRuns);
}

void BuildService::build(const OpenModelPtr& model) {
  if (isActive() || !model) return;
  m_boardJob = m_board.begin(tr("Building %1").arg(model->name), [this] { stop(); });
  Q_EMIT changed();
  const auto work = [&engine = m_engine, database = m_workspace.database(), model](StopToken stop) -> Expected<std::shared_ptr<const Built>> {
    auto built = std::make_shared<Built>();
    const double begun = unix_now_s();
    api::CompileOptions options;
    options.stop = stop;
    options.notes = &built->notes;
    options.symbols = api::c_identifier(model->name.toStdString());
    TW_TRY(built->executable, engine.compile(model->network, model->target, database.get(), options));
    built->model = model, built->seconds = unix_now_s() - begun;
    return std::shared_ptr<const Built>(built);
  };
  m_job.replace(m_workspace.jobs().run<std::shared_ptr<const Built>>(Lane::network, this, work, [this](Expected<std::shared_ptr<const Built>> built) {
    const int job = std::exchange(m_boardJob, 0);
    if (!built) {
      const QString why = QString::fromStdString(built.error().text());
      m_board.end(job, JobBoard::Outcome::failed, why);
      Q_EMIT failed(tr("The network cannot be built: %1").arg(why));
      return Q_EMIT changed();
    }
    m_board.end(job, JobBoard::Outcome::done);
    stopRun();
    m_built = *std::move(built);
    m_ran.reset();
    Q_EMIT changed();
  }));
}

void BuildService::run() {
  if (isRunning() || !m_built) return;
  m_runJob = m_board.begin(tr("Running %1").arg(m_built->model->name), [this] { stopRun(); });
  Q_EMIT changed();
  const auto work = [&engine = m_engine, built = m_built, repeat = m_repeat](StopToken stop) { return engine.runBuilt(built->executable, repeat, stop); };
  m_running.replace(m_workspace.jobs().run<NetworkRun>(Lane::network, this, work, [this](Expected<NetworkRun> ran) {
    const int job = std::exchange(m_runJob, 0);
    if (!ran) {
      const QString why = QString::fromStdString(ran.error().text());
      m_board.end(job, JobBoard::Outcome::failed, why);
      Q_EMIT failed(tr("The network cannot be run: %1").arg(why));
      return Q_EMIT changed();
    }
    m_board.end(job, JobBoard::Outcome::done);
    m_ran = *std::move(ran);
    Q_EMIT changed();
  }));
}

void BuildService::stopRun() {
  if (!isRunning()) return;
  m_running.stop();
  m_board.end(std::exchange(m_runJob, 0), JobBoard::Outcome::cancelled);
  Q_EMIT changed();
}

void BuildService::setRepeat(int runs) {
  m_repeat = std::clamp(runs, 1, kMostRuns);
  QSettings().setValue(QLatin1String(kRepeatKey), m_repeat);
}

void BuildService::stop() {
  if (!isActive()) return;
  m_job.stop();
  m_board.end(std::exchange(m_boardJob, 0), JobBoard::Outcome::cancelled);
  Q_EMIT changed();
}

void BuildService::forget() {
  stop();
  stopRun();
  m_built.reset();
  m_ran.reset();
  Q_EMIT changed();
}

void BuildService::write(const QString& what, std::function<Expected<QString>(const Built&)> work) {
  if (!m_built) return;
  const int job = m_board.begin(what, {});
  m_workspace.jobs().run<QString>(
      Lane::network, this, [built = m_built, work = std::move(work)](StopToken) { return work(*built); },
      [this, job](Expected<QString> told) {
        if (!told) {
          const QString why = QString::fromStdString(told.error().text());
          m_board.end(job, JobBoard::Outcome::failed, why);
          return Q_EMIT failed(why);
        }
        m_board.end(job, JobBoard::Outcome::done, *told);
        Q_EMIT written(*told);
      });
}

void BuildService::save(const QString& path) {
  write(tr("Saving %1").arg(QFileInfo(path).fileName()), [path](const Built& built) -> Expected<QString> {
    TW_CHECK(runtime::save(built.executable, path.toStdString()));
    return tr("%1 is written; tw run %1 runs it").arg(path);
  });
}

void BuildService::exportCode(const QString& folder) {
  write(tr("Exporting code to %1").arg(folder), [folder](const Built& built) -> Expected<QString> {
    OutputFolder out(folder.toStdString());
    const auto put = [&out](const std::vector<api::OutputFile>& files) -> Expected<void> {
      for (const api::OutputFile& f : files) TW_CHECK(out.write(f.name, f.bytes));
      return {};
    };
    if (built.model->target.gpu) {
      const std::vector<api::OutputFile> files = api::image_files(built.executable.artifact);
      if (files.empty()) return Error(ErrorCode::not_found, "There is no machine code: making it takes NVIDIA's NVRTC, which is not installed");
      TW_CHECK(put(files));
      return tr("%n file(s) of machine code are written to %1", nullptr, static_cast<int>(files.size())).arg(folder);
    }
    TW_TRY(const api::CExport c, api::export_c(built.executable, api::c_identifier(built.model->name.toStdString())));
    TW_CHECK(put(api::object_files(c)));
    TW_CHECK(put(api::source_files(c)));
    return tr("%1.h, two objects and the runtime are written to %2").arg(QString::fromStdString(c.name), folder);
  });
}

}  // namespace tw::app
