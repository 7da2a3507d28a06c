// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <chrono>
#include <limits>
#include <mutex>
#include <thread>

#include "app/services/engine.h"

#include "engine/base/json.h"
#include "engine/space/own/own.h"

namespace tw::app {

/// An engine that measures nothing: a small network, a space of 100 points, trials with made-up times at a chosen pace.
class FakeEngine : public Engine {
 public:
  int millisPerTrial = 1;      ///< -1: none at all
  double trialsPerSecond = 0;  ///< if above 0, the pace instead of millisPerTrial
  int trialsPerBatch = 1;      ///< stored and told together
  static constexpr int64_t kRoundTrials = 10;
  bool failTuning = false;
  std::string endedBecause;  ///< what sessions say of their end
  int64_t byRule = 0;  ///< the point that untuned networks use
  std::atomic<int> explained = 0, traced = 0, pausedPolls = 0, told = 0;
  std::atomic<int> zooFilesWritten = 0;
  std::atomic<int64_t> lastBatch = 0;  ///< of the bundled network that was written last
  std::atomic<int> replayed = 0;  ///< trials that the last session had to replay

  std::vector<farm::FarmFile> knownFarms;
  Expected<farm::Survey> farmSurvey = farm::Survey{};  ///< what every farm says; set while nobody asks
  std::atomic<bool> holdMachineCode = false;  ///< explains nothing until this is false
  std::atomic<int> surveys = 0;
  std::atomic<bool> holdSurvey = false;  ///< farms do not answer until this is false
  std::vector<farm::FarmFile> farms() override { return knownFarms; }
  Expected<farm::Survey> survey(const farm::FarmFile&) override {
    ++surveys;
    while (holdSurvey) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return farmSurvey;
  }

  /// Devices do as they are told, but for those that do not answer.
  Expected<farm::Presence> commandDevice(const farm::FarmFile&, const std::string& device, const std::string& command, const std::string& reason) override {
    if (farmSurvey)
      for (farm::Presence& p : farmSurvey->devices) {
        if (p.device != device) continue;
        const bool held = command == "quarantine";
        if (held || command == "drain" || command == "resume" || command == "release") p.phase = held ? "quarantined" : command == "drain" ? "drained" : "idle", p.reason = reason;
        return p;
      }
    return Error(ErrorCode::not_found, "Expected a device, found none named '" + device + "' that answers");
  }

  Target target() override {
    const std::scoped_lock lock(m_mutex);
    return m_target;
  }

  std::vector<frontends::OpenSize> sizes;      ///< what every file leaves open
  std::map<std::string, int64_t> givenSizes;  ///< of the last import
  Json preparation;                           ///< that was chosen last

  Expected<std::vector<frontends::OpenSize>> openSizes(const std::string&) override { return sizes; }

  Expected<api::Network> import(const std::string& path, const Target&, const std::map<std::string, int64_t>& chosen) override {
    givenSizes = chosen;
    if (!QFile::exists(QString::fromStdString(path))) return Error(ErrorCode::not_found, "The file does not exist", path);
    graph::GraphBuilder b("fake");
    int x = b.input("x", {kFloat32, {1, 16}});
    for (int i = 0; i < 3; ++i) x = (*b.node("relu", {x}, {}, "body.relu_" + std::to_string(i)))[0];
    b.output((*b.node("tanh", {x}, {}, "last"))[0]);
    api::Network n;
    n.imported = n.optimized = std::move(b).finish();
    for (size_t i = 0; i < n.optimized.nodes.size(); ++i) n.optimized.nodes[i].group = static_cast<int>(i);
    TW_TRY(n.partition, graph::partition(n.optimized));
    n.content_key = "fake:" + path;
    return n;
  }

  Expected<CheckedText> checkText(const std::string& text, StopToken stop) override {
    TW_TRY(space::own::Checked checked, space::own::check(text, host_target(), stop));
    CheckedText out{.key = "fake", .flops = 1000, .points = checked.space.size(), .point = checked.point, .looked = checked.looked, .built = checked.built};
    out.space = std::make_shared<const space::ConfigSpace>(std::move(checked.space));
    out.loops = "for y\n  for x\n", out.tir = "def main():\n    pass\n";
    return out;
  }

  std::atomic<bool> holdTasks = false;  ///< makes none until this is false, unless it is stopped
  std::vector<api::NetworkTask> tasks(const api::Network& network, const Target& target, const std::function<bool(int done, int total)>& progress) override {
    std::vector<api::NetworkTask> out;
    while (holdTasks && progress(0, static_cast<int>(network.partition.workloads.size()))) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const auto& w : network.partition.workloads) {
      api::NetworkTask t;
      t.task = records::make_task(w.name, w.dag, target);
      t.task.flops = 1'000'000;
      t.weight = w.weight();
      t.flops_share = 0.5;
      t.space = "fake.cpu";
      t.space_size = 100;
      out.push_back(std::move(t));
    }
    return out;
  }

  std::vector<Space> spaces(const records::Task&) override {
    auto s = std::make_shared<space::ConfigSpace>();
    std::vector<Json> ten;
    for (int i = 0; i < 10; ++i) ten.push_back(i);
    s->define_knob("a", ten);
    s->define_knob("b", ten);
    auto other = std::make_shared<space::ConfigSpace>();
    other->define_split("c", 64, {.num_outputs = 3});
    return {{"fake.cpu", "A space for tests", "none", s}, {"other.cpu", "Another way", "none", other}};
  }

  std::vector<space::Sketch> sketches(const records::Task& task) override { return space::sketches(task.dag, task.target); }

  api::Explanation explain(const records::Task&, const std::vector<schedule::Step>& steps, const api::Network&, const std::vector<int>&) override {
    while (holdMachineCode) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++explained;
    api::Explanation e = outlineOf(steps);
    e.llvm_ir = "ret void\n", e.assembly = "ret\n";
    return e;
  }

  api::Explanation outline(const records::Task&, const std::vector<schedule::Step>& steps, const api::Network&, const std::vector<int>&) override {
    return outlineOf(steps);
  }

  Expected<records::Candidate> candidateAt(const records::Task&, const std::string&, int64_t index) override {
    if (index == 13) return Error(ErrorCode::resource_limit, "Point 13 needs 40 vector registers, the target has 16");
    return candidate(index);
  }
  SpaceSample sampleSpace(const records::Task&, const std::string&, int64_t, StopToken) override {
    return {100, 60, true, {{"Expected at most # registers, found #", 40}}};
  }
  int64_t pointByRule(const records::Task&, const std::string&) override { return byRule; }
  /// Each step of knob `b` saves a tenth, `a` is of no use.
  Expected<records::MeasureResult> measure(const records::Task&, const records::Candidate& candidate, StopToken) override {
    records::MeasureResult r;
    r.status = records::Status::ok;
    r.samples_s = {0.002 - 0.0001 * static_cast<double>(std::max<int64_t>(0, candidate.index) / 10)}, r.sample_flags = {false}, r.verified = true,
    r.timestamp_s = 1.9e9;
    return r;
  }
  Expected<measure::CounterReading> count(const records::Task&, const records::Candidate&, StopToken) override {
    return measure::CounterReading{{{measure::Event::cycles, 1e4}, {measure::Event::instructions, 2.5e4}}, "Not counted: llc_misses; this machine has none"};
  }
  bool failRoofline = false;
  std::atomic<int> gpuRoofs = 0;
  Expected<measure::Roofline> roofline(const Target& target) override {
    gpuRoofs += target.gpu ? 1 : 0;
    if (failRoofline) return Error(ErrorCode::unsupported, "This processor has no clock that can be read");
    return measure::Roofline{1e11, {{1 << 15, 1e11}, {1 << 28, 1e10}}};
  }
  Expected<api::WhyFaster> whyFaster(const records::Task& task, const records::Candidate& first, const records::Candidate& second,
                                     const api::TimeOfPoint& timeOf, const api::WhyOptions& options) override {
    return api::why_faster(task, first, second, timeOf, options);
  }
  std::atomic<int> playedLoops = 0;
  Expected<api::PlayedLoops> playLoops(const records::Task& task, const std::vector<schedule::Step>& steps, const api::LoopPlayOptions& options,
                                       StopToken stop) override {
    ++playedLoops;
    return api::play_loops(task, steps, options, stop);
  }
  Expected<api::Insight> insight(const records::Task& task, const std::vector<schedule::Step>&) override {
    api::Insight i;
    i.flops = static_cast<double>(task.flops), i.compulsory_bytes = 1e4, i.vector_lanes = 16;
    i.nest = {{"i", tir::ForKind::parallel, 8, 1, 1e4, {{"x", 4e3}, {"y", 6e3}}}, {"j", tir::ForKind::vectorized, 16, 8, 64, {{"y", 64}}}};
    return i;
  }
  api::PassTrace passes(const records::Task&, const std::vector<schedule::Step>& steps) override {
    ++traced;
    api::PassTrace trace;
    const auto text = [&](int i) {
      std::string t = "def main():\n";
      for (int line = 0; line < 4; ++line) t += "    line " + std::to_string(line) + (i >= 2 && line == 1 ? " unrolled\n" : "\n");
      t += i >= 4 ? "    for i in T.vectorized(4):\n        x[i] = 1\n" : "    for i in T.serial(4):\n        x[i] = 1\n";
      // Candidates with steps have another structure from the third pass on.
      return i >= 3 && !steps.empty() ? t + "    more\n" : t;
    };
    for (int i = 0; i < 5; ++i) {
      const bool changed = i > 0 && text(i) != text(i - 1);
      trace.passes.push_back({i == 0 ? "lowered" : "pass_" + std::to_string(i), i == 0 ? "" : "What it does.", "none", i * 1e-4, changed,
                              i > 0 && !changed ? trace.passes.back().text : std::make_shared<const std::string>(text(i))});
      if (i == 1) trace.passes.back().needed = "later passes know no other form";
    }
    return trace;
  }
  api::PassTrace graphPasses(const api::Network& network, const Target&) override {
    api::PassTrace trace;
    // Two operators become one kernel, one is removed and one made.
    graph::GraphBuilder b("fused");
    int x = b.input("x", {kFloat32, {1, 16}});
    for (int i = 0; i < 2; ++i) x = (*b.node("relu", {x}, {}, "body.relu_" + std::to_string(i)))[0], b.set_group(0);
    x = (*b.node("sigmoid", {x}, {}, "made"))[0];
    b.set_group(1);
    b.output((*b.node("tanh", {x}, {}, "last"))[0]);
    const auto add = [&](const char* name, const graph::Graph& g, double seconds) {
      api::TracedPass& p = trace.passes.emplace_back();
      p.name = name, p.seconds = seconds, p.changed = seconds > 0;
      p.summary = seconds > 0 ? "Groups." : "", p.source = "none";
      p.text = std::make_shared<const std::string>(graph::print(g)), p.graph = std::make_shared<const graph::Graph>(g);
    };
    add("imported", network.imported, 0);
    add("fuse_operators", std::move(b).finish(), 1e-3);
    return trace;
  }
  std::atomic<bool> holdCosts = false;  ///< nothing is measured until this is false, unless it is stopped
  std::optional<Error> failCosts;
  /// Without each pass the network takes a tenth longer than without the one before; the third makes no difference, of the fourth the results are wrong.
  Expected<std::vector<api::PassCost>> passCosts(const api::PassCostRequest& request) override {
    if (failCosts) return *failCosts;
    std::vector<api::PassCost> costs;
    for (const std::string& pass : request.passes) {
      request.progress("With and without " + pass + ", process 1", static_cast<int>(costs.size()), static_cast<int>(request.passes.size()));
      while (holdCosts && !request.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (request.stop.stop_requested()) return Error(ErrorCode::cancelled, "Stopped");
      api::PassCost c{.pass = pass, .task = request.task};
      const double times = 1.1 + 0.1 * static_cast<double>(costs.size());
      c.with = {.calls = 3, .kernels = 3, .tuned = 2, .arena_bytes = 4096, .code_bytes = 9000};
      c.without = {.calls = 4, .kernels = 4, .tuned = 1, .arena_bytes = 8192, .code_bytes = 9500};
      c.measured = true, c.ratio = {times, times - 0.02, times + 0.02}, c.with_s = 1e-3, c.without_s = 1e-3 * times, c.launches = 6;
      if (costs.size() == 2) c.ratio = {1.001, 0.99, 1.01};
      if (costs.size() == 3) c.measured = false, c.problem = "output 0 differs by 0.5 from the first network's, where 1e-05 is allowed";
      request.on_cost(c);
      costs.push_back(std::move(c));
    }
    return costs;
  }
  records::Candidate defaultCandidate(const records::Task&) override {
    records::Candidate c;
    c.space = "default";
    return c;
  }

  Expected<tune::SessionReport> tune(const std::vector<tune::SessionTask>& tasks, const tune::SessionOptions& options, records::RecordSink& sink,
                                     const tune::EventSink& events, const tune::SessionControl& control,
                                     const std::shared_ptr<const records::RecordedTrials>& replay) override {
    replayed = replay ? static_cast<int>(replay->size()) : 0;
    if (failTuning) return Error(ErrorCode::infrastructure, "The worker program is missing");
    tune::SessionReport report;
    events(tune::SessionPlanned{options.trials});
    const auto begin = std::chrono::steady_clock::now();
    int64_t made = 0, trialsInAll = 0;
    int64_t round = control.rounds && !control.rounds->empty() ? control.rounds->back().number : 0;
    std::vector<double> bests(tasks.size(), std::numeric_limits<double>::infinity());
    for (const auto& t : tasks) trialsInAll += static_cast<int64_t>(t.history.size());
    const int64_t each = options.trials / static_cast<int64_t>(tasks.size());
    for (size_t t = 0; t < tasks.size() && !report.cancelled; ++t) {
      const int task = static_cast<int>(t);
      events(tune::TaskStarted{task, "fake.cpu", 100});
      events(tune::RoundStarted{task, task + 1, each, each, "the next one"});
      double best = std::numeric_limits<double>::infinity();
      std::vector<tune::TrialDone> batch;
      for (int64_t n = static_cast<int64_t>(tasks[t].history.size()) + 1; n <= each; ++n) {
        for (; control.paused && control.paused() && !control.stop.stop_requested(); ++pausedPolls) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (control.stop.stop_requested()) {
          report.cancelled = true;
          break;
        }
        records::Record r{tasks[t].task.key, n == 1 ? defaultCandidate(tasks[t].task) : candidate(n), {}};
        // One tuner has a model, a new one every 16 trials.
        if (options.tuner == "xgb" && n > 16) r.prediction = records::Prediction{static_cast<double>(n), n / 16 * 16};
        const bool failed = n % 6 == 5;
        r.result.status = failed ? records::Status::run_timeout : records::Status::ok;
        if (failed)
          r.result.message = "The candidate ran longer than 10 s";
        else
          r.result.samples_s = {0.01 / static_cast<double>(n)}, r.result.sample_flags = {false}, r.result.verified = true,
          best = std::min(best, 0.01 / static_cast<double>(n));
        r.result.timestamp_s = 1.8e9 + static_cast<double>(n);
        batch.push_back(tune::TrialDone{task, n, r, best});
        if (static_cast<int>(batch.size()) >= trialsPerBatch || n == each) {
          std::vector<records::Record> stored;
          for (const auto& e : batch) stored.push_back(e.record);
          trialsInAll += static_cast<int64_t>(batch.size());
          bests[t] = best;
          const bool ends = n / kRoundTrials != (n - static_cast<int64_t>(batch.size())) / kRoundTrials || n == each;
          records::Round ended{.number = ++round, .task_key = tasks[t].task.key, .planned = kRoundTrials, .trials = static_cast<int64_t>(batch.size()),
                           .decision = decision, .best_s = best, .network_s = 0, .session_trials = trialsInAll};
          for (size_t i = 0; i < tasks.size(); ++i) ended.network_s += tasks[i].weight * bests[i];
          ended.elapsed_s = 2e-3 * static_cast<double>(trialsInAll), ended.measured_s = 1e-3 * static_cast<double>(trialsInAll);
          if (!ends) --round;
          TW_CHECK(ends ? sink.store(tasks[t].task, stored, ended) : sink.store(tasks[t].task, stored));
          for (const auto& e : batch) events(e), ++told;
          if (ends) events(tune::RoundDone{task, ended});
          batch.clear();
        }
        if (trialsPerSecond > 0)
          std::this_thread::sleep_until(begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                    std::chrono::duration<double>(static_cast<double>(++made) / trialsPerSecond)));
        else if (millisPerTrial >= 0)
          std::this_thread::sleep_for(std::chrono::milliseconds(millisPerTrial));
      }
      tune::TaskDone done;
      done.task = task, done.default_s = 0.01, done.best_s = best, done.trials = each, done.by_status[records::Status::ok] = each;
      report.tasks.push_back(done);
      events(done);
    }
    report.ended = endedBecause;
    return report;
  }

  std::string decision = R"({"why":"It is its turn","share":0.5})";  ///< of every round
  /// What runs of the network find; nothing is measured without.
  std::optional<api::NetworkFinals> inNetwork;
  Expected<api::NetworkFinals> networkFinals(const api::NetworkFinalsRequest& request) override {
    if (!inNetwork) return api::NetworkFinals{.measured = false};
    api::NetworkFinals finals = *inNetwork;
    for (const api::TriedTask& t : request.tasks) {
      api::KernelFinal k{.task_key = t.task.task.key, .name = t.task.task.name, .weight = t.task.weight, .default_s = t.default_s};
      k.tried = t.best && !t.best->candidate.is_default();
      if (k.tried) k.record = t.best, k.best_s = t.best->result.decided_s(), ++finals.tried, ++finals.taken;
      finals.kernels.push_back(std::move(k));
    }
    return finals;
  }

  std::atomic<bool> holdCampaign = false;  ///< no trial is told of until this is false, unless it is stopped
  /// Campaigns are real, on machines that are formulas.
  Expected<bool> runCampaign(const logs::CampaignPlan& plan, const std::shared_ptr<db::Database>& database, const logs::CampaignHooks& hooks) override {
    logs::CampaignHooks all = hooks;
    all.host = [](const Target&) { return Json{{"cpu", "fake"}}; };
    all.events = [this, &hooks](const tune::Event& event) {
      while (holdCampaign && std::holds_alternative<tune::TrialDone>(event) && !hooks.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      hooks.events(event);
    };
    return logs::run_campaign(plan, database, all);
  }

  const std::vector<tune::StrategyDef>& strategies() override {
    static const std::vector<tune::StrategyDef> list = {*tune::find_strategy("random"), *tune::find_strategy("xgb")};
    return list;
  }
  std::vector<frontends::ZooModel> zoo() override { return {{"fake", "A network for tests", nullptr}}; }
  Expected<void> writeZooModel(const std::string&, const frontends::ZooOptions& options, const std::string& path) override {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::WriteOnly)) return Error(ErrorCode::io_error, "Cannot write", path);
    file.write("fake");
    lastBatch = options.batch;
    ++zooFilesWritten;
    return {};
  }
  Expected<double> peak(const Target&) override { return 1e11; }
  Json host(const Target& target) override { return {{"cpu", "fake"}, {"device", measure::device_for(target)}}; }
  void setTarget(const Target& target) override {
    const std::scoped_lock lock(m_mutex);
    m_target = target;
  }
  void setPreparation(const Json& choices) override { preparation = choices; }
  Expected<runtime::Executable> compile(const api::Network&, const Target&, records::RecordSource*, const api::CompileOptions&) override {
    return Error(ErrorCode::unsupported, "Nothing is built here");
  }
  Expected<NetworkRun> runBuilt(const runtime::Executable&, int, StopToken) override { return Error(ErrorCode::unsupported, "Nothing is run here"); }

 private:
  std::mutex m_mutex;
  Target m_target = *parse_target("llvm -mcpu=x86-64-v3 -num-cores=1");
  static api::Explanation outlineOf(const std::vector<schedule::Step>& steps) {
    api::Explanation e;
    e.steps = steps.empty() ? "default" : "split", e.loops = "for i", e.tir = "def main():\n    pass\n";
    return e;
  }
  static records::Candidate candidate(int64_t index) {
    records::Candidate c;
    c.space = "fake.cpu";
    c.index = index;
    c.steps = {schedule::FuseStep{0, {0, 1}}};
    return c;
  }
};

}  // namespace tw::app
