// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/session_timeline.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <map>

#include "widgets/common/format.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {
namespace {

struct TimelineTexts {
  Q_DECLARE_TR_FUNCTIONS(SessionTimeline)
};

/// From the first event of one kind to the next of another.
void addBetween(const std::vector<db::EventRow>& events, const char* begin, const char* end, TimelineLane lane, SessionTimeline& t) {
  const db::EventRow* open = nullptr;
  for (const db::EventRow& e : events) {
    if (e.kind == begin) open = &e;
    if (e.kind != end || !open) continue;
    t.spans.push_back({lane, open->at_s, e.at_s, 0, QString::fromStdString(open->text), false});
    open = nullptr;
  }
  if (open) t.spans.push_back({lane, open->at_s, open->at_s, 0, QString::fromStdString(open->text), true});
}

}  // namespace

QString timelineLaneText(TimelineLane lane) {
  switch (lane) {
    case TimelineLane::extract:
      return TimelineTexts::tr("Extract");
    case TimelineLane::search:
      return TimelineTexts::tr("Search");
    case TimelineLane::build:
      return TimelineTexts::tr("Build");
    case TimelineLane::measure:
      return TimelineTexts::tr("Measure");
    case TimelineLane::finals:
      return TimelineTexts::tr("Finals");
    case TimelineLane::pause:
      break;
  }
  return TimelineTexts::tr("Pause");
}

QString trialStageText(size_t stage) {
  const QString names[] = {TimelineTexts::tr("fill"), TimelineTexts::tr("load"), TimelineTexts::tr("time"), TimelineTexts::tr("verify")};
  return names[stage];
}

std::array<double, 4> stagesOf(const db::TrialOutcome& trial) { return {trial.fill_s, trial.load_s, std::max(0.0, trial.run_s - trial.verify_s), trial.verify_s}; }

SessionTimeline timelineOf(const std::vector<records::Round>& rounds, const std::vector<TimelineTask>& tasks, const std::vector<db::EventRow>& events, double extract_s) {
  SessionTimeline t;
  std::map<std::string, int> number;
  for (size_t i = 0; i < tasks.size(); ++i) number[tasks[i].key] = static_cast<int>(i);
  std::vector<size_t> next(tasks.size(), 0);
  double before = 0;  // nothing of a round lies before the end of the last one
  for (const records::Round& r : rounds) {
    const auto of = number.find(r.task_key);
    if (of == number.end()) continue;
    const TimelineTask& task = tasks[static_cast<size_t>(of->second)];
    size_t& at = next[static_cast<size_t>(of->second)];
    double last = 0;
    for (int64_t k = 0; k < r.trials && at < task.trials.size(); ++k, ++at) {
      const db::TrialOutcome& trial = task.trials[at];
      last = std::max(last, trial.timestamp_s);
      t.trials.push_back({trial.timestamp_s - trial.run_s - trial.load_s - trial.fill_s, trial.timestamp_s, stagesOf(trial), r.number, of->second, at, trial.status, trial.censored});
    }
    if (last == 0) continue;
    double end = last;
    for (const auto& [lane, seconds] : {std::pair(TimelineLane::measure, r.measure_s), std::pair(TimelineLane::build, r.build_s), std::pair(TimelineLane::search, r.search_s)}) {
      const double begin = std::max(before, end - seconds);
      if (end > begin) t.spans.push_back({lane, begin, end, r.number, TimelineTexts::tr("Round %1: %2").arg(r.number).arg(task.title), false});
      end = begin;
    }
    before = last;
    t.elapsed_s = r.elapsed_s;
  }
  addBetween(events, "finals", "settled", TimelineLane::finals, t);
  addBetween(events, "paused", "resumed", TimelineLane::pause, t);
  double first = HUGE_VAL, latest = 0;
  for (const TimelineSpan& s : t.spans) first = std::min(first, s.begin_s), latest = std::max(latest, s.end_s);
  for (const TimelineTrial& s : t.trials) first = std::min(first, s.begin_s), latest = std::max(latest, s.end_s);
  if (!std::isfinite(first)) return t;
  if (extract_s > 0) {
    t.spans.push_back({TimelineLane::extract, first - extract_s, first, 0, TimelineTexts::tr("The network's tasks, as it was opened"), false});
    first -= extract_s;
  }
  t.begin_s = first;
  t.length_s = latest - first;
  for (TimelineSpan& s : t.spans) {
    s.begin_s -= first, s.end_s -= first;
    t.total_s[static_cast<size_t>(s.lane)] += s.end_s - s.begin_s;
  }
  for (TimelineTrial& s : t.trials) s.begin_s -= first, s.end_s -= first;
  const auto earlier = [](const auto& a, const auto& b) { return a.begin_s < b.begin_s; };
  std::stable_sort(t.spans.begin(), t.spans.end(), earlier);
  std::stable_sort(t.trials.begin(), t.trials.end(), earlier);
  return t;
}

QString outcomeText(const db::TrialOutcome& trial) {
  QStringList parts;
  if (trial.status != records::Status::ok) {
    const QString message = QString::fromStdString(trial.message);
    return message.isEmpty() ? statusText(trial.status) : message;
  }
  if (trial.censored) parts << TimelineTexts::tr("stopped early, as it was clearly slower than the best: at least %1").arg(secondsText(trial.seconds));
  if (trial.flagged > 0) parts << TimelineTexts::tr("%n disturbed sample(s) left out", nullptr, trial.flagged);
  if (!trial.censored) parts << (trial.verified ? TimelineTexts::tr("its result agrees with the reference") : TimelineTexts::tr("its result was not compared"));
  return parts.join(QStringLiteral("; "));
}

}  // namespace tw::widgets
