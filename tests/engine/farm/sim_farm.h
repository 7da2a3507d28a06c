// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/sha256.h"
#include "engine/farm/agent.h"
#include "engine/farm/queue.h"
#include "engine/farm/server.h"
#include "engine/process/temporary_folder.h"

/// A farm with a server of its own and devices that are threads and answer with what they were asked.
namespace tw::test {

/// When a device had a job, on one clock for all.
struct Tenure {
  std::string trial, device;
  double from_s = 0, to_s = 0;
};

class Tenures {
 public:
  static double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
  void add(Tenure t) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(t));
  }
  std::vector<Tenure> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  /// Pairs of tenures of one trial that overlap.
  int overlaps() const {
    int found = 0;
    const std::vector<Tenure> list = all();
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t j = i + 1; j < list.size(); ++j) found += list[i].trial == list[j].trial && list[i].from_s < list[j].to_s && list[j].from_s < list[i].to_s;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Tenure> all_;
};

/// What a simulated device makes of a job's seed.
inline double answer_of(int64_t seed) { return static_cast<double>(seed) * 3 + 1; }

/// Takes a time for each job and answers by its seed.
class SimBench final : public farm::Bench {
 public:
  SimBench(std::string device, double seconds, Tenures* tenures) : device_(std::move(device)), seconds_(seconds), tenures_(tenures) {}
  Expected<process::Frame> measure(const Json& job, const std::vector<std::byte>& object, StopToken stop) override {
    if (job.value("poison", false)) return Error(ErrorCode::cancelled, "it ended the agent");
    const double from = Tenures::now_s();
    const double until = from + seconds_ * job.value("factor", 1.0);
    while (Tenures::now_s() < until && !stop.stop_requested()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (tenures_ != nullptr) tenures_->add({job.value("trial", ""), device_, from, Tenures::now_s()});
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "stopped");
    return process::Frame{Json{{"status", "ok"}, {"value", answer_of(job["seed"].get<int64_t>())}, {"bytes", object.size()}}, {}};
  }
  Expected<measure::References> references(StopToken) override { return measure::References{1e9, 1e9}; }

 private:
  std::string device_;
  double seconds_;
  Tenures* tenures_;
};

/// An agent on a thread.
class SimDevice {
 public:
  SimDevice(const farm::FarmFile& farm, const std::string& kind, const std::string& name, const std::string& folder, double seconds, Tenures* tenures, double lease_s = 1)
      : bench_(name, seconds, tenures) {
    farm::AgentOptions options;
    options.access = farm.agent(kind).value();
    options.device = name;
    options.folder = folder + "/" + name;
    options.lease_s = lease_s;
    options.presence_s = 0.5;
    agent_ = std::move(farm::Agent::create(std::move(options), bench_).value());
    thread_ = std::thread([this] { ended_ = agent_->run(stop_.get_token()); });
  }
  ~SimDevice() { stop(); }
  void stop() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  const Expected<void>& ended() const { return ended_; }

 private:
  SimBench bench_;
  std::unique_ptr<farm::Agent> agent_;
  StopSource stop_;
  Expected<void> ended_;
  std::thread thread_;
};

/// A server on a free port, with its folder; ends with it.
class SimFarm {
 public:
  explicit SimFarm(const std::string& kind = "sim", bool encrypted = false) : folder_(std::move(process::TemporaryFolder::create().value())) {
    ::setenv("TW_FARMS", (folder_.path() + "/farms").c_str(), 1);
    file = farm::farm_up("test", kind, {.encrypted = encrypted}).value();
  }
  ~SimFarm() { static_cast<void>(farm::farm_down(file)); }

  farm::Queue::Options session(const std::string& kind = "sim", const std::string& name = "session") const {
    farm::Queue::Options options;
    options.access = file.session();
    options.kind = kind;
    options.session = name;
    options.lease_s = 1;
    options.reconcile_s = 0.5;
    return options;
  }
  /// SIGKILL, and another one on the same store, or on an empty one.
  void kill_server(bool wipe) {
    const auto text = read_file(file.folder + "/server.pid").value();
    ::kill(std::stoi(text), SIGKILL);
    ::waitpid(std::stoi(text), nullptr, 0);  // the child of this process
    if (wipe) std::filesystem::remove_all(file.folder + "/stored");
    file = farm::farm_up("test", "sim").value();
  }
  std::string folder() const { return folder_.path(); }

  farm::FarmFile file;

 private:
  process::TemporaryFolder folder_;
};

/// A job that a SimBench answers.
inline farm::Job sim_job(const std::string& kind, const std::string& session, int64_t seed, const std::vector<std::byte>& object) {
  farm::Job job;
  job.trial = "t" + std::to_string(seed);
  job.session = session;
  job.kind = kind;
  job.sha = sha256_hex(object);
  job.bytes = static_cast<int64_t>(object.size());
  job.measure = Json{{"seed", seed}, {"trial", job.trial}};
  return job;
}

/// Puts jobs in, in flights of `at_once`, and counts what comes back by trial.
struct Tally {
  std::map<std::string, int> times;
  int wrong = 0, refused = 0;
  void take(const farm::Result& r) {
    ++times[r.trial];
    if (!r.refused.empty()) {
      ++refused;
      return;
    }
    wrong += !r.reply.header.contains("value") || r.reply.header["value"] != answer_of(std::stoll(r.trial.substr(1)));
  }
  void take_all(const Expected<std::vector<farm::Result>>& results) {
    for (const farm::Result& r : results.value()) take(r);
  }
  bool each_once(int64_t count) const {
    return static_cast<int64_t>(times.size()) == count && std::all_of(times.begin(), times.end(), [](const auto& t) { return t.second == 1; });
  }
};

}  // namespace tw::test
