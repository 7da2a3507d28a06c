// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <mutex>

#include "app/services/engine.h"
#include "engine/base/json_fwd.h"

namespace tw::app {

/// The engine of this machine: candidates are built and measured by tw-worker processes. Tasks for a GPU that
/// is not here are simulated (measure/device.h).
class LocalEngine : public Engine {
 public:
  explicit LocalEngine(Target target = host_target()) : m_target(std::move(target)) {}
  Target target() override;
  void setTarget(const Target& target) override;
  void setPreparation(const Json& choices) override;
  Expected<std::vector<frontends::OpenSize>> openSizes(const std::string& path) override;
  Expected<api::Network> import(const std::string& path, const Target& target, const std::map<std::string, int64_t>& sizes) override;
  Expected<CheckedText> checkText(const std::string& text, StopToken stop) override;
  std::vector<api::NetworkTask> tasks(const api::Network& network, const Target& target, const std::function<bool(int done, int total)>& progress) override;
  std::vector<Space> spaces(const records::Task& task) override;
  std::vector<space::Sketch> sketches(const records::Task& task) override { return space::sketches(task.dag, task.target); }
  api::Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps, const api::Network& network,
                           const std::vector<int>& groups) override;
  api::Explanation outline(const records::Task& task, const std::vector<schedule::Step>& steps, const api::Network& network,
                           const std::vector<int>& groups) override;
  Expected<records::Candidate> candidateAt(const records::Task& task, const std::string& space, int64_t index) override;
  SpaceSample sampleSpace(const records::Task& task, const std::string& space, int64_t limit, StopToken stop) override;
  int64_t pointByRule(const records::Task& task, const std::string& space) override;
  Expected<records::MeasureResult> measure(const records::Task& task, const records::Candidate& candidate, StopToken stop) override;
  Expected<measure::CounterReading> count(const records::Task& task, const records::Candidate& candidate, StopToken stop) override;
  Expected<measure::Roofline> roofline(const Target& target) override;
  Expected<api::WhyFaster> whyFaster(const records::Task& task, const records::Candidate& first, const records::Candidate& second,
                                     const api::TimeOfPoint& timeOf, const api::WhyOptions& options) override;
  Expected<api::PlayedLoops> playLoops(const records::Task& task, const std::vector<schedule::Step>& steps, const api::LoopPlayOptions& options,
                                       StopToken stop) override;
  Expected<api::Insight> insight(const records::Task& task, const std::vector<schedule::Step>& steps) override;
  api::PassTrace passes(const records::Task& task, const std::vector<schedule::Step>& steps) override;
  api::PassTrace graphPasses(const api::Network& network, const Target& target) override;
  Expected<std::vector<api::PassCost>> passCosts(const api::PassCostRequest& request) override;
  records::Candidate defaultCandidate(const records::Task& task) override;
  Expected<tune::SessionReport> tune(const std::vector<tune::SessionTask>& tasks, const tune::SessionOptions& options, records::RecordSink& sink,
                                     const tune::EventSink& events, const tune::SessionControl& control,
                                     const std::shared_ptr<const records::RecordedTrials>& replay) override;
  Expected<bool> runCampaign(const logs::CampaignPlan& plan, const std::shared_ptr<db::Database>& database, const logs::CampaignHooks& hooks) override;
  Expected<runtime::Executable> compile(const api::Network& network, const Target& target, records::RecordSource* records, const api::CompileOptions& options) override;
  Expected<api::NetworkFinals> networkFinals(const api::NetworkFinalsRequest& request) override;
  Expected<NetworkRun> runBuilt(const runtime::Executable& executable, int repeat, StopToken stop) override;
  const std::vector<tune::StrategyDef>& strategies() override;
  std::vector<frontends::ZooModel> zoo() override;
  Expected<void> writeZooModel(const std::string& name, const frontends::ZooOptions& options, const std::string& path) override;
  Expected<double> peak(const Target& target) override;
  Json host(const Target& target) override;
  std::vector<farm::FarmFile> farms() override;
  Expected<farm::Survey> survey(const farm::FarmFile& farm) override;
  Expected<farm::Presence> commandDevice(const farm::FarmFile& farm, const std::string& device, const std::string& command, const std::string& reason) override;

 private:
  std::mutex m_mutex;
  Target m_target;  ///< what models are opened for
  graph::PassHooks m_passes;  ///< how they are made ready; guarded as the target is
};

}  // namespace tw::app
