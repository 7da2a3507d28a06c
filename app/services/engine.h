// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "app/logs/campaign_run.h"
#include "app/services/network_run.h"
#include "engine/api/compile.h"
#include "engine/api/explain.h"
#include "engine/api/insight.h"
#include "engine/api/loop_play.h"
#include "engine/api/pass_cost.h"
#include "engine/api/pass_trace.h"
#include "engine/api/why_faster.h"
#include "engine/api/network_finals.h"
#include "engine/base/json_fwd.h"
#include "engine/farm/survey.h"
#include "engine/measure/counters.h"
#include "engine/measure/roofline.h"
#include "engine/records/recorded_trials.h"
#include "engine/space/sketch/sketch.h"
#include "engine/tune/session.h"

namespace tw::app {

/// All that the services ask of the engine. Calls block and may come from any thread; tests put a fake in its place.
class Engine {
 public:
  struct Space {
    std::string name;  ///< of the template
    std::string summary, source;
    std::shared_ptr<const space::ConfigSpace> space;
    bool searched = true;  ///< false for AutoTVM's spaces, which are searched only by name
  };

  /// How many points of a space can be built.
  struct SpaceSample {
    int64_t looked = 0, legal = 0;
    bool all = false;                        ///< every point was looked at
    std::map<std::string, int64_t> refused;  ///< points by reason, with its numbers taken out
  };

  /// A computation of one's own that can be tuned.
  struct CheckedText {
    std::string key;      ///< of the task that it makes
    int64_t flops = 0;
    int64_t points = 1;   ///< of its space
    std::shared_ptr<const space::ConfigSpace> space;
    int64_t point = -1;   ///< that is shown; -1: the schedule by rule
    int looked = 0, built = 0;     ///< points that were lowered, and those that could be
    std::optional<Error> refused;  ///< why the first of the others could not
    std::string loops, tir;
  };

  virtual ~Engine() = default;
  virtual Target target() = 0;
  /// What models are opened for from now on.
  virtual void setTarget(const Target& target) = 0;
  /// How models are made ready from now on: choices of api::preparation_schema(). Others than those change nothing.
  virtual void setPreparation(const Json& choices) = 0;
  /// Sizes of inputs that a model file leaves open.
  virtual Expected<std::vector<frontends::OpenSize>> openSizes(const std::string& path) = 0;
  /// `sizes` by name; others are as the file proposes.
  virtual Expected<api::Network> import(const std::string& path, const Target& target, const std::map<std::string, int64_t>& sizes) = 0;
  /// Looks through a text (te/source.h), within limits of time and memory. Errors: with line and column (ir::place_of) where it is the text's.
  virtual Expected<CheckedText> checkText(const std::string& text, StopToken stop) = 0;
  /// `progress` as network_tasks() has it.
  virtual std::vector<api::NetworkTask> tasks(const api::Network& network, const Target& target, const std::function<bool(int done, int total)>& progress) = 0;
  /// Of every template that matches, those that a search goes through first; none: the task has the default schedule only.
  virtual std::vector<Space> spaces(const records::Task& task) = 0;
  /// Structures that the tuner ansor derives of the task, with the rules that made them.
  virtual std::vector<space::Sketch> sketches(const records::Task& task) = 0;
  /// `groups` of the network's partition compute the task.
  virtual api::Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps, const api::Network& network,
                                   const std::vector<int>& groups) = 0;
  /// The same without machine code, in a part of the time.
  virtual api::Explanation outline(const records::Task& task, const std::vector<schedule::Step>& steps, const api::Network& network,
                                   const std::vector<int>& groups) = 0;
  virtual Expected<records::Candidate> candidateAt(const records::Task& task, const std::string& space, int64_t index) = 0;
  /// Looks at `limit` points, spread by a fixed seed, or at all if there are no more.
  virtual SpaceSample sampleSpace(const records::Task& task, const std::string& space, int64_t limit, StopToken stop) = 0;
  /// The point of a template's space that untuned networks use, chosen without measuring; -1: there is none.
  virtual int64_t pointByRule(const records::Task& task, const std::string& space) = 0;
  /// Builds and times one candidate as a trial of a session would be.
  virtual Expected<records::MeasureResult> measure(const records::Task& task, const records::Candidate& candidate, StopToken stop) = 0;
  /// Builds the candidate and counts events of the processor in one call. Errors: unsupported for a target without counters; why it failed.
  virtual Expected<measure::CounterReading> count(const records::Task& task, const records::Candidate& candidate, StopToken stop) = 0;
  /// What the machine reaches, measured on all cores; takes about a second.
  virtual Expected<measure::Roofline> roofline(const Target& target) = 0;
  virtual Expected<api::Insight> insight(const records::Task& task, const std::vector<schedule::Step>& steps) = 0;
  virtual Expected<api::WhyFaster> whyFaster(const records::Task& task, const records::Candidate& first, const records::Candidate& second,
                                             const api::TimeOfPoint& timeOf, const api::WhyOptions& options) = 0;
  virtual Expected<api::PlayedLoops> playLoops(const records::Task& task, const std::vector<schedule::Step>& steps, const api::LoopPlayOptions& options,
                                               StopToken stop) = 0;
  /// The text of a kernel after every pass, and of the network after every graph pass.
  virtual api::PassTrace passes(const records::Task& task, const std::vector<schedule::Step>& steps) = 0;
  virtual api::PassTrace graphPasses(const api::Network& network, const Target& target) = 0;
  virtual Expected<std::vector<api::PassCost>> passCosts(const api::PassCostRequest& request) = 0;
  virtual records::Candidate defaultCandidate(const records::Task& task) = 0;
  /// With `replay` nothing is measured: trials end as those did.
  virtual Expected<tune::SessionReport> tune(const std::vector<tune::SessionTask>& tasks, const tune::SessionOptions& options, records::RecordSink& sink,
                                             const tune::EventSink& events, const tune::SessionControl& control,
                                             const std::shared_ptr<const records::RecordedTrials>& replay) = 0;
  /// Runs what is not done of a campaign (logs/campaign_run.h), which fills in what is stored of the machine. Returns whether all of it is done.
  virtual Expected<bool> runCampaign(const logs::CampaignPlan& plan, const std::shared_ptr<db::Database>& database, const logs::CampaignHooks& hooks) = 0;
  /// The network from the best records.
  virtual Expected<runtime::Executable> compile(const api::Network& network, const Target& target, records::RecordSource* records, const api::CompileOptions& options) = 0;
  virtual Expected<api::NetworkFinals> networkFinals(const api::NetworkFinalsRequest& request) = 0;
  /// Runs what compile() made so often, on the device that there is for its target, and compares its results with the reference.
  virtual Expected<NetworkRun> runBuilt(const runtime::Executable& executable, int repeat, StopToken stop) = 0;
  virtual const std::vector<tune::StrategyDef>& strategies() = 0;
  virtual std::vector<frontends::ZooModel> zoo() = 0;
  /// Does not wait for the disk (file.h).
  virtual Expected<void> writeZooModel(const std::string& name, const frontends::ZooOptions& options, const std::string& path) = 0;
  /// Multiply-add rate of all cores of the target in FLOP/s: that of one core, measured, times their number.
  virtual Expected<double> peak(const Target& target) = 0;
  /// The machine, for the session's record.
  virtual Json host(const Target& target) = 0;
  /// Farms that this machine keeps, whose devices may measure for sessions.
  virtual std::vector<farm::FarmFile> farms() = 0;
  /// How one of them is; waits for its devices. Errors: those of connecting.
  virtual Expected<farm::Survey> survey(const farm::FarmFile& farm) = 0;
  /// Tells one of its devices what to do, as farm::command_device does.
  virtual Expected<farm::Presence> commandDevice(const farm::FarmFile& farm, const std::string& device, const std::string& command, const std::string& reason) = 0;
};

}  // namespace tw::app
