// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <map>
#include <memory>

#include "app/services/job_runner.h"
#include "db/database.h"

namespace tw::app {

/// The open database and the list of its sessions. Queries run on the database lane.
class Workspace : public QObject {
  Q_OBJECT
 public:
  explicit Workspace(JobRunner& jobs, QObject* parent = nullptr);
  /// Opens or creates; falls back to reading where another program writes, and says so.
  void open(const QString& path);
  /// Stops bringing a file of an earlier format up to date: it stays as it was, and no workspace is open.
  void cancelUpgrade();
  /// Reads the list of sessions again.
  void refreshSessions();

  /// Null until opened() was sent. For writing: sessions, models, imports, notes.
  const std::shared_ptr<db::Database>& database() const { return m_database; }
  /// A connection of its own for reading, so that queries never wait for a writer; use it on Lane::database.
  const std::shared_ptr<db::Database>& reader() const { return m_reader; }
  /// Another one for Lane::summary.
  const std::shared_ptr<db::Database>& summaryReader() const { return m_summaryReader; }
  JobRunner& jobs() { return m_jobs; }
  bool isWritable() const { return m_database && m_database->mode() == db::Mode::read_write; }
  bool isBundle() const { return m_isBundle; }
  /// That were met so far.
  int damagedRows() const { return m_damaged; }
  /// Why nothing can be stored, as a sentence; empty if it can, or if no workspace is open.
  const QString& readOnlyReason() const { return m_readOnlyReason; }
  QString path() const { return m_path; }
  const std::vector<db::SessionRow>& sessions() const { return m_sessions; }
  const std::vector<db::ModelRow>& models() const { return m_models; }
  QString modelName(ModelId id) const;
  /// Takes sessions out, with all their trials; restoreSessions() brings them back as long as the workspace stays open.
  void removeSessions(const std::vector<SessionId>& sessions);
  void restoreSessions(const std::vector<SessionId>& sessions);
  /// What was taken out together and can be brought back, the last at the end.
  const std::vector<std::vector<SessionId>>& removedSessions() const { return m_removed; }
  /// Where the workspace lies if nothing else is said.
  static QString defaultPath();

 Q_SIGNALS:
  /// Whatever was open or being opened no longer is.
  void opening();
  /// The file that is being opened is of the format `from` and is brought to `to`: how many of the steps are done. Then comes opened() or failed().
  void upgrading(int from, int to, int done, int steps);
  void opened();
  /// `readOnly`: the workspace is open, but nothing can be stored.
  void failed(const QString& message, bool readOnly);
  void sessionsChanged();
  /// Sessions with their trials were taken out or came back; the list of sessions follows.
  void contentsChanged();
  /// Rows that do not match their checksums were met for the first time, and are left out of everything.
  void damaged();

 private:
  struct Listing {
    std::vector<db::SessionRow> sessions;
    std::vector<db::ModelRow> models;
  };
  void move(const std::vector<SessionId>& sessions, bool out);
  /// Asks the open connections for damaged rows, after one of them has met some.
  void countDamage();

  JobRunner& m_jobs;
  LatestJob m_counting;
  int m_damaged = 0;
  bool m_isBundle = false;
  LatestJob m_opening, m_listing;
  std::shared_ptr<StopSource> m_upgrade;  ///< of the opening that was begun last
  std::shared_ptr<db::Database> m_database, m_reader, m_summaryReader;
  QString m_path, m_readOnlyReason;
  std::vector<db::SessionRow> m_sessions;
  std::vector<db::ModelRow> m_models;
  std::vector<std::vector<SessionId>> m_removed;
};

}  // namespace tw::app
