// SPDX-License-Identifier: Apache-2.0
#include "app/cli/session_monitor.h"

#include <algorithm>
#include <cmath>

#include "app/cli/common.h"
#include "engine/base/text.h"
#include "engine/measure/device.h"
#include "engine/records/recorded_trials.h"

namespace tw::cli {
namespace {

/// How many ran against each other, and whether another trial than before is best now.
std::string finals_text(const std::string& task, const tune::FinalsDone& e) {
  const auto winner =
      std::min_element(e.finalists.begin(), e.finalists.end(), [](const auto& a, const auto& b) { return a.result.decided_s() < b.result.decided_s(); });
  const records::Verdict& v = *winner->result.verdict;
  const std::string outcome = winner == e.finalists.begin() ? std::string("none is surely faster than the best trial")
                                                            : fmt::format("another is best, {:.1f} to {:.1f} % faster", (1 - v.high) * 100, (1 - v.low) * 100);
  return fmt::format("{}: finals of {}, {}", task, e.finalists.size(), outcome);
}

}  // namespace

std::string kind_of_times(const std::string& device) {
  if (device.starts_with(records::kRecordedDevice))
    return fmt::format("Times replayed from '{}', not measured again", device.substr(records::kRecordedDevice.size()));
  return measure::is_simulated(device) ? fmt::format("Simulated times of {}, not measured ones", device) : "";
}

std::string SessionMonitor::rate(int task, double seconds) const {
  return std::isfinite(seconds) && seconds > 0 ? si_text(static_cast<double>(tasks_[static_cast<size_t>(task)].task.flops) / seconds, "FLOP/s") : "failed";
}

void SessionMonitor::operator()(const tune::Event& event) {
  if (const auto* e = std::get_if<tune::SessionPlanned>(&event)) {
    progress_.set_total(e->trials);
  } else if (const auto* e = std::get_if<tune::TaskStarted>(&event)) {
    // Nobody counts the schedules that sketches have.
    progress_.line(e->space_size > 0 ? fmt::format("{}: {} points in '{}'", name(e->task), e->space_size, e->space)
                                     : fmt::format("{}: schedules of '{}'", name(e->task), e->space));
  } else if (const auto* e = std::get_if<tune::RoundStarted>(&event)) {
    progress_.update(done_, fmt::format("{}: round {}", name(e->task), e->number));
  } else if (const auto* e = std::get_if<tune::TrialDone>(&event)) {
    progress_.update(++done_, fmt::format("{}: {} best {}", name(e->task), rate(e->task, e->record.result.seconds()), rate(e->task, e->best_s)));
  } else if (const auto* e = std::get_if<tune::RoundDone>(&event)) {
    progress_.update(done_, fmt::format("{}: network {}{}", name(e->task), time_text(e->round.network_s),
                                             e->models.trials > 0 ? fmt::format(", {:.0f} % of predicted pairs in order", 100 * e->models.pairs) : ""));
  } else if (const auto* e = std::get_if<tune::TaskDone>(&event)) {
    progress_.line(fmt::format("{}: default {}, best {} after {} trials", name(e->task), time_text(e->default_s), time_text(e->best_s), e->trials));
  } else if (const auto* e = std::get_if<tune::FinalsDone>(&event)) {
    progress_.line(finals_text(name(e->task), *e));
  } else if (std::holds_alternative<tune::BatchBegun>(event) || std::holds_alternative<tune::CandidateMoved>(event)) {
    // Lines say what became of candidates, not where they are.
  } else if (const auto* e = std::get_if<tune::Note>(&event)) {
    progress_.line(e->text);
  } else {
    progress_.update(done_, name(std::get<tune::Phase>(event).task) + ": " + std::get<tune::Phase>(event).name);
  }
}

}  // namespace tw::cli
