// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMap>
#include <QObject>
#include <QStringList>

#include "app/selection_hub.h"
#include "app/services/job_runner.h"
#include "app/services/workspace.h"

namespace tw::app {

/// Something that can have a note and tags.
struct Noun {
  QString id;     ///< as the database names it, such as `task:KEY`
  QString title;  ///< for people
};

/// What is selected, from the model down to the trial.
std::vector<Noun> selectedNouns(const SelectionHub& hub);

/// Notes and tags on anything, kept in the workspace beside the measurements. Changes can be undone.
class MarkService : public QObject {
  Q_OBJECT
 public:
  struct Mark {
    QString note;
    QStringList tags;
    bool operator==(const Mark&) const = default;
    bool isEmpty() const { return note.isEmpty() && tags.isEmpty(); }
  };
  MarkService(SelectionHub& hub, JobRunner& jobs, Workspace& workspace, QObject* parent = nullptr);
  Mark mark(const QString& noun) const { return m_marks.value(noun); }
  const QMap<QString, Mark>& marks() const { return m_marks; }
  /// As it is kept: trimmed, without tags that are empty or repeated.
  static Mark clean(const Mark& mark);
  void setMark(const QString& noun, const Mark& mark);
  /// All tags in use, sorted.
  QStringList tags() const;

 Q_SIGNALS:
  void changed(const QString& noun);  ///< empty: all
  void stored(const QString& noun);   ///< the database has it
  void failed(const QString& message);

 private:
  class Command;
  void load();
  void store(const QString& noun, const Mark& mark);
  SelectionHub& m_hub;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  LatestJob m_loading;
  QMap<QString, Mark> m_marks;
};

}  // namespace tw::app
