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
  /// Networks are compiled; in a made-up run a call takes a microsecond and what its operations need.
  Expected<std::vector<api::PassCost>> passCosts(const api::PassCostRequest& request) override {
    struct Formula final : measure::NetworkRunner {
      double flop_per_s = 1;
      Expected<measure::NetworkTimes> run(const measure::NetworkJob& job, StopToken) override {
        Rng rng(job.seed);
        measure::NetworkTimes times;
        for (const std::string& file : job.files) {
          TW_TRY(const runtime::Executable e, runtime::load_executable(file));
          measure::VariantTimes& v = times.variants.emplace_back();
          v.runs_s.assign(static_cast<size_t>(job.rounds), 0);
          v.woke.assign(e.calls.size(), false);
          for (const runtime::Call& c : e.calls) {
            v.calls_s.emplace_back();
            for (int r = 0; r < job.rounds; ++r) v.calls_s.back().push_back((1e-6 + c.flops / flop_per_s) * (1 + 0.05 * rng.uniform_real()));
          }
          for (const int s : e.outputs)
            if (job.outputs) v.outputs.push_back(HostArray::make(e.slots[static_cast<size_t>(s)].spec.dtype, e.slots[static_cast<size_t>(s)].spec.shape));
        }
        return times;
      }
    } formula;
    formula.flop_per_s = machine.peak_flop_per_s / 4;
    return api::pass_costs(request, formula);
  }
  Expected<double> peak(const Target&) override { return machine.peak_flop_per_s; }
  Expected<measure::Roofline> roofline(const Target&) override {
    return measure::Roofline{machine.peak_flop_per_s, {{1 << 15, 1e12}, {1 << 19, 4e11}, {1 << 28, 2e10}}};
  }

 private:
  std::atomic<int> m_asked = 0;
};

}  // namespace tw::app
