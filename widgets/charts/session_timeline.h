// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <array>
#include <vector>

#include "db/database.h"

/// A session's time, from what is stored of it. No widgets.
namespace tw::widgets {

enum class TimelineLane : uint8_t { extract, search, build, measure, finals, pause };
inline constexpr size_t kTimelineLanes = 6;
QString timelineLaneText(TimelineLane lane);

/// Seconds since the session's first moment.
struct TimelineSpan {
  TimelineLane lane = TimelineLane::search;
  double begin_s = 0, end_s = 0;
  int64_t round = 0;  ///< 0: of none
  QString what;
  bool open = false;  ///< it goes on
};
/// A candidate's arguments being filled, its code loaded, run and verified, inside its round's span of measuring.
struct TimelineTrial {
  double begin_s = 0, end_s = 0;
  std::array<double, 4> stages_s = {};  ///< how long it was filled, loaded, timed and verified; 0: not known
  int64_t round = 0;
  int task = 0;  ///< in what timelineOf() was given
  size_t trial = 0;  ///< in its trials
  records::Status status = records::Status::ok;
  bool censored = false;
};
struct SessionTimeline {
  double begin_s = 0;   ///< Unix time
  double length_s = 0;
  std::vector<TimelineSpan> spans;    ///< ascending by beginning in each lane
  std::vector<TimelineTrial> trials;  ///< ascending by beginning
  std::array<double, kTimelineLanes> total_s = {};
  double elapsed_s = 0;  ///< work: without pauses
  /// Extracting tasks belongs to a session's time only where somebody knows how long it took.
  bool has(TimelineLane lane) const { return lane != TimelineLane::extract || total_s[static_cast<size_t>(lane)] > 0; }
};
/// What a stage of TimelineTrial::stages_s is called.
QString trialStageText(size_t stage);
/// As TimelineTrial::stages_s. Of trials that were measured by earlier versions timing holds verifying.
std::array<double, 4> stagesOf(const db::TrialOutcome& trial);

/// Trials of one task of the session, ascending by number.
struct TimelineTask {
  std::string key;
  QString title;
  std::vector<db::TrialOutcome> trials;
};
/// Rounds take their tasks' trials by counting. A round's measuring ends with its last trial, its building and searching lie before that; finals and pauses are
/// between the events that the session noted. Extracting the tasks, which took `extract_s` (0: not known), was over before the first moment and is put in front of it.
SessionTimeline timelineOf(const std::vector<records::Round>& rounds, const std::vector<TimelineTask>& tasks, const std::vector<db::EventRow>& events, double extract_s = 0);

/// Why a trial came out as it did, in words: what was refused or failed, that it was stopped early, that samples were disturbed, whether its result was compared.
QString outcomeText(const db::TrialOutcome& trial);

}  // namespace tw::widgets
