// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/mark_service.h"

#include <QElapsedTimer>
#include <algorithm>

namespace tw::app {
namespace {
constexpr int kMarkCommand = 2;
/// Edits of one note that follow each other faster are undone at once.
constexpr int kMergeMillis = 3000;
}  // namespace

std::vector<Noun> selectedNouns(const SelectionHub& hub) {
  std::vector<Noun> nouns;
  const OpenModelPtr& model = hub.model();
  if (!model) return nouns;
  const QString key = QString::fromStdString(model->network.content_key);
  nouns.push_back({QStringLiteral("model:") + key, MarkService::tr("Model %1").arg(model->name)});
  if (hub.node() >= 0) {
    const QString name = QString::fromStdString(model->network.optimized.nodes[static_cast<size_t>(hub.node())].name);
    nouns.push_back({QStringLiteral("node:%1/%2").arg(key, name), MarkService::tr("Node %1").arg(name)});
  }
  const records::Task* task = hub.taskValue();
  const QString taskKey = task ? QString::fromStdString(task->key) : QString();
  if (task) nouns.push_back({QStringLiteral("task:") + taskKey, MarkService::tr("Task T%1 %2").arg(hub.task() + 1).arg(hub.model()->titleOf(hub.task()))});
  if (hub.session()) nouns.push_back({QStringLiteral("session:%1").arg(hub.session().value), MarkService::tr("Session %1").arg(hub.session().value)});
  if (task && hub.trial() >= 0) {
    nouns.push_back({QStringLiteral("trial:%1/%2/%3").arg(hub.trialRef().session.value).arg(taskKey).arg(hub.trial()), MarkService::tr("Trial %1").arg(hub.trial())});
  }
  return nouns;
}

class MarkService::Command : public QUndoCommand {
 public:
  Command(MarkService& service, QString noun, Mark mark)
      : QUndoCommand(tr("note")), m_service(service), m_noun(std::move(noun)), m_before(service.mark(m_noun)), m_after(std::move(mark)) {
    m_age.start();
  }
  void undo() override { m_service.store(m_noun, m_before); }
  void redo() override { m_service.store(m_noun, m_after); }
  int id() const override { return kMarkCommand; }
  bool mergeWith(const QUndoCommand* next) override {
    const auto* other = static_cast<const Command*>(next);
    if (other->m_noun != m_noun || m_age.hasExpired(kMergeMillis)) return false;
    m_after = other->m_after;
    m_age.restart();
    return true;
  }

 private:
  MarkService& m_service;
  QString m_noun;
  Mark m_before, m_after;
  QElapsedTimer m_age;
};

MarkService::MarkService(SelectionHub& hub, JobRunner& jobs, Workspace& workspace, QObject* parent)
    : QObject(parent), m_hub(hub), m_jobs(jobs), m_workspace(workspace) {
  connect(&workspace, &Workspace::opened, this, &MarkService::load);
}

void MarkService::load() {
  m_marks.clear();
  Q_EMIT changed({});
  using Rows = std::vector<db::MarkRow>;
  const auto work = [database = m_workspace.reader()](StopToken) -> Expected<Rows> { return database->marks(); };
  m_loading.replace(m_jobs.run<Rows>(Lane::database, this, work, [this](Expected<Rows> rows) {
    if (!rows) {
      Q_EMIT failed(tr("The notes cannot be read: %1").arg(QString::fromStdString(rows.error().text())));
      return;
    }
    for (const db::MarkRow& row : *rows) {
      Mark& mark = m_marks[QString::fromStdString(row.noun)];
      mark.note = QString::fromStdString(row.note);
      for (const std::string& tag : row.tags) mark.tags << QString::fromStdString(tag);
    }
    Q_EMIT changed({});
  }));
}

MarkService::Mark MarkService::clean(const Mark& mark) {
  Mark clean{mark.note.trimmed(), {}};
  for (const QString& tag : mark.tags) {
    if (!tag.trimmed().isEmpty() && !clean.tags.contains(tag.trimmed())) clean.tags << tag.trimmed();
  }
  return clean;
}

void MarkService::setMark(const QString& noun, const Mark& mark) {
  if (Mark kept = clean(mark); kept != m_marks.value(noun)) m_hub.undoStack().push(new Command(*this, noun, std::move(kept)));
}

void MarkService::store(const QString& noun, const Mark& mark) {
  if (mark.isEmpty())
    m_marks.remove(noun);
  else
    m_marks[noun] = mark;
  Q_EMIT changed(noun);
  db::MarkRow row{noun.toStdString(), mark.note.toStdString(), {}, 0};
  for (const QString& tag : mark.tags) row.tags.push_back(tag.toStdString());
  const auto work = [database = m_workspace.database(), row](StopToken) -> Expected<bool> {
    if (!database) return Error(ErrorCode::not_found, "No workspace is open");
    TW_CHECK(database->put_mark(row));
    return true;
  };
  m_jobs.run<bool>(Lane::database, this, work, [this, noun](Expected<bool> done) {
    if (done) Q_EMIT stored(noun);
    if (!done) Q_EMIT failed(tr("The note cannot be stored: %1").arg(QString::fromStdString(done.error().text())));
  });
}

QStringList MarkService::tags() const {
  QStringList all;
  for (const Mark& mark : m_marks) all << mark.tags;
  all.removeDuplicates();
  all.sort(Qt::CaseInsensitive);
  return all;
}

}  // namespace tw::app
