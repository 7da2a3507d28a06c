// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/local_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "engine/api/import_apart.h"
#include "engine/api/preparation.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/codegen/codegen.h"
#include "engine/frontends/frontend.h"
#include "engine/ir/lexer.h"
#include "engine/measure/device.h"
#include "engine/measure/peak.h"
#include "engine/measure/recorded_device.h"
#include "engine/process/temporary_folder.h"
#include "engine/runtime/thread_pool.h"
#include "engine/space/own/own.h"
#include "engine/tune/candidate.h"

namespace tw::app {
namespace {

/// That a text may take to be looked through; what is worth tuning takes a tenth of a second.
constexpr double kTextSeconds = 10;

/// `needs 40 registers, has 16` and `needs 48 registers, has 16` are one reason.
std::string withoutNumbers(const std::string& reason) {
  std::string out;
  for (const char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

}  // namespace

Target LocalEngine::target() {
  const std::scoped_lock lock(m_mutex);
  return m_target;
}

void LocalEngine::setTarget(const Target& target) {
  const std::scoped_lock lock(m_mutex);
  m_target = target;
}

void LocalEngine::setPreparation(const Json& choices) {
  auto passes = api::passes_for(choices);
  if (!passes) return;  // of another version
  const std::scoped_lock lock(m_mutex);
  m_passes = *std::move(passes);
}

Expected<std::vector<frontends::OpenSize>> LocalEngine::openSizes(const std::string& path) { return api::open_sizes_apart(path, {}, {}); }

Expected<api::Network> LocalEngine::import(const std::string& path, const Target& target, const std::map<std::string, int64_t>& sizes) {
  const auto passes = [this] {
    const std::scoped_lock lock(m_mutex);
    return m_passes;
  };
  return api::import_network_apart(path, target, {.dims = sizes}, {}, {}, passes());
}

Expected<Engine::CheckedText> LocalEngine::checkText(const std::string& text, StopToken stop) {
  const Target target = this->target();
  // What a text asks for, a process of its own tries first.
  TW_TRY(const process::TemporaryFolder folder, process::TemporaryFolder::create());
  const std::string path = folder.path() + "/text.te";
  TW_CHECK(write_file(path, kAnyOutput, text));
  if (auto apart = api::import_network_apart(path, target, {}, {.seconds = kTextSeconds}, stop); !apart) {
    Error e = apart.error();
    const auto place = ir::place_of(e);
    e.where = place ? fmt::format("line {}, column {}", place->line, place->column) : std::string();
    return e;
  }
  TW_TRY(space::own::Checked checked, space::own::check(text, target, stop));
  const records::Task task = records::make_task("text", checked.dag, target);
  const api::Explanation code = api::explain(task, checked.schedule->steps());
  if (code.error) return *code.error;
  CheckedText out{.key = task.key, .flops = task.flops, .point = checked.point, .looked = checked.looked, .built = checked.built, .refused = checked.refused};
  out.points = checked.space.size();
  out.space = std::make_shared<const space::ConfigSpace>(std::move(checked.space));
  out.loops = code.loops;
  out.tir = code.tir;
  return out;
}

std::vector<api::NetworkTask> LocalEngine::tasks(const api::Network& network, const Target& target, const std::function<bool(int done, int total)>& progress) {
  return api::network_tasks(network, target, progress);
}

std::vector<Engine::Space> LocalEngine::spaces(const records::Task& task) {
  const std::vector<const space::Template*> searched = space::alternatives(*task.dag, task.target);
  std::vector<Space> all;
  for (const space::Template* t : space::find_templates(*task.dag, task.target)) {
    const bool ours = std::find(searched.begin(), searched.end(), t) != searched.end();
    all.push_back({t->name, t->summary, t->source, std::make_shared<const space::ConfigSpace>(t->space(*task.dag, task.target)), ours});
  }
  std::stable_partition(all.begin(), all.end(), [](const Space& s) { return s.searched; });
  return all;
}

api::Explanation LocalEngine::explain(const records::Task& task, const std::vector<schedule::Step>& steps, const api::Network& network,
                                      const std::vector<int>& groups) {
  return api::explain(task, steps, network, groups);
}

api::Explanation LocalEngine::outline(const records::Task& task, const std::vector<schedule::Step>& steps, const api::Network& network,
                                      const std::vector<int>& groups) {
  return api::outline(task, steps, network, groups);
}

Expected<records::Candidate> LocalEngine::candidateAt(const records::Task& task, const std::string& space, int64_t index) {
  return api::candidate_at(task, space, index);
}

Engine::SpaceSample LocalEngine::sampleSpace(const records::Task& task, const std::string& name, int64_t limit, StopToken stop) {
  SpaceSample sample;
  const space::Template* t = space::find_template(*task.dag, task.target, name);
  if (!t) return sample;
  const space::ConfigSpace space = t->space(*task.dag, task.target);
  sample.all = space.size() <= limit;
  Rng rng(1);
  for (int64_t i = 0; i < std::min(limit, space.size()) && !stop.stop_requested(); ++i) {
    const auto point = space.get(sample.all ? i : rng.range(0, space.size() - 1));
    ++sample.looked;
    std::string reason = space.filtered_reason(*point);
    if (reason.empty()) {
      const auto schedule = t->apply(task.dag, task.target, *point);
      if (!schedule) reason = schedule.error().message;
    }
    if (reason.empty())
      ++sample.legal;
    else
      ++sample.refused[withoutNumbers(reason)];
  }
  return sample;
}

int64_t LocalEngine::pointByRule(const records::Task& task, const std::string& name) {
  const space::Template* t = space::find_template(*task.dag, task.target, name);
  return t ? t->fallback(*task.dag, task.target).index() : -1;
}

Expected<records::MeasureResult> LocalEngine::measure(const records::Task& task, const records::Candidate& candidate, StopToken stop) {
  TW_TRY(const measure::Device device, measure::open_device(measure::device_for(task.target), task.target, {}));
  const std::vector<measure::BuildOutcome> built = device.builder->build(task, std::span(&candidate, 1), stop);
  if (built[0].status == records::Status::ok) {
    records::MeasureResult result = device.runner->run(task, built, {}, stop)[0];
    result.build_s = built[0].seconds;
    return result;
  }
  records::MeasureResult failed;
  failed.status = built[0].status;
  failed.message = built[0].message;
  failed.build_s = built[0].seconds;
  failed.timestamp_s = unix_now_s();
  return failed;
}

Expected<measure::CounterReading> LocalEngine::count(const records::Task& task, const records::Candidate& candidate, StopToken stop) {
  if (task.target.gpu) return Error(ErrorCode::unsupported, "Events are counted on this machine's processors only");
  TW_TRY(const measure::Device device, measure::open_device(measure::kLocalDevice, task.target, {}));
  const std::vector<measure::BuildOutcome> built = device.builder->build(task, std::span(&candidate, 1), stop);
  return device.runner->count(task, built[0], stop);
}

Expected<measure::Roofline> LocalEngine::roofline(const Target& target) {
  if (target.gpu) return measure::gpu_roofline(*target.gpu);
  const runtime::ThreadPool pool(runtime::ThreadPool::with_processors(target.cores));
  return measure::measure_roofline(pool, 1.0);
}

Expected<api::Insight> LocalEngine::insight(const records::Task& task, const std::vector<schedule::Step>& steps) { return api::insight(task, steps); }

Expected<api::WhyFaster> LocalEngine::whyFaster(const records::Task& task, const records::Candidate& first, const records::Candidate& second,
                                                const api::TimeOfPoint& timeOf, const api::WhyOptions& options) {
  return api::why_faster(task, first, second, timeOf, options);
}

Expected<api::PlayedLoops> LocalEngine::playLoops(const records::Task& task, const std::vector<schedule::Step>& steps, const api::LoopPlayOptions& options,
                                                  StopToken stop) {
  return api::play_loops(task, steps, options, std::move(stop));
}

api::PassTrace LocalEngine::passes(const records::Task& task, const std::vector<schedule::Step>& steps) { return api::trace_passes(task, steps); }

Expected<std::vector<api::PassCost>> LocalEngine::passCosts(const api::PassCostRequest& request) { return api::pass_costs(request); }

api::PassTrace LocalEngine::graphPasses(const api::Network& network, const Target& target) { return api::trace_graph_passes(network, target); }

records::Candidate LocalEngine::defaultCandidate(const records::Task& task) { return tune::default_candidate(task); }

Expected<tune::SessionReport> LocalEngine::tune(const std::vector<tune::SessionTask>& tasks, const tune::SessionOptions& options, records::RecordSink& sink,
                                                const tune::EventSink& events, const tune::SessionControl& control,
                                                const std::shared_ptr<const records::RecordedTrials>& replay) {
  if (replay) {
    const measure::Device device = measure::recorded_device(std::string(records::kRecordedDevice), replay);
    return tune::run_session(tasks, options, *device.builder, *device.runner, sink, events, control);
  }
  const Target target = tasks.empty() ? this->target() : tasks.front().task.target;
  measure::WorkerOptions workers;
  workers.build_timeout_s = options.build_timeout_s;
  TW_TRY(const measure::Device device, measure::open_device(measure::device_for(target), target, workers));
  return tune::run_session(tasks, options, *device.builder, *device.runner, sink, events, control);
}

Expected<runtime::Executable> LocalEngine::compile(const api::Network& network, const Target& target, records::RecordSource* records, const api::CompileOptions& options) {
  return api::compile(network, target, records, options);
}

Expected<api::NetworkFinals> LocalEngine::networkFinals(const api::NetworkFinalsRequest& request) { return api::run_network_finals(request); }

Expected<NetworkRun> LocalEngine::runBuilt(const runtime::Executable& executable, int repeat, StopToken stop) {
  TW_TRY(const Target target, parse_target(executable.target));
  return runNetwork(executable, measure::device_for(target), repeat, stop);
}

const std::vector<tune::StrategyDef>& LocalEngine::strategies() { return tune::strategies(); }

std::vector<frontends::ZooModel> LocalEngine::zoo() {
  const auto models = frontends::zoo();
  return {models.begin(), models.end()};
}

Expected<void> LocalEngine::writeZooModel(const std::string& name, const frontends::ZooOptions& options, const std::string& path) {
  return frontends::write_zoo_model(name, options, path, false);
}

Expected<double> LocalEngine::peak(const Target& target) {
  const double peak = measure::peak_of(target);
  return peak > 0 ? Expected<double>(peak) : Error(ErrorCode::unsupported, "The multiply-add peak of this processor cannot be measured");
}

Expected<bool> LocalEngine::runCampaign(const logs::CampaignPlan& plan, const std::shared_ptr<db::Database>& database, const logs::CampaignHooks& hooks) {
  logs::CampaignHooks all = hooks;
  all.host = [this](const Target& target) {
    Json host = this->host(target);
    if (const auto rate = peak(target)) host[measure::kPeakOfHost] = *rate;
    return host;
  };
  return logs::run_campaign(plan, database, all);
}

Json LocalEngine::host(const Target& target) {
  Json host = to_json(host_target());
  host["device"] = measure::device_for(target);
  host["codegen"] = codegen::codegen_version();
  return host;
}

std::vector<farm::FarmFile> LocalEngine::farms() { return farm::known_farms(); }

Expected<farm::Survey> LocalEngine::survey(const farm::FarmFile& farm) { return farm::survey(farm); }

Expected<farm::Presence> LocalEngine::commandDevice(const farm::FarmFile& farm, const std::string& device, const std::string& command, const std::string& reason) {
  return farm::command_device(farm, device, command, reason);
}

}  // namespace tw::app
