// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/records/comparison.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "engine/base/json.h"
#include "engine/base/rank_tests.h"
#include "engine/records/session_store.h"
#include "widgets/common/format.h"

namespace tw::widgets {
namespace {

struct ComparisonTexts {
  Q_DECLARE_TR_FUNCTIONS(Comparison)
};

std::string withoutSeed(const db::SessionRow& row) {
  Json options = row.options;
  if (options.is_object()) options.erase("seed"), options.erase("race");
  return row.tuner + "\n" + row.target + "\n" + dump_json(options);
}

std::vector<double> bestsOf(const SessionGroup& group, const std::vector<ComparedSession>& sessions, int64_t task) {
  std::vector<double> times;
  for (const int s : group.sessions) {
    const auto at = sessions[static_cast<size_t>(s)].best.find(task);
    if (at != sessions[static_cast<size_t>(s)].best.end()) times.push_back(at->second);
  }
  return times;
}

/// `a.b` for nested keys.
void flatten(const Json& json, const QString& prefix, std::map<QString, QString>& out) {
  if (!json.is_object()) {
    out[prefix] = json.is_string() ? QString::fromStdString(json.get<std::string>()) : QString::fromStdString(dump_json(json));
    return;
  }
  for (const auto& item : json.items())
    flatten(item.value(), prefix.isEmpty() ? QString::fromStdString(item.key()) : prefix + QLatin1Char('.') + QString::fromStdString(item.key()), out);
}

QString probability(double p) { return p < 0.001 ? QStringLiteral("p < 0.001") : QStringLiteral("p = ") + QString::number(p, 'f', 3); }

}  // namespace

double medianOf(std::vector<double> values) {
  if (values.empty()) return HUGE_VAL;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<SessionGroup> groupSessions(const std::vector<ComparedSession>& sessions) {
  std::vector<SessionGroup> groups;
  std::vector<std::string> keys;
  for (size_t i = 0; i < sessions.size(); ++i) {
    const std::string key = withoutSeed(sessions[i].row);
    const auto at = static_cast<size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    if (at == keys.size()) {
      keys.push_back(key);
      groups.push_back({QString::fromStdString(sessions[i].row.tuner), {}});
    }
    groups[at].sessions.push_back(static_cast<int>(i));
  }
  // The same tuner with other options is told apart by its first session.
  for (SessionGroup& group : groups) {
    const auto same = std::count_if(groups.begin(), groups.end(), [&](const SessionGroup& g) { return g.name == group.name; });
    if (same > 1) group.name += ComparisonTexts::tr(" (as in session %1)").arg(sessions[static_cast<size_t>(group.sessions[0])].row.id.value);
  }
  return groups;
}

std::vector<Verdict> verdicts(const std::vector<ComparedSession>& sessions, const std::vector<std::pair<int64_t, QString>>& tasks) {
  const std::vector<SessionGroup> groups = groupSessions(sessions);
  std::vector<Verdict> all;
  for (const auto& [task, name] : tasks) {
    for (size_t i = 0; i < groups.size(); ++i) {
      for (size_t j = i + 1; j < groups.size(); ++j) {
        const std::vector<double> a = bestsOf(groups[i], sessions, task), b = bestsOf(groups[j], sessions, task);
        if (a.empty() || b.empty()) continue;
        Verdict v;
        v.a = groups[i].name, v.b = groups[j].name, v.task = name;
        v.countA = static_cast<int>(a.size()), v.countB = static_cast<int>(b.size());
        v.medianA = medianOf(a), v.medianB = medianOf(b);
        v.decided = std::min(v.countA, v.countB) >= kSessionsForVerdict;
        v.p = mann_whitney(a, b).p;
        v.a12 = vargha_delaney(b, a);
        all.push_back(std::move(v));
      }
    }
  }
  std::vector<double> p;
  for (const Verdict& v : all) {
    if (v.decided) p.push_back(v.p);
  }
  const std::vector<double> adjusted = holm(p);
  size_t next = 0;
  for (Verdict& v : all) {
    if (v.decided) v.p = adjusted[next++];
  }
  return all;
}

QString verdictText(const Verdict& v) {
  const bool aFaster = v.medianA <= v.medianB;
  const QString faster = aFaster ? v.a : v.b, slower = aFaster ? v.b : v.a;
  const double fast = std::min(v.medianA, v.medianB), slow = std::max(v.medianA, v.medianB);
  if (!v.decided) {
    const QString what = v.countA == 1 && v.countB == 1 ? ComparisonTexts::tr("In these two sessions") : ComparisonTexts::tr("In these sessions");
    return ComparisonTexts::tr("%1: %2 %3 found %4 and %5 %6 (%7%8). A verdict on the tuners needs %9 sessions of each with other seeds.")
        .arg(v.task, what, faster, secondsText(fast), slower, secondsText(slow), numberText(slow / fast, 3), QString(QChar(0xD7)))
        .arg(kSessionsForVerdict);
  }
  const QString numbers = ComparisonTexts::tr("%1 after Holm's correction, A12 = %2, %3 against %4 sessions")
                              .arg(probability(v.p), QString::number(aFaster ? v.a12 : 1 - v.a12, 'f', 2))
                              .arg(aFaster ? v.countA : v.countB)
                              .arg(aFaster ? v.countB : v.countA);
  if (v.p < 0.05)
    return ComparisonTexts::tr("%1: %2 ends faster than %3, in the median %4 against %5 (%6).")
        .arg(v.task, faster, slower, secondsText(fast), secondsText(slow), numbers);
  return ComparisonTexts::tr("%1: no evidence that %2 and %3 differ, in the median %4 and %5 (%6).")
      .arg(v.task, faster, slower, secondsText(fast), secondsText(slow), numbers);
}

QString winnerText(const std::vector<ComparedSession>& sessions, const std::vector<std::pair<int64_t, QString>>& tasks) {
  const std::vector<Verdict> all = verdicts(sessions, tasks);
  if (all.empty()) return {};
  // A tuner wins a task if no other has a lesser median there; it is sure if every verdict against another says so.
  std::map<QString, int> wins;
  int asked = 0;
  QString only;
  for (const auto& [task, name] : tasks) {
    const std::vector<GroupRow> rows = groupRows(sessions, task);
    if (rows.size() < 2) continue;
    ++asked;
    ++wins[rows.front().name];
    only = name;
  }
  if (asked == 0) return {};
  const auto winner = std::max_element(wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  int sure = 0, against = 0, undecided = 0;
  double least = HUGE_VAL, runnerUp = HUGE_VAL;
  for (const Verdict& v : all) {
    if (v.a != winner->first && v.b != winner->first) continue;
    const bool ahead = (v.a == winner->first) == (v.medianA <= v.medianB);
    ++against;
    if (!v.decided) ++undecided;
    if (ahead && v.decided && v.p < 0.05) ++sure;
    least = v.a == winner->first ? v.medianA : v.medianB;
    runnerUp = std::min(runnerUp, v.a == winner->first ? v.medianB : v.medianA);
  }
  QString text = asked == 1 ? ComparisonTexts::tr("%1 is ahead on %2: median %3, the next one %4").arg(winner->first, only, secondsText(least), secondsText(runnerUp))
                            : ComparisonTexts::tr("%1 has the least median on %2 of %3 tasks").arg(winner->first).arg(winner->second).arg(asked);
  if (undecided == against)
    text += ComparisonTexts::tr("; a verdict needs %1 sessions of each with other seeds.").arg(kSessionsForVerdict);
  else if (sure == against)
    text += ComparisonTexts::tr("; surely, against every other.");
  else if (sure == 0)
    text += ComparisonTexts::tr("; no difference is more than chance.");
  else
    text += ComparisonTexts::tr("; %1 of %2 differences are more than chance.").arg(sure).arg(against);
  return text;
}

std::vector<GroupRow> groupRows(const std::vector<ComparedSession>& sessions, int64_t task) {
  std::vector<GroupRow> rows;
  for (const SessionGroup& group : groupSessions(sessions)) {
    const std::vector<double> bests = bestsOf(group, sessions, task);
    if (bests.empty()) continue;
    rows.push_back({group.name, static_cast<int>(bests.size()), medianOf(bests)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const GroupRow& a, const GroupRow& b) { return a.median_s < b.median_s; });
  return rows;
}

std::vector<SideBySideRow> bestTimes(const std::vector<ComparedSession>& sessions, const std::vector<std::pair<int64_t, QString>>& tasks) {
  std::vector<SideBySideRow> rows;
  for (const auto& [task, name] : tasks) {
    SideBySideRow row{name, {}, -1};
    double least = HUGE_VAL;
    bool tried = false;
    for (size_t i = 0; i < sessions.size(); ++i) {
      const auto at = sessions[i].best.find(task);
      const double seconds = at == sessions[i].best.end() ? HUGE_VAL : at->second;
      tried = tried || at != sessions[i].best.end();
      if (seconds < least) least = seconds, row.best = static_cast<int>(i);
      row.values << (std::isfinite(seconds) ? secondsText(seconds) : dashText());
    }
    if (tried) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<SideBySideRow> configurations(const std::vector<ComparedSession>& sessions) {
  std::vector<std::map<QString, QString>> all;
  std::map<QString, bool> keys;
  for (const ComparedSession& s : sessions) {
    std::map<QString, QString> own;
    flatten(s.row.options, {}, own);
    Json host = s.row.host;
    if (host.is_object()) host.erase(records::kExtractTime);  // of its work, not of the machine
    flatten(host, ComparisonTexts::tr("host"), own);
    own[ComparisonTexts::tr("tuner")] = QString::fromStdString(s.row.tuner);
    own[ComparisonTexts::tr("target")] = QString::fromStdString(s.row.target);
    own[ComparisonTexts::tr("version")] = QString::fromStdString(s.row.code_version);
    own[ComparisonTexts::tr("trials made")] = countText(s.row.trials);
    for (const auto& [key, value] : own) keys[key];
    all.push_back(std::move(own));
  }
  std::vector<SideBySideRow> rows;
  for (const auto& [key, unused] : keys) {
    SideBySideRow row{key, {}, -1};
    for (const auto& own : all) row.values << (own.contains(key) ? own.at(key) : dashText());
    rows.push_back(std::move(row));
  }
  std::stable_partition(rows.begin(), rows.end(), [](const SideBySideRow& row) {
    return std::any_of(row.values.begin(), row.values.end(), [&](const QString& v) { return v != row.values[0]; });
  });
  return rows;
}

}  // namespace tw::widgets
