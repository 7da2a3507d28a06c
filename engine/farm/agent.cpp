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
#include <filesystem>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/artefacts.h"
#include "engine/farm/device_state.h"
#include "engine/farm/jetstream.h"
#include "engine/farm/names.h"
#include "engine/farm/spool.h"

namespace tw::farm {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kConnectSeconds = 5, kLongestPause = 2;
constexpr double kLookSeconds = 3;          ///< between looks into empty queues, in case that nobody woke us
constexpr double kLongestWait = 1;          ///< for something to happen
constexpr const char* kIdle = "idle";       ///< the group of devices without work
constexpr double kAnswerWait = 2;           ///< for a queue's answer; none: nobody has made it
constexpr double kAbsentSeconds = 10;       ///< between looks for such a queue, unless somebody says that it has a job
constexpr double kReferencesSeconds = 10;   ///< between looks at how fast the machine is
constexpr double kSafeShare = 0.75;         ///< of a lease, after which an agent that hears nothing gives it up
constexpr int kFailuresInRow = 8;           ///< of the machine, not of candidates
constexpr size_t kLogLines = 200;

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }
bool is_priority_queue(const std::string& name) {
  for (int p = 0; p < kPriorities; ++p)
    if (name == priority_queue(p)) return true;
  return false;
}
process::Deadline soon(double s) { return Clock::now() + process::in_seconds(s); }

}  // namespace

struct Agent::Impl {
  /// A job that is being measured.
  struct Lease {
    Job job;
    std::string acknowledge;
    uint64_t sequence = 0;
    int deliveries = 1;
    Clock::time_point confirmed;  ///< when the last sign of life that the server has seen was sent
    Clock::time_point sent;
    StopSource stop;
    std::future<Expected<process::Frame>> outcome;
    std::atomic<bool> measured{false};  ///< set before the eventfd is: the future is ready only a moment after it
    bool given_up = false;
  };

  Impl(AgentOptions o, Bench& b, Spool s, int lock)
      : options(std::move(o)), bench(b), names(options.access.farm), spool(std::move(s)), lock_fd(lock), state(read_device_state(options.folder)) {
    wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    boot = random_hex(8);
  }
  ~Impl() {
    if (lease) {
      lease->stop.request_stop();
      lease->outcome.wait();
    }
    if (wake_fd >= 0) ::close(wake_fd);
    if (lock_fd >= 0) ::close(lock_fd);
  }

  Expected<void> serve(StopToken stop);
  Expected<void> connected(StopToken stop);
  Expected<void> hear(const Message& m);
  Json control(const Json& question);
  Expected<void> listen(bool wanted);
  Expected<void> pass_on();
  void look_for_jobs();
  Expected<void> ask_next();
  Expected<void> begin(Delivered delivery);
  Expected<void> answer(const Job& job, const std::string& acknowledge, uint64_t sequence, int deliveries, const std::string& refused, process::Frame reply);
  Expected<void> send_spooled();
  Expected<void> keep_lease();
  void void_lease();
  Expected<void> finish();
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
  bool measured_it() const { return lease->measured; }
  double left_of_lease() const { return options.lease_s * kSafeShare - seconds_since(lease->confirmed); }

  AgentOptions options;
  Bench& bench;
  Names names;
  Spool spool;
  ArtefactCache artefacts;
  int lock_fd = -1, wake_fd = -1;
  DeviceState state;
  std::string boot;
  bool drained = false;
  std::unique_ptr<NatsClient> client;
  std::unique_ptr<Lease> lease;
  bool look = true;  ///< there may be jobs
  std::vector<std::string> told;          ///< queues of jobs that this device was told of and has not asked for yet
  std::optional<int64_t> ear;             ///< the subscription that says where a job is, while this device has none
  std::deque<std::string> to_ask;         ///< queues of this look
  std::string asked_queue, asked_inbox;   ///< that an answer is awaited of, and where it comes to; empty: none
  Clock::time_point asked_at{};
  std::map<std::string, Clock::time_point> absent;  ///< queues that nobody has made, and when to look for them again
  Clock::time_point looked{}, said{}, started = Clock::now(), referenced{}, measured_until{};
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
  p.phase = !state.quarantine.empty() ? "quarantined" : lease ? "measuring" : drained ? "drained" : "idle";
  p.reason = state.quarantine;
  if (lease) p.trial = lease->job.identity();
  p.target = options.target;
  p.isolation = bench.isolation();
  p.emulated = options.emulated;
  p.measured = measured;
  p.spooled = static_cast<int64_t>(spool.entries().size());
  p.failures = failures;
  p.temperature_c = machine_temperature_c();
  p.clock_hz = machine_clock_hz();
  p.free_bytes = free_bytes_of(options.folder);
  p.uptime_s = seconds_since(started);
  p.references = references;
  return p;
}

void Agent::Impl::look_at_machine(StopToken stop) {
  if (lease || !state.quarantine.empty() || (referenced != Clock::time_point() && seconds_since(referenced) < kReferencesSeconds)) return;
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
    const auto until = soon(pause);
    pause = std::min(2 * pause, kLongestPause);
    // The lease runs on: a candidate whose lease ends meanwhile is stopped; a result that is there in time is written down.
    while (Clock::now() < until && !stop.stop_requested()) {
      if (lease && measured_it()) {
        TW_CHECK(finish());
      } else if (lease) {
        TW_CHECK(keep_lease());
      }
      ::usleep(20'000);
    }
  }
  return {};
}

Expected<void> Agent::Impl::connected(StopToken stop) {
  const std::string& kind = options.access.kind;
  TW_CHECK(client->subscribe(names.control(kind, options.device)));
  TW_CHECK(client->subscribe(names.ping(kind)));
  TW_CHECK(client->flush(kConnectSeconds));
  TW_CHECK(say_presence());
  said = Clock::now();
  look = true;
  ear.reset();
  told.clear(), asked_inbox.clear(), to_ask.clear();
  while (!stop.stop_requested()) {
    TW_CHECK(send_spooled());
    if (lease && !measured_it()) TW_CHECK(keep_lease());
    if (lease && measured_it()) {
      TW_CHECK(finish());
      continue;
    }
    look_at_machine(stop);
    const bool may_take = !lease && !drained && state.quarantine.empty() && seconds_since(measured_until) >= options.cooldown_s;
    TW_CHECK(listen(may_take));
    if (!asked_inbox.empty() && seconds_since(asked_at) >= kAnswerWait) {
      absent[asked_queue] = Clock::now() + process::in_seconds(kAbsentSeconds);
      asked_inbox.clear();
    }
    if (may_take && asked_inbox.empty() && to_ask.empty() && (look || seconds_since(looked) >= kLookSeconds)) look_for_jobs();
    if (may_take) TW_CHECK(ask_next());
    if (seconds_since(said) >= options.presence_s) {
      TW_CHECK(say_presence());
      said = Clock::now();
    }
    pollfd fds[2] = {{client->fd(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
    const double until_said = options.presence_s - seconds_since(said), until_lease = lease ? options.lease_s / 3 - seconds_since(lease->sent) : kLongestWait;
    const double until_look = !asked_inbox.empty() ? kAnswerWait - seconds_since(asked_at) : may_take ? kLookSeconds - seconds_since(looked) : options.cooldown_s > 0 ? options.cooldown_s / 4 : kLongestWait;
    const double wait = std::clamp(std::min({until_said, until_lease, until_look}), 0.0, kLongestWait);
    if (!client->has_message()) ::poll(fds, 2, static_cast<int>(wait * 1000) + 1);
    if (fds[1].revents != 0) {
      uint64_t n = 0;
      [[maybe_unused]] const auto read = ::read(wake_fd, &n, sizeof n);
    }
    while (client->has_message() || fds[0].revents != 0) {
      TW_TRY(const auto m, client->next(Clock::now()));
      fds[0].revents = 0;
      if (!m) break;
      TW_CHECK(hear(*m));
    }
  }
  if (lease) {  // somebody else shall have it at once
    lease->stop.request_stop();
    lease->outcome.wait();
    TW_CHECK(client->publish(lease->acknowledge, "-NAK"));
    lease.reset();
    TW_CHECK(client->flush(kConnectSeconds));
  }
  return {};
}

Expected<void> Agent::Impl::hear(const Message& m) {
  const std::string& kind = options.access.kind;
  if (m.subject == names.wake(kind)) {
    if (!is_priority_queue(m.payload)) return {};
    if (lease) {
      TW_CHECK(listen(false));
      return client->publish(m.subject, m.payload);  // for another one
    }
    told.push_back(m.payload);
    absent.erase(m.payload);
    if (asked_inbox.empty() && to_ask.empty()) {
      to_ask.push_back(m.payload);
    } else {
      look = true;
    }
    return {};
  }
  if (m.subject == asked_inbox && m.status != 0) {  // the queue is empty
    asked_inbox.clear();
    absent.erase(asked_queue);
    std::erase(told, asked_queue);
    return {};
  }
  if (auto delivery = delivered(m)) {
    if (lease || asked_inbox.empty()) return client->publish(m.reply, "-NAK");  // it came too late
    asked_inbox.clear();
    absent.erase(asked_queue);
    to_ask.clear();
    look = true;  // where one was there may be more
    TW_CHECK(begin(std::move(*delivery)));
    return pass_on();
  }
  if (m.reply.empty()) {
    if (m.subject == names.control(kind, options.device)) look = true, absent.clear();  // a job for this device alone
    return {};
  }
  if (m.subject == names.ping(kind)) return client->publish(m.reply, dump_json(to_json(presence())));
  if (m.subject != names.control(kind, options.device)) return {};
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
    if (lease && text("session") == lease->job.session) {
      note(fmt::format("Cancelled: trial {}", lease->job.identity()));
      lease->given_up = true;
      lease->stop.request_stop();
    }
  } else if (command == "drain") {
    drained = true;
    note("Takes no more jobs");
  } else if (command == "resume") {
    drained = false;
    look = true;
    note("Takes jobs again");
  } else if (command == "quarantine") {
    quarantine(text("reason"));
  } else if (command == "release") {
    state.quarantine.clear();
    failures_in_row = 0;
    look = true;
    referenced = {};
    note("Released from quarantine");
    if (const auto written = write_device_state(options.folder, state); !written) return {{"error", written.error().text()}};
  } else if (command == "recycle") {
    if (!lease) bench.recycle();
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

/// One job is enough: what this device was told of besides goes to another one.
Expected<void> Agent::Impl::pass_on() {
  if (!lease) return {};
  TW_CHECK(listen(false));
  if (const auto own = std::find(told.begin(), told.end(), asked_queue); own != told.end()) told.erase(own);
  for (const std::string& queue : std::exchange(told, {})) TW_CHECK(client->publish(names.wake(options.access.kind), queue));
  return {};
}

/// Goes through the queues, the device's own first, then by urgency. Answers come to hear(), so that nothing waits for a queue that nobody has made.
void Agent::Impl::look_for_jobs() {
  looked = Clock::now();
  look = false;
  to_ask.clear();
  to_ask.push_back(device_queue(options.device));
  for (int p = 0; p < kPriorities; ++p) to_ask.push_back(priority_queue(p));
}

Expected<void> Agent::Impl::ask_next() {
  while (asked_inbox.empty() && !to_ask.empty()) {
    asked_queue = to_ask.front();
    to_ask.pop_front();
    if (const auto none = absent.find(asked_queue); none != absent.end() && Clock::now() < none->second) continue;
    asked_inbox = client->new_inbox();
    asked_at = Clock::now();
    TW_CHECK(ask_for_one(*client, names.jobs_stream(options.access.kind), asked_queue, asked_inbox));
  }
  return {};
}

Expected<void> Agent::Impl::begin(Delivered delivery) {
  const auto confirmed = asked_at;  // the server counts from when it handed the job out, which is after we asked
  const std::string reply = delivery.message.reply;
  auto job = job_from_text(delivery.message.payload);
  if (!job || job->kind != options.access.kind) {
    note(fmt::format("A job that is none was thrown away: {}", job ? "it is of another kind" : job.error().text()));
    return acknowledge(*client, reply);
  }
  const auto refuse = [&](const std::string& why) { return answer(*job, reply, delivery.sequence, delivery.deliveries, why, {}); };
  if (delivery.deliveries > kMostDeliveries)
    return refuse(fmt::format("Poison: it was handed out {} times and never answered", delivery.deliveries - 1));
  if (const std::string why = bench.refusal(job->target); !why.empty()) return refuse(why);
  auto object = artefacts.get(*client, names, job->sha, job->bytes);
  if (!object) {
    if (object.error().code == ErrorCode::io_error) return object.error();
    return refuse(object.error().text());
  }
  if (const auto known = job->devices.find(options.device); known != job->devices.end()) {
    job->measure["incumbent_s"] = known->second.incumbent_s;
    job->measure["verify_below_s"] = known->second.verify_below_s;
    job->measure["run_limit_s"] = known->second.run_limit_s;
  }
  lease = std::make_unique<Lease>();
  lease->acknowledge = reply;
  lease->sequence = delivery.sequence;
  lease->deliveries = delivery.deliveries;
  lease->confirmed = lease->sent = confirmed;
  lease->job = std::move(*job);
  lease->outcome = std::async(std::launch::async, [this, held = lease.get(), code = std::move(*object), stop = lease->stop.get_token()] {
    auto out = bench.measure(held->job.measure, code, stop);
    held->measured = true;
    const uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_fd, &one, sizeof one);
    return out;
  });
  return {};
}

Expected<void> Agent::Impl::keep_lease() {
  if (lease->given_up) return {};
  if (left_of_lease() <= 0) {
    note(fmt::format("The lease of trial {} has run out without a word from the server; its measurement is stopped", lease->job.identity()));
    lease->given_up = true;
    lease->stop.request_stop();
    return {};
  }
  if (client == nullptr || seconds_since(lease->sent) < options.lease_s / 3) return {};
  lease->sent = Clock::now();
  TW_CHECK(in_progress(*client, lease->acknowledge));
  lease->confirmed = lease->sent;
  return {};
}

/// A server that ends the connection may have died, and when it is there again it need not know that it handed the job out. One that is merely out of reach does.
void Agent::Impl::void_lease() {
  if (!lease || lease->given_up || measured_it()) return;
  note(fmt::format("The server ended the connection; the measurement of trial {} is stopped", lease->job.identity()));
  lease->given_up = true;
  lease->stop.request_stop();
}

Expected<void> Agent::Impl::finish() {
  const auto done = std::move(lease);
  auto frame = done->outcome.get();
  measured_until = Clock::now();
  if (done->given_up) return {};  // somebody else has it, or nobody wants it
  if (frame) {
    ++measured;
    failures_in_row = 0;
    const auto status = frame->header.find("status");
    if (status != frame->header.end() && status->is_string() && *status != "ok") ++failures[status->get<std::string>()];
    return answer(done->job, done->acknowledge, done->sequence, done->deliveries, "", std::move(*frame));
  }
  if (frame.error().code == ErrorCode::cancelled) return {};
  ++failures["infra"];
  const std::string why = frame.error().text();
  note(fmt::format("Trial {} could not be measured: {}", done->job.identity(), why));
  if (++failures_in_row >= kFailuresInRow) quarantine(fmt::format("{} measurements in a row failed for reasons of the machine, the last one: {}", failures_in_row, why));
  return answer(done->job, done->acknowledge, done->sequence, done->deliveries, why, {});
}

Expected<void> Agent::Impl::answer(const Job& job, const std::string& acknowledge_to, uint64_t sequence, int deliveries, const std::string& refused, process::Frame reply) {
  Result r;
  r.trial = job.trial;
  r.attempt = job.attempt;
  r.session = job.session;
  r.kind = job.kind;
  r.device = options.device;
  r.boot = boot;
  r.sequence = sequence;
  r.deliveries = deliveries;
  r.refused = refused;
  r.references = references;
  r.reply = std::move(reply);
  std::string text = result_text(r);
  if (text.size() > kMostResultBytes) {
    r.refused = fmt::format("Its result has {} bytes, more than a farm carries", text.size());
    r.reply = {};
    text = result_text(r);
  }
  if (const auto kept = spool.add({r.identity(), acknowledge_to, std::move(text)}); !kept)
    note(fmt::format("A result could not be written down and is kept in memory until it is sent: {}", kept.error().text()));
  return send_spooled();
}

Expected<void> Agent::Impl::send_spooled() {
  while (client != nullptr && !spool.entries().empty()) {
    const Spool::Entry e = spool.entries().front();
    const auto result = result_from_text(e.result);
    if (result) {
      const auto stored = publish_stored(*client, names.result(result->kind, result->session), e.result, e.identity);
      if (!stored && stored.error().code != ErrorCode::resource_limit) return stored.error();
      // The queue may be another one by now, of a server that lost everything; then nobody waits for this.
      if (const auto known = acknowledge(*client, e.acknowledge); !known && known.error().code != ErrorCode::not_found) return known;
    }
    spool.remove(e.identity);
  }
  return {};
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
