// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/services/local_engine.h"
#include "engine/base/json.h"
#include "engine/measure/analytic_runner.h"

namespace tw::app {

/// The engine as it is, but the machine is a formula: sessions take seconds and end the same everywhere.
class FormulaEngine : public LocalEngine {
 public:
  measure::AnalyticOptions machine;
  std::vector<farm::FarmFile> knownFarms;  ///< none of this machine's
  farm::Survey farmSurvey;                 ///< what each of them says

  std::vector<farm::FarmFile> farms() override { return knownFarms; }
  Expected<farm::Survey> survey(const farm::FarmFile&) override {
    ++m_asked;
    farm::Survey now = farmSurvey;
    for (farm::Presence& p : now.devices) {
      p.measured += p.phase == "measuring" ? 9 * m_asked : 0;
      p.references.flop_per_s *= 1 - 0.02 * (m_asked % 3);
    }
    return now;
  }

  Expected<farm::Presence> commandDevice(const farm::FarmFile&, const std::string& device, const std::string&, const std::string&) override {
    for (const farm::Presence& p : farmSurvey.devices)
      if (p.device == device) return p;
    return Error(ErrorCode::not_found, "No device of that name answers");
  }

  Expected<tune::SessionReport> tune(const std::vector<tune::SessionTask>& tasks, const tune::SessionOptions& options, records::RecordSink& sink,
                                     const tune::EventSink& events, const tune::SessionControl& control,
                                     const std::shared_ptr<const records::RecordedTrials>& replay) override {
    if (replay) return LocalEngine::tune(tasks, options, sink, events, control, replay);
    return tune::run_session(tasks, options, *measure::analytic_builder(machine), *measure::analytic_runner(machine), sink, events, control);
  }
  Expected<api::NetworkFinals> networkFinals(const api::NetworkFinalsRequest&) override { return api::NetworkFinals{.measured = false}; }
  Expected<double> peak(const Target&) override { return machine.peak_flop_per_s; }
  Expected<measure::Roofline> roofline() override { return measure::Roofline{machine.peak_flop_per_s, {{1 << 15, 1e12}, {1 << 19, 4e11}, {1 << 28, 2e10}}}; }

 private:
  std::atomic<int> m_asked = 0;
};

}  // namespace tw::app
