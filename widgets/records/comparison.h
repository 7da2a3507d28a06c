// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <map>
#include <vector>

#include "db/database.h"
#include "widgets/common/side_by_side.h"

/// What several sessions show against each other. Times in seconds.
namespace tw::widgets {

/// Sessions of each kind that a verdict needs: with fewer, even the clearest outcome has p > 0.05 after correction.
inline constexpr int kSessionsForVerdict = 5;

/// Infinite for none.
double medianOf(std::vector<double> values);

struct ComparedSession {
  QString name;
  db::SessionRow row;
  std::map<int64_t, double> best;  ///< by task id, infinity if it has none
};
/// Sessions that differ in their seed alone.
struct SessionGroup {
  QString name;
  std::vector<int> sessions;  ///< indices into those compared
};
std::vector<SessionGroup> groupSessions(const std::vector<ComparedSession>& sessions);

/// Two groups on one task. Smaller times are better.
struct Verdict {
  QString a, b, task;
  int countA = 0, countB = 0;
  double medianA = 0, medianB = 0;  ///< of the sessions' best times
  bool decided = false;             ///< enough sessions of both
  double p = 1;                     ///< Mann-Whitney U, after Holm's correction over all verdicts
  double a12 = 0.5;                 ///< probability that a session of `a` ends with a smaller time than one of `b`
};
/// For every task that both groups of a pair tried. `tasks`: id and name.
std::vector<Verdict> verdicts(const std::vector<ComparedSession>& sessions, const std::vector<std::pair<int64_t, QString>>& tasks);
/// One plain sentence.
QString verdictText(const Verdict& verdict);

/// The answer in one sentence: which tuner ends with the least median over the sessions, on how many tasks, and whether that is more than chance. Empty where fewer than two groups have a task in common.
QString winnerText(const std::vector<ComparedSession>& sessions, const std::vector<std::pair<int64_t, QString>>& tasks);

/// What one group of sessions came to on one task. Times in seconds; infinite where there is none.
struct GroupRow {
  QString name;
  int sessions = 0;
  double median_s = 0;
};
/// A row a group, the least median first.
std::vector<GroupRow> groupRows(const std::vector<ComparedSession>& sessions, int64_t task);

/// Best time of each session, a row for each task that one of them tried.
std::vector<SideBySideRow> bestTimes(const std::vector<ComparedSession>& sessions, const std::vector<std::pair<int64_t, QString>>& tasks);
/// Options, host and version of each session; those that differ come first.
std::vector<SideBySideRow> configurations(const std::vector<ComparedSession>& sessions);

}  // namespace tw::widgets
