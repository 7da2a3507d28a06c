// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/queue.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/artefacts.h"
#include "engine/farm/jetstream.h"

namespace tw::farm {

namespace {

constexpr double kOpenSeconds = 5, kDay = 86400;
constexpr double kResultsSeconds = 5;  ///< that one question for results stays open
constexpr int kResultsAtOnce = 256, kMostUnsettled = 1 << 20, kMostHandedOut = 100'000;
constexpr size_t kOpenAtOnce = 64;     ///< messages that the server has not said it keeps
constexpr double kCountSeconds = 0.5;  ///< between counts of devices
constexpr double kDoubtSeconds = 2;  ///< after a job turned out to be there already
constexpr int64_t kArtefactsBytes = int64_t{4} << 30;

/// Whether the server may do it after all, once it is there again and has what it needs.
bool is_mendable(const Error& e) {
  return e.code == ErrorCode::io_error || e.code == ErrorCode::timeout || e.code == ErrorCode::not_found || e.code == ErrorCode::infrastructure || e.code == ErrorCode::no_space;
}

}  // namespace

Expected<void> Queue::open() {
  TW_CHECK(check_name(options_.kind, "a kind of devices"));
  TW_CHECK(check_name(options_.session, "a session's name"));
  reconciled_ = Clock::now();
  return connect_once();
}

Expected<void> Queue::connect_once() {
  const std::string& kind = options_.kind;
  TW_TRY(client_, NatsClient::connect(options_.access.endpoint("tw"), kOpenSeconds));
  asked_.clear();
  awaited_.clear();
  artefacts_.clear();
  device_queues_.clear();
  NatsClient& c = *client_;
  TW_CHECK(ensure_stream(c, {.name = names_.jobs_stream(kind),
                             .subjects = {names_.job(kind, "*")},
                             .work_queue = true,
                             .most_age_s = kDay,
                             .duplicates_s = 600,
                             .most_message = static_cast<int64_t>(kMostJobBytes)}));
  TW_CHECK(ensure_stream(c, {.name = names_.results_stream(),
                             .subjects = {names_.result("*", "*")},
                             .work_queue = true,
                             .most_age_s = 7 * kDay,
                             .duplicates_s = 600,
                             .most_message = static_cast<int64_t>(kMostResultBytes)}));
  TW_CHECK(ensure_stream(c, {.name = names_.artefacts_stream(),
                             .subjects = {names_.artefact("*", "*")},
                             .one_per_subject = true,
                             .most_age_s = kDay,
                             .most_bytes = kArtefactsBytes,
                             .most_message = static_cast<int64_t>(kPieceBytes),
                             .discard_old = true}));
  for (int p = 0; p < kPriorities; ++p)
    TW_CHECK(ensure_consumer(c, {.stream = names_.jobs_stream(kind),
                                 .name = priority_queue(p),
                                 .filter = names_.job(kind, priority_queue(p)),
                                 .ack_wait_s = options_.lease_s,
                                 .most_pending = kMostHandedOut}));
  // What was handed to a connection that is gone, or to an earlier life of the session that did not settle it, comes again at once.
  TW_CHECK(remove_consumer(c, names_.results_stream(), options_.session));
  TW_CHECK(ensure_consumer(
      c, {.stream = names_.results_stream(), .name = options_.session, .filter = names_.result(kind, options_.session), .ack_wait_s = 60, .most_pending = kMostUnsettled}));
  TW_CHECK(c.subscribe(names_.presence(kind, "*")));
  const std::string answers = c.new_inbox();
  TW_CHECK(c.publish(names_.ping(kind), "", answers));
  return c.flush(kOpenSeconds);
}

template <class Work>
Expected<void> Queue::insist(const Work& work, StopToken stop) {
  double pause = 0.05;
  for (;;) {
    Expected<void> done = client_ ? work() : Expected<void>(Error(ErrorCode::io_error, "not connected"));
    if (done) return done;
    if (!is_mendable(done.error())) return done;
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Stopped while the farm's server was away");
    client_.reset();
    if (auto again = connect_once(); again) {
      ++counts_.reconnected;
      for (auto& [trial, p] : pending_) p.look = Clock::now();  // the server may be another one, with nothing in it
      reconciled_ = {};
      pause = 0.05;
    } else {
      client_.reset();
      say(fmt::format("Waiting for the farm's server: {}", again.error().text()));
      if (!is_mendable(again.error())) return again;
      std::this_thread::sleep_for(process::in_seconds(pause));
      pause = std::min(2 * pause, 1.0);
    }
  }
}

/// The code first: a device that hears of the job asks for it at once.
Expected<void> Queue::put_now(const std::string& trial, Pending& p) {
  p.sequence = 0;
  p.pieces_left = 0;
  p.look = from_now(options_.reconcile_s);
  if (p.queue.starts_with(device_queue("")) && !device_queues_.contains(p.queue)) {
    TW_CHECK(ensure_consumer(*client_, {.stream = names_.jobs_stream(options_.kind), .name = p.queue, .filter = names_.job(options_.kind, p.queue), .ack_wait_s = options_.lease_s}));
    device_queues_.insert(p.queue);
  }
  if (artefacts_.contains(p.job.sha)) return put_job(trial, p);
  const auto object = p.object;
  const std::string sha = p.job.sha;
  p.pieces_left = pieces_of(object->size());
  // Whatever is heard meanwhile may take the job away.
  for (size_t piece = 0, count = p.pieces_left; piece < count; ++piece) {
    const std::string inbox = client_->new_inbox();
    awaited_[inbox] = {trial, false, Clock::now()};
    TW_CHECK(begin_piece(*client_, names_, sha, *object, piece, inbox));
    TW_CHECK(wait_for_stored(kOpenAtOnce));
  }
  return {};
}

Expected<void> Queue::put_job(const std::string& trial, Pending& p) {
  p.job.takers = takers();
  const std::string inbox = client_->new_inbox();
  awaited_[inbox] = {trial, true, Clock::now()};
  return begin_publishing(*client_, names_.job(options_.kind, p.queue), job_text(p.job), p.job.identity(), inbox);
}

Expected<void> Queue::hear_stored(const Awaited& awaited, const Message& m) {
  TW_TRY(const Stored stored, stored_in(m));
  const auto at = pending_.find(awaited.trial);
  if (at == pending_.end()) return {};
  Pending& p = at->second;
  if (!awaited.is_job) {
    if (p.pieces_left == 0 || --p.pieces_left > 0) return {};
    artefacts_.insert(p.job.sha);
    return put_job(awaited.trial, p);
  }
  p.sequence = stored.sequence;
  // One that was there already may have been answered long ago, to a session that was killed before it stored the answer.
  p.look = from_now(stored.duplicate ? kDoubtSeconds : options_.reconcile_s);
  if (stored.duplicate) reconciled_ = std::min(reconciled_, from_now(kDoubtSeconds - options_.reconcile_s));
  return wake(p.queue);
}

Expected<void> Queue::wait_for_stored(size_t open) {
  while (awaited_.size() > open) {
    TW_TRY(auto m, client_->next(from_now(kAnswerSeconds)));
    if (!m) return Error(ErrorCode::timeout, fmt::format("The farm's server did not take a job in {:g} s", kAnswerSeconds));
    TW_CHECK(take(std::move(*m), arrived_));
  }
  return {};
}

/// Tells a device without work, or the one that the queue belongs to, that there is a job.
Expected<void> Queue::wake(const std::string& queue) {
  const std::string own = device_queue("");
  return queue.starts_with(own) ? client_->publish(names_.control(options_.kind, queue.substr(own.size())), "") : client_->publish(names_.wake(options_.kind), queue);
}

/// Makes the queues of devices that were heard of: an agent asks for jobs of its own in any case.
Expected<void> Queue::make_device_queues() {
  for (const auto& [device, seen] : devices_) {
    const std::string queue = device_queue(device);
    if (device_queues_.contains(queue)) continue;
    TW_CHECK(ensure_consumer(*client_, {.stream = names_.jobs_stream(options_.kind), .name = queue, .filter = names_.job(options_.kind, queue), .ack_wait_s = options_.lease_s}));
    device_queues_.insert(queue);
    TW_CHECK(wake(queue));
  }
  return {};
}

Expected<void> Queue::put(const Job& job, std::shared_ptr<const std::vector<std::byte>> object, const std::string& device, StopToken stop) {
  if (object->size() > kMostArtefactBytes)
    return Error(ErrorCode::resource_limit, fmt::format("Expected code of at most {} bytes for a farm, found {}", kMostArtefactBytes, object->size()));
  Pending& p = pending_[job.trial];
  p = {};
  p.job = job;
  p.object = std::move(object);
  p.queue = device.empty() ? priority_queue(options_.priority) : device_queue(device);
  return insist(
      [&]() -> Expected<void> {
        if (const auto at = pending_.find(job.trial); at != pending_.end() && at->second.sequence == 0) TW_CHECK(put_now(job.trial, at->second));
        return wait_for_stored(kOpenAtOnce);
      },
      stop);
}

Expected<void> Queue::put_for_any(const std::string& trial, StopToken stop) {
  const auto at = pending_.find(trial);
  if (at == pending_.end()) return {};
  Pending& p = at->second;
  const uint64_t before = p.sequence;
  p.queue = priority_queue(options_.priority);
  ++p.job.attempt;
  return insist(
      [&]() -> Expected<void> {
        if (before != 0) TW_CHECK(remove_message(*client_, names_.jobs_stream(options_.kind), before));
        const auto still = pending_.find(trial);
        return still == pending_.end() ? Expected<void>() : put_now(trial, still->second);
      },
      stop);
}

Expected<void> Queue::ask_for_results() {
  if (!asked_.empty() && asked_left_ > 0 && Clock::now() < asked_until_) return {};
  asked_ = client_->new_inbox();
  asked_left_ = kResultsAtOnce;
  asked_until_ = from_now(kResultsSeconds + 1);
  const Json question{{"batch", kResultsAtOnce}, {"expires", static_cast<int64_t>(kResultsSeconds * 1e9)}};
  return client_->publish(fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", names_.results_stream(), options_.session), dump_json(question), asked_);
}

Expected<void> Queue::take(Message m, std::vector<Result>& out) {
  if (const auto stored = awaited_.find(m.subject); stored != awaited_.end()) {
    const Awaited awaited = std::move(stored->second);
    awaited_.erase(stored);
    return hear_stored(awaited, m);
  }
  if (m.status != 0) {  // the question is answered: nothing came, or all that was asked for
    if (m.subject == asked_) asked_.clear();
    return {};
  }
  const std::string reply = m.reply;
  if (!reply.starts_with("$JS.ACK.")) {  // a device says how it is
    const auto json = parse_json(m.payload, "what a device says of itself");
    auto p = json ? presence_from_json(*json) : Expected<Presence>(json.error());
    if (p && p->kind == options_.kind) devices_.insert_or_assign(p->device, Seen{*p, Clock::now()});
    return {};
  }
  --asked_left_;  // a server says nothing once all that was asked for has come
  unsettled_.push_back(reply);
  auto r = result_from_text(m.payload);
  if (!r || r->kind != options_.kind || r->session != options_.session) {
    ++counts_.late;
    return {};
  }
  const auto waited = pending_.find(r->trial);
  if (waited == pending_.end()) {
    ++counts_.late;
    return {};
  }
  pending_.erase(waited);
  ++counts_.received;
  if (const auto seen = devices_.find(r->device); seen != devices_.end()) seen->second.heard = Clock::now();
  out.push_back(std::move(*r));
  return {};
}

Expected<std::vector<Result>> Queue::receive(double wait_s, StopToken stop) {
  std::vector<Result> out;
  const auto until = from_now(wait_s);
  const auto work = [&]() -> Expected<void> {
    for (Result& r : std::exchange(arrived_, {})) out.push_back(std::move(r));
    while (out.empty() && !stop.stop_requested()) {
      for (const auto& [inbox, a] : awaited_)
        if (since(a.at) > kAnswerSeconds) return Error(ErrorCode::timeout, fmt::format("The farm's server did not take a job in {:g} s", kAnswerSeconds));
      TW_CHECK(ask_for_results());
      TW_CHECK(make_device_queues());
      if (since(reconciled_) >= options_.reconcile_s) TW_CHECK(reconcile(out));
      TW_TRY(auto m, client_->next(std::min(until, from_now(0.1))));
      for (; m; ) {
        TW_CHECK(take(std::move(*m), out));
        TW_TRY(m, client_->next(Clock::now()));  // what has arrived with it
      }
      if (Clock::now() >= until) break;
    }
    return {};
  };
  TW_CHECK(insist(work, stop));
  return out;
}

/// What is waited for is in its queue, handed out, or answered; if it is none of these, the server has lost it and it is put in again as another attempt.
Expected<void> Queue::reconcile(std::vector<Result>& out) {
  reconciled_ = Clock::now();
  TW_CHECK(client_->publish(names_.ping(options_.kind), "", client_->new_inbox()));
  std::vector<std::string> gone, unsent;
  for (auto& [trial, p] : pending_) {
    if (Clock::now() < p.look) continue;
    if (p.sequence == 0) {  // what was sent over an earlier connection may have been kept: it is the same attempt
      unsent.push_back(trial);
      continue;
    }
    TW_TRY(const auto text, stored_message(*client_, names_.jobs_stream(options_.kind), p.sequence));
    const auto job = text ? job_from_text(*text) : Expected<Job>(Error(ErrorCode::not_found, "gone"));
    p.look = from_now(options_.reconcile_s);
    if (!job || job->trial != trial) gone.push_back(trial);
  }
  for (const std::string& trial : unsent)
    if (const auto p = pending_.find(trial); p != pending_.end()) TW_CHECK(put_now(trial, p->second));
  if (gone.empty()) return {};
  // An agent acknowledges a job only once its result is kept, so that the result of one that is gone is here or on its way here, unless it was lost.
  TW_TRY(const auto results, queue_length(*client_, names_.results_stream(), options_.session));
  TW_CHECK(client_->flush(kOpenSeconds));
  while (client_->has_message()) {
    TW_TRY(auto m, client_->next(Clock::now()));
    if (m) TW_CHECK(take(std::move(*m), out));
  }
  for (const std::string& trial : gone) {
    const auto p = pending_.find(trial);
    if (p == pending_.end()) continue;
    if (results && results->waiting > 0) {
      p->second.look = from_now(kDoubtSeconds);
      reconciled_ = std::min(reconciled_, from_now(kDoubtSeconds - options_.reconcile_s));
      continue;
    }
    ++p->second.job.attempt;
    ++counts_.put_again;
    TW_CHECK(put_now(trial, p->second));
  }
  return {};
}

Expected<void> Queue::settle() {
  if (unsettled_.empty()) return {};
  const auto work = [&]() -> Expected<void> {
    for (const std::string& reply : unsettled_) TW_CHECK(client_->publish(reply, "+ACK"));
    unsettled_.clear();
    return client_->flush(kOpenSeconds);
  };
  if (client_) return work();
  return {};
}

void Queue::cancel() {
  const auto work = [&]() -> Expected<void> {
    TW_CHECK(wait_for_stored(0));
    for (const auto& [trial, p] : pending_) TW_CHECK(remove_message(*client_, names_.jobs_stream(options_.kind), p.sequence));
    const std::string question = dump_json(Json{{"command", "cancel"}, {"session", options_.session}});
    for (const auto& [device, seen] : devices_) TW_CHECK(client_->publish(names_.control(options_.kind, device), question, client_->new_inbox()));
    return client_->flush(kOpenSeconds);
  };
  if (client_ && !pending_.empty()) static_cast<void>(work());  // a server that is away forgets them in a day
  pending_.clear();
}

int Queue::takers() {
  if (since(counted_) >= kCountSeconds) {
    counted_ = Clock::now();
    takers_ = 0;
    for (const auto& [device, seen] : devices_)
      takers_ += since(seen.heard) < kLostSeconds && (seen.presence.phase == "idle" || seen.presence.phase == "measuring");
  }
  return std::max(1, takers_);
}

bool Queue::is_here(const std::string& device) const {
  const auto seen = devices_.find(device);
  return seen != devices_.end() && since(seen->second.heard) < kLostSeconds;
}

Expected<Json> Queue::control(const std::string& device, const Json& question) {
  TW_TRY(const Message m, client_->request(names_.control(options_.kind, device), dump_json(question), kOpenSeconds));
  return parse_json(m.payload, "a device's answer");
}

}  // namespace tw::farm
