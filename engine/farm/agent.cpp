// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/device_state.h"
#include "engine/farm/intake.h"
#include "engine/farm/moment.h"
#include "engine/farm/names.h"
#include "engine/farm/outbox.h"

namespace tw::farm {

namespace {

constexpr double kConnectSeconds = 5, kLongestPause = 2;
constexpr double kLeaveSeconds = 0.05;      ///< between looks whether what is to be sent was written
constexpr double kLongestWait = 1;          ///< for something to happen
constexpr const char* kIdle = "idle";       ///< the group of devices without work
constexpr double kReferencesSeconds = 10;   ///< between looks at how fast the machine is
constexpr int kFailuresInRow = 8;           ///< of the machine, not of candidates
constexpr size_t kLogLines = 200;

bool is_priority_queue(const std::string& name) {
  for (int p = 0; p < kPriorities; ++p)
    if (name == priority_queue(p)) return true;
  return false;
}

}  // namespace

struct Agent::Impl {
  /// A job that is being measured.
  struct Running {
    HeldJob held;
    Clock::time_point began;
    StopSource stop;
    std::future<Expected<process::Frame>> outcome;
    std::atomic<bool> measured{false};  ///< set before the eventfd is: the future is ready only a moment after it
    bool given_up = false;
  };

  Impl(AgentOptions o, Bench& b, Spool s, int lock)
      : options(std::move(o)),
        bench(b),
        names(options.access.farm),
        outbox(
            std::move(s), options.access.farm, [this] { wake(); }, [this](const std::string& text) { note(text); }),
        intake({options.access.farm, options.access.kind, options.device, options.lease_s, [this](const Job& job) { return bench.refusal(job.target); },
                [this](const std::string& text) { note(text); }}),
        lock_fd(lock),
        state(read_device_state(options.folder)) {
    wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    boot = random_hex(8);
  }
  ~Impl() {
    stop_measuring();
    outbox.wait_for_disk();
    if (wake_fd >= 0) ::close(wake_fd);
    if (lock_fd >= 0) ::close(lock_fd);
  }

  Expected<void> serve(StopToken stop);
  Expected<void> connected(StopToken stop);
  Expected<void> leave();
  Expected<void> hear_all();
  Expected<void> hear(const Message& m);
  Json control(const Json& question);
  Expected<void> listen(bool wanted);
  void begin_next();
  void answer(const HeldJob& held, const std::string& refused, process::Frame reply);
  void watch_lease();
  void void_lease();
  void give_up();
  void stop_measuring();
  void finish();
  bool takes_jobs() const { return !drained && state.quarantine.empty(); }
  double wait_s() const;
  bool machine_is_due() const;
  void look_at_machine(StopToken stop);
  void quarantine(const std::string& reason);
  Presence presence() const;
  Expected<void> say_presence() { return client->publish(names.presence(options.access.kind, options.device), dump_json(to_json(presence()))); }
  void note(const std::string& text) {
    if (!log.empty() && log.back() == text) return;
    log.push_back(text);
    if (log.size() > kLogLines) log.pop_front();
    if (options.log) options.log(text);
  }
  /// From any thread.
  void wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_fd, &one, sizeof one);
  }
  bool is_measured() const { return running && running->measured; }
  bool may_begin() const { return !running && takes_jobs() && since(measured_until) >= options.cooldown_s; }

  AgentOptions options;
  Bench& bench;
  Names names;
  Outbox outbox;
  Intake intake;
  int lock_fd = -1, wake_fd = -1;
  DeviceState state;
  std::string boot;
  bool drained = false;
  std::unique_ptr<NatsClient> client;
  std::unique_ptr<Running> running;
  std::optional<int64_t> ear;  ///< the subscription that says where a job is, while this device has none
  Clock::time_point said{}, started = Clock::now(), referenced{}, measured_until{};
  measure::References references;
  int64_t measured = 0;
  int failures_in_row = 0;
  std::map<std::string, int64_t> failures;
  std::deque<std::string> log;
};

void Agent::Impl::quarantine(const std::string& reason) {
  state.quarantine = reason.empty() ? "no reason was given" : reason;
  note(fmt::format("Quarantined: {}", state.quarantine));
  if (const auto written = write_device_state(options.folder, state); !written) note(written.error().text());
}

Presence Agent::Impl::presence() const {
  Presence p;
  p.device = options.device;
  p.kind = options.access.kind;
  p.boot = boot;
  p.phase = !state.quarantine.empty() ? "quarantined" : running ? "measuring" : drained ? "drained" : "idle";
  p.reason = state.quarantine;
  if (running) p.trial = running->held.job.identity();
  p.target = options.target;
  p.isolation = bench.isolation();
  p.emulated = options.emulated;
  p.measured = measured;
  p.spooled = static_cast<int64_t>(outbox.size());
  p.failures = failures;
  p.temperature_c = machine_temperature_c();
  p.clock_hz = machine_clock_hz();
  p.free_bytes = free_bytes_of(options.folder);
  p.uptime_s = since(started);
  p.references = references;
  return p;
}

bool Agent::Impl::machine_is_due() const { return state.quarantine.empty() && (referenced == Clock::time_point() || since(referenced) >= kReferencesSeconds); }

void Agent::Impl::look_at_machine(StopToken stop) {
  if (running || !machine_is_due()) return;
  const auto now = bench.references(stop);
  referenced = Clock::now();
  if (now) {
    references = *now;
  } else if (now.error().code != ErrorCode::cancelled) {
    quarantine(fmt::format("the self-test failed: {}", now.error().text()));
  }
}

Expected<void> Agent::Impl::serve(StopToken stop) {
  double pause = 0.1;
  bool told = false;
  look_at_machine(stop);
  while (!stop.stop_requested()) {
    auto made = NatsClient::connect(options.access.endpoint(options.device), kConnectSeconds);
    if (made) {
      client = std::move(*made);
      pause = 0.1, told = false;
      note(fmt::format("Connected to the farm '{}' as '{}' of kind '{}'", options.access.farm, options.device, options.access.kind));
      const auto ended = connected(stop);
      client.reset();
      if (ended) return {};
      if (ended.error().code == ErrorCode::io_error) void_lease();
      if (ended.error().code == ErrorCode::invalid_argument) return ended;
      note(ended.error().text());
    } else if (made.error().code == ErrorCode::invalid_argument) {
      return made.error();
    } else if (!told) {
      note(made.error().text());
      told = true;
    }
    const auto until = from_now(pause);
    pause = std::min(2 * pause, kLongestPause);
    // The lease runs on: a candidate whose lease ends meanwhile is stopped; a result that is there in time is written down.
    while (Clock::now() < until && !stop.stop_requested()) {
      if (is_measured()) finish();
      watch_lease();
      ::usleep(20'000);
    }
  }
  return {};
}

Expected<void> Agent::Impl::connected(StopToken stop) {
  const std::string& kind = options.access.kind;
  intake.reconnected();
  outbox.reconnected();
  ear.reset();
  TW_CHECK(client->subscribe(names.control(kind, options.device)));
  TW_CHECK(client->subscribe(names.ping(kind)));
  TW_CHECK(client->flush(kConnectSeconds));
  said = {};
  while (!stop.stop_requested()) {
    TW_CHECK(hear_all());
    if (is_measured()) finish();
    watch_lease();
    if (running && !running->given_up) TW_CHECK(running->held.lease.keep(*client, running->held.acknowledge));
    look_at_machine(stop);
    begin_next();
    TW_CHECK(listen(may_begin() && intake.empty()));
    TW_CHECK(intake.step(*client, takes_jobs(), running != nullptr));
    TW_CHECK(outbox.step(*client));
    if (since(said) >= options.presence_s) {
      TW_CHECK(say_presence());
      said = Clock::now();
    }
    TW_CHECK(client->push());
    pollfd fds[2] = {{client->fd(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
    if (!client->has_message()) ::poll(fds, 2, static_cast<int>(wait_s() * 1000) + 1);
    if (fds[1].revents != 0) {
      uint64_t n = 0;
      [[maybe_unused]] const auto read = ::read(wake_fd, &n, sizeof n);
    }
  }
  return leave();
}

/// Until something is due that no message tells of.
double Agent::Impl::wait_s() const {
  double wait = std::min({kLongestWait, options.presence_s - since(said), intake.due_s(running != nullptr)});
  if (running) wait = std::min(wait, running->held.lease.due_s());
  if (!running && options.cooldown_s > 0) wait = std::min(wait, options.cooldown_s - since(measured_until));
  return std::clamp(wait, 0.0, kLongestWait);
}

/// Somebody else shall have at once what is here, and what was measured is sent.
Expected<void> Agent::Impl::leave() {
  const auto until = from_now(kConnectSeconds);
  if (is_measured()) finish();
  if (running) {
    const std::string acknowledge = running->held.acknowledge;
    stop_measuring();
    TW_CHECK(client->publish(acknowledge, "-NAK"));
  }
  TW_CHECK(intake.step(*client, false, false));
  while (outbox.size() > 0 && Clock::now() < until) {
    TW_CHECK(outbox.step(*client));
    TW_TRY(const auto m, client->next(from_now(kLeaveSeconds)));
    if (m) TW_CHECK(hear(*m));
  }
  return client->flush(kConnectSeconds);
}

void Agent::Impl::stop_measuring() {
  if (!running) return;
  running->stop.request_stop();
  running->outcome.wait();
  running.reset();
}

Expected<void> Agent::Impl::hear_all() {
  for (;;) {
    TW_TRY(const auto m, client->next(Clock::now()));
    if (!m) return {};
    TW_CHECK(hear(*m));
  }
}

Expected<void> Agent::Impl::hear(const Message& m) {
  const std::string& kind = options.access.kind;
  if (running && running->held.lease.hear(m)) return {};
  TW_TRY(const bool result, outbox.hear(*client, m));
  if (result) return {};
  TW_TRY(const bool job, intake.hear(*client, m));
  if (job) return {};
  if (m.subject == names.wake(kind)) {
    if (!is_priority_queue(m.payload)) return {};
    if (ear) {
      intake.told(m.payload);
      return {};
    }
    return client->publish(m.subject, m.payload);  // for another one
  }
  const bool for_this = m.subject == names.control(kind, options.device);
  if (m.reply.empty()) {
    if (for_this) intake.told();  // a job for this device alone
    return {};
  }
  if (m.subject == names.ping(kind)) return client->publish(m.reply, dump_json(to_json(presence())));
  if (!for_this) return {};
  const auto question = parse_json(m.payload, "a question to a device");
  const Json out = question && question->is_object() ? control(*question) : Json{{"error", "Expected a question, found something else"}};
  return client->publish(m.reply, dump_json(out));
}

Json Agent::Impl::control(const Json& question) {
  const auto text = [&](const char* key) {
    const auto it = question.find(key);
    return it != question.end() && it->is_string() ? printable(it->get<std::string>()) : std::string();
  };
  const std::string command = text("command");
  if (command == "cancel") {
    intake.drop(text("session"));
    if (running && text("session") == running->held.job.session) {
      note(fmt::format("Cancelled: trial {}", running->held.job.identity()));
      give_up();
    }
  } else if (command == "drain") {
    drained = true;
    note("Takes no more jobs");
  } else if (command == "resume") {
    drained = false;
    note("Takes jobs again");
  } else if (command == "quarantine") {
    quarantine(text("reason"));
  } else if (command == "release") {
    state.quarantine.clear();
    failures_in_row = 0;
    referenced = {};
    note("Released from quarantine");
    if (const auto written = write_device_state(options.folder, state); !written) return {{"error", written.error().text()}};
  } else if (command == "recycle") {
    if (!running) bench.recycle();
  } else if (command == "self-test") {
    referenced = {};
    look_at_machine({});
  } else if (command == "log") {
    return {{"device", options.device}, {"log", log}};
  } else if (command != "status") {
    return {{"error", fmt::format("Unknown command '{}'", command)}};
  }
  return to_json(presence());
}

/// Only who has no work is told of jobs, and one for each: all of them at once would ask the server more than it can answer.
Expected<void> Agent::Impl::listen(bool wanted) {
  if (wanted == ear.has_value()) return {};
  if (!wanted) {
    TW_CHECK(client->unsubscribe(*ear));
    ear.reset();
    return {};
  }
  TW_TRY(ear, client->subscribe(names.wake(options.access.kind), kIdle));
  return {};
}

/// The next job that this device can measure; what it cannot is answered.
void Agent::Impl::begin_next() {
  if (!may_begin()) return;
  std::optional<HeldJob> next = intake.take();
  for (; next && !next->refused.empty(); next = intake.take()) answer(*next, next->refused, {});
  if (!next) return;
  if (const auto known = next->job.devices.find(options.device); known != next->job.devices.end()) {
    next->job.measure["incumbent_s"] = known->second.incumbent_s;
    next->job.measure["verify_below_s"] = known->second.verify_below_s;
    next->job.measure["run_limit_s"] = known->second.run_limit_s;
  }
  running = std::make_unique<Running>();
  running->held = std::move(*next);
  running->began = Clock::now();
  running->outcome = std::async(std::launch::async, [this, r = running.get(), stop = running->stop.get_token()] {
    auto out = bench.measure(r->held.job.measure, *r->held.object, stop);
    r->measured = true;
    wake();
    return out;
  });
}

void Agent::Impl::give_up() {
  running->given_up = true;
  running->stop.request_stop();
}

void Agent::Impl::watch_lease() {
  if (!running || running->given_up || is_measured() || running->held.lease.left_s() > 0) return;
  note(fmt::format("The lease of trial {} has run out without a word from the server; its measurement is stopped", running->held.job.identity()));
  give_up();
}

/// A server that ends the connection may have died, and when it is there again it need not know that it handed the job out. One that is merely out of reach does.
void Agent::Impl::void_lease() {
  if (!running || running->given_up || is_measured()) return;
  note(fmt::format("The server ended the connection; the measurement of trial {} is stopped", running->held.job.identity()));
  give_up();
}

/// Takes what came out of the measurement. The next one begins before that is written down.
void Agent::Impl::finish() {
  const auto done = std::move(running);
  auto frame = done->outcome.get();
  measured_until = Clock::now();
  if (done->given_up) return;  // somebody else has it, or nobody wants it
  if (!frame && frame.error().code == ErrorCode::cancelled) return;
  if (frame) {
    ++measured;
    failures_in_row = 0;
    intake.measured(since(done->began));
    const auto status = frame->header.find("status");
    if (status != frame->header.end() && status->is_string() && *status != "ok") ++failures[status->get<std::string>()];
    if (client != nullptr && !machine_is_due()) begin_next();
    return answer(done->held, "", std::move(*frame));
  }
  ++failures["infra"];
  const std::string why = frame.error().text();
  note(fmt::format("Trial {} could not be measured: {}", done->held.job.identity(), why));
  if (++failures_in_row >= kFailuresInRow) quarantine(fmt::format("{} measurements in a row failed for reasons of the machine, the last one: {}", failures_in_row, why));
  answer(done->held, why, {});
}

void Agent::Impl::answer(const HeldJob& held, const std::string& refused, process::Frame reply) {
  Result r;
  r.trial = held.job.trial;
  r.attempt = held.job.attempt;
  r.session = held.job.session;
  r.kind = held.job.kind;
  r.device = options.device;
  r.boot = boot;
  r.sequence = held.sequence;
  r.deliveries = held.deliveries;
  r.refused = refused;
  r.references = references;
  r.reply = std::move(reply);
  outbox.add(r, held.acknowledge);
}

Expected<std::unique_ptr<Agent>> Agent::create(AgentOptions options, Bench& bench) {
  TW_CHECK(check_name(options.device, "a device's name"));
  TW_CHECK(make_parent_folder(options.folder + "/lock"));
  const int lock = ::open((options.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return system_error("Opening the agent's lock", options.folder);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return Error(ErrorCode::infrastructure, fmt::format("Expected to be the only agent with the folder, found another one; `--name` makes a second device"), options.folder);
  }
  auto spool = Spool::open(options.folder + "/spool");
  if (!spool) {
    ::close(lock);
    return spool.error();
  }
  return std::unique_ptr<Agent>(new Agent(std::make_unique<Impl>(std::move(options), bench, std::move(*spool), lock)));
}

Agent::Agent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;
Expected<void> Agent::run(StopToken stop) { return impl_->serve(stop); }

}  // namespace tw::farm
