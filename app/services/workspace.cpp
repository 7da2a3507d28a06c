// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/workspace.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QPointer>
#include <QStandardPaths>
#include <set>

#include "db/bundle.h"

namespace tw::app {

Workspace::Workspace(JobRunner& jobs, QObject* parent) : QObject(parent), m_jobs(jobs) {}

QString Workspace::defaultPath() { return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QStringLiteral("/workspace.twdb"); }

void Workspace::open(const QString& path) {
  struct Opened {
    std::shared_ptr<db::Database> database, reader, summaryReader;
    std::string warning;
    bool bundle = false;
  };
  m_path = path;
  m_readOnlyReason.clear();
  m_database.reset();
  m_reader.reset();
  m_summaryReader.reset();
  m_sessions.clear();
  m_models.clear();
  m_removed.clear();
  m_damaged = 0;
  m_isBundle = false;
  Q_EMIT opening();
  Q_EMIT sessionsChanged();
  m_upgrade = std::make_shared<StopSource>();
  // Whoever stops an upgrade is told how that ended, so that it is stopped by a token of its own.
  const auto work = [file = path.toStdString(), folder = QFileInfo(path).absolutePath(), guard = QPointer<Workspace>(this),
                     stop = m_upgrade](StopToken closing) -> Expected<Opened> {
    const std::stop_callback also(closing, [stop] { stop->request_stop(); });
    if (!QDir().mkpath(folder)) return Error(ErrorCode::io_error, "The folder of the workspace cannot be created", folder.toStdString());
    const auto progress = [guard, stop](int from, int to, int done, int steps) {
      QMetaObject::invokeMethod(
          qApp, [=] { if (guard && guard->m_upgrade == stop) Q_EMIT guard->upgrading(from, to, done, steps); }, Qt::QueuedConnection);
    };
    auto database = db::Database::open(file, db::Mode::read_write, {progress, stop->get_token()});
    if (database) {
      TW_TRY(auto reader, db::Database::open(file, db::Mode::read_only));
      TW_TRY(auto summaryReader, db::Database::open(file, db::Mode::read_only));
      return Opened{*database, std::move(reader), std::move(summaryReader), {}};
    }
    const Error why = database.error();
    if (why.code != ErrorCode::infrastructure && why.code != ErrorCode::io_error) return why;
    auto reading = db::Database::open(file, db::Mode::read_only);
    if (!reading) return why;
    return Opened{*reading, *reading, *reading, why.text(), db::is_bundle(file)};
  };
  m_opening.replace(m_jobs.run<Opened>(Lane::database, this, work, [this](Expected<Opened> result) {
    if (!result) {
      Q_EMIT failed(tr("The workspace cannot be opened: %1").arg(QString::fromStdString(result.error().text())), false);
      return;
    }
    m_database = result->database;
    m_reader = result->reader;
    m_summaryReader = result->summaryReader;
    m_isBundle = result->bundle;
    if (!result->warning.empty()) m_readOnlyReason = tr("The workspace is open for reading only: %1").arg(QString::fromStdString(result->warning));
    for (const auto& connection : {m_database, m_reader, m_summaryReader}) {
      connection->on_damage([guard = QPointer<Workspace>(this)] {
        QMetaObject::invokeMethod(
            qApp, [guard] { if (guard) guard->countDamage(); }, Qt::QueuedConnection);
      });
    }
    Q_EMIT opened();
    if (!m_readOnlyReason.isEmpty()) Q_EMIT failed(m_readOnlyReason, true);
    refreshSessions();
  }));
}

void Workspace::cancelUpgrade() {
  if (m_upgrade) m_upgrade->request_stop();
}

void Workspace::refreshSessions() {
  if (!m_reader) return;
  const auto work = [database = m_reader](StopToken) -> Expected<Listing> {
    Listing listing;
    TW_TRY(listing.sessions, database->sessions());
    TW_TRY(listing.models, database->models());
    return listing;
  };
  m_listing.replace(m_jobs.run<Listing>(Lane::database, this, work, [this](Expected<Listing> result) {
    if (!result) {
      Q_EMIT failed(tr("The sessions cannot be read: %1").arg(QString::fromStdString(result.error().text())), true);
      return;
    }
    m_sessions = std::move(result->sessions);
    m_models = std::move(result->models);
    Q_EMIT sessionsChanged();
  }));
}

void Workspace::removeSessions(const std::vector<SessionId>& sessions) { move(sessions, true); }

void Workspace::restoreSessions(const std::vector<SessionId>& sessions) { move(sessions, false); }

void Workspace::move(const std::vector<SessionId>& sessions, bool out) {
  if (!isWritable() || sessions.empty()) return;
  const auto work = [database = m_database, sessions, out](StopToken) -> Expected<bool> {
    for (const SessionId id : sessions) TW_CHECK(out ? database->remove_session(id) : database->restore_session(id));
    return true;
  };
  m_jobs.run<bool>(Lane::database, this, work, [this, sessions, out, database = m_database](Expected<bool> done) {
    if (database != m_database) return;
    if (!done) Q_EMIT failed(tr("Sessions cannot be taken out or brought back: %1").arg(QString::fromStdString(done.error().text())), true);
    std::erase(m_removed, sessions);
    if (done && out) m_removed.push_back(sessions);
    Q_EMIT contentsChanged();
    refreshSessions();
  });
}

void Workspace::countDamage() {
  const auto work = [connections = std::vector{m_database, m_reader, m_summaryReader}](StopToken) -> Expected<int> {
    std::set<db::DamagedRow> rows;
    for (const auto& connection : connections) {
      if (!connection) continue;
      const auto met = connection->damaged();
      rows.insert(met.begin(), met.end());
    }
    return static_cast<int>(rows.size());
  };
  m_counting.replace(m_jobs.run<int>(Lane::database, this, work, [this](Expected<int> rows) {
    if (!rows || *rows <= m_damaged) return;
    m_damaged = *rows;
    Q_EMIT damaged();
  }));
}

QString Workspace::modelName(ModelId id) const {
  for (const auto& model : m_models) {
    if (model.id == id) return QString::fromStdString(model.name);
  }
  return {};
}

}  // namespace tw::app
