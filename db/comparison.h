// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/database.h"

/// What several sessions show against each other. Times in seconds, infinite where there is none; smaller ones are better.
namespace tw::db {

/// Sessions of each kind that a verdict needs: with fewer, even the clearest outcome has p > 0.05 after correction.
inline constexpr int kSessionsForVerdict = 5;
/// What counts as more than chance, and the most sessions of each that are recommended to settle a tie.
inline constexpr double kVerdictLevel = 0.05;
inline constexpr int kMostSessions = 1000;

/// Infinite for none.
double median_or_never(std::vector<double> values);

struct ComparedSession {
  std::string name;
  SessionRow row;
  std::map<int64_t, double> best;  ///< by task id, infinity if it has none
  std::set<int64_t> unsearched = {};  ///< tasks of which it tried the default schedule alone: it says nothing of its tuner there

  void note(const BestRow& row);
};
struct ComparedTask {
  int64_t id = 0;
  std::string name;
};
/// Sessions that differ in their seed alone.
struct SessionGroup {
  std::string name;
  std::vector<int> sessions;  ///< indices into those compared
};
std::vector<SessionGroup> group_sessions(std::span<const ComparedSession> sessions);

/// Two groups on one task.
struct Verdict {
  std::string a, b, task;
  int count_a = 0, count_b = 0;
  double median_a = 0, median_b = 0;  ///< of the sessions' best times
  bool decided = false;               ///< enough sessions of both
  double p = 1;                       ///< Mann-Whitney U, after Holm's correction over all verdicts
  double a12 = 0.5;                   ///< probability that a session of `a` ends with a smaller time than one of `b`
  std::optional<int> sessions_to_settle = {};  ///< of each, if the difference is as it looks and no verdict yet; nothing: more than kMostSessions

  bool more_than_chance() const { return decided && p < kVerdictLevel; }
};
/// For every task that both groups of a pair searched.
std::vector<Verdict> verdicts(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks);

/// Two groups over all tasks that both tried: pairs of sessions with one seed on one task.
struct Overall {
  std::string a, b;
  int tasks = 0, pairs = 0;
  double ratio = 1;  ///< geometric mean of b's best time ÷ a's over the pairs: above 1, `a` is faster
  double p = 1;      ///< paired permutation of the logarithms, after Holm's correction over all pairs of groups
};
std::vector<Overall> overall(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks);

/// How a time is written, such as `1.50 ms`.
using TimeText = std::function<std::string(double)>;
/// One plain sentence.
std::string verdict_text(const Verdict& verdict, const TimeText& time);
std::string overall_text(const Overall& overall);
/// Which tuners had nothing to search where another had, as sketches in a space that was recorded of a template; empty if there is none. Sessions that are not
/// done may not have begun to.
std::string nothing_to_search_text(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks);
/// The answer in one sentence: which tuner ends with the least median, on how many tasks, and whether that is more than chance; then nothing_to_search_text.
/// Empty where fewer than two groups have a task in common.
std::string winner_text(std::span<const ComparedSession> sessions, std::span<const ComparedTask> tasks, const TimeText& time);

/// What one group of sessions came to on one task.
struct GroupRow {
  std::string name;
  int sessions = 0;
  double median_s = 0;
};
/// A row a group, the least median first.
std::vector<GroupRow> group_rows(std::span<const ComparedSession> sessions, int64_t task);

/// A session's trials of one task, as its curve of the best so far has them.
struct SessionCurve {
  struct Step {
    double trial = 0;      ///< from 1 on
    double elapsed_s = 0;  ///< of the session's work since the first trial ended
    double seconds = 0;    ///< the best from here on
  };
  std::vector<Step> steps;
  int64_t trials = 0, failures = 0;
  double build_s = 0, run_s = 0;  ///< of all trials together
};
SessionCurve curve_of(std::span<const TrialOutcome> trials);

/// Shares of the best known speed that are asked for.
inline constexpr std::array<double, 3> kShares = {0.90, 0.95, 0.99};

/// What the sessions of one group came to on one task. Medians over the sessions are infinite where the middle one never got there.
struct GroupProgress {
  std::string name;
  int sessions = 0;
  double median_s = std::numeric_limits<double>::infinity(), best_s = median_s;
  struct Reached {
    double trials = std::numeric_limits<double>::infinity(), seconds = trials;
  };
  std::array<Reached, kShares.size()> reached = {};  ///< medians of what it took to come to each share of the best known speed
  double area = 0;  ///< median of the areas under the curves: mean over the trials of best known time ÷ best so far, 0 before the first; over as many trials as every session has that tried more than one schedule
  int64_t trials = 0, failures = 0;
  double build_s = 0, run_s = 0;
};
struct GroupCurves {
  std::string name;
  std::vector<SessionCurve> sessions;  ///< those without trials are left out
};
/// A row a group, the least median first. The best known is the least time of all of them.
std::vector<GroupProgress> progress(std::span<const GroupCurves> groups);

}  // namespace tw::db
