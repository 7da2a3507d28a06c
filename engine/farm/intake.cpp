// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/intake.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/farm/artefacts.h"
#include "engine/farm/jetstream.h"

namespace tw::farm {

namespace {

constexpr double kLookSeconds = 3;     ///< between looks into empty queues, in case that nobody woke us
constexpr double kEmptySeconds = 0.5;  ///< that a device with work does not ask a queue that was empty
constexpr double kAnswerWait = 2;      ///< for a queue's answer; none: nobody has made it
constexpr double kAbsentSeconds = 10;  ///< between looks for such a queue, unless somebody says that it has a job
constexpr int kMostSpares = 32;        ///< jobs that wait on a device
constexpr size_t kPiecesAtOnce = 8;    ///< of one object; more would burst over a slow line
/// Weights of new values in means and deviations of what varies. Source: RFC 6298, "Computing TCP's Retransmission Timer".
constexpr double kMeanWeight = 1.0 / 8, kDeviationWeight = 1.0 / 4;
constexpr double kDeviations = 4;  ///< above the mean: nearly all that comes late is here by then; same source

int urgency(const std::string& queue) {
  for (int p = 0; p < kPriorities; ++p)
    if (queue == priority_queue(p)) return p;
  return -1;  // the device's own
}

std::string queue_of(const std::string& subject) { return subject.substr(subject.rfind('.') + 1); }

}  // namespace

void Intake::reconnected() {
  ready_.clear(), coming_.clear(), pieces_.clear(), asked_.clear(), order_.clear(), not_before_.clear(), told_.clear();
  look_ = true;
  waiting_ = 0;
}

void Intake::told(const std::string& queue) {
  look_ = true;
  if (queue.empty()) return not_before_.clear();
  not_before_.erase(queue);
  if (urgency(queue) < 0) return;
  told_.push_back(queue);
  if (asked_.empty() && order_.empty() && !busy_) order_.push_back(queue), look_ = false;
}

void Intake::measured(double seconds) { measuring_s_ = measuring_s_ > 0 ? measuring_s_ + kMeanWeight * (seconds - measuring_s_) : seconds; }

void Intake::drop(const std::string& session) {
  std::erase_if(ready_, [&](const HeldJob& h) { return h.job.session == session; });
  std::erase_if(coming_, [&](const auto& c) { return c.second.held.job.session == session; });
}

int Intake::spares() const {
  if (waiting_ < takers_) return 0;
  if (measuring_s_ <= 0) return 1;
  return static_cast<int>(std::clamp(std::ceil((coming_s_ + kDeviations * coming_deviation_s_) / measuring_s_), 1.0, static_cast<double>(kMostSpares)));
}

int Intake::missing(bool busy) const {
  const auto asked = std::count_if(asked_.begin(), asked_.end(), [](const auto& a) { return !a.second.late; });
  return (busy ? 0 : 1) + spares() - static_cast<int>(ready_.size() + coming_.size()) - static_cast<int>(asked);
}

Expected<void> Intake::step(NatsClient& client, bool open, bool busy) {
  TW_CHECK(keep_leases(client));
  open_ = open;
  if (!open) return give_back(client);
  if (busy_ && !busy && empty()) {  // nobody told it of what came while it had work
    for (int p = 0; p < kPriorities; ++p) not_before_.erase(priority_queue(p));
    look_ = true;
  }
  busy_ = busy;
  TW_CHECK(ask(client, busy));
  return fetch(client);
}

/// Goes through the queues, the device's own first, then by urgency; stays with one as long as it has jobs.
Expected<void> Intake::ask(NatsClient& client, bool busy) {
  for (auto& [inbox, a] : asked_) {
    if (a.late || since(a.at) < kAnswerWait) continue;
    a.late = true;
    not_before_[a.queue] = from_now(kAbsentSeconds);
  }
  std::erase_if(asked_, [](const auto& a) { return since(a.second.at) > kAbsentSeconds; });
  const bool waits = std::any_of(asked_.begin(), asked_.end(), [](const auto& a) { return !a.second.late; });
  if (waits || missing(busy) <= 0) return {};
  if (order_.empty() && (look_ || since(looked_) >= kLookSeconds)) {
    look_ = false;
    looked_ = Clock::now();
    order_.push_back(device_queue(options_.device));
    for (int p = 0; p < kPriorities; ++p) order_.push_back(priority_queue(p));
  }
  while (!order_.empty()) {
    const std::string queue = order_.front();
    if (const auto until = not_before_.find(queue); until != not_before_.end()) {
      if (Clock::now() < until->second) {
        order_.pop_front();
        continue;
      }
      not_before_.erase(until);
    }
    const int count = queue == source_ ? missing(busy) : 1;
    for (int i = 0; i < count; ++i) {
      const std::string inbox = client.new_inbox();
      asked_[inbox] = {queue, Clock::now()};
      TW_CHECK(ask_for_one(client, names_.jobs_stream(options_.kind), queue, inbox));
    }
    break;
  }
  return {};
}

void Intake::queue_is_empty(const Ask& ask) {
  if (ask.queue == source_) waiting_ = 0;
  if (const auto one = std::find(told_.begin(), told_.end(), ask.queue); one != told_.end()) {
    told_.erase(one);  // the answer may be older than the job: it is asked once more
  } else {
    not_before_[ask.queue] = from_now(kEmptySeconds);
  }
}

Expected<bool> Intake::hear(NatsClient& client, const Message& m) {
  if (const auto ask = asked_.find(m.subject); ask != asked_.end()) {
    queue_is_empty(ask->second);
    asked_.erase(ask);
    return true;
  }
  if (hear_piece(m)) return true;
  for (HeldJob& h : ready_)
    if (h.lease.hear(m)) return true;
  for (auto& [number, c] : coming_)
    if (c.held.lease.hear(m)) return true;
  if (!m.reply.starts_with("$JS.ACK.")) return false;
  TW_CHECK(receive(client, m));
  return true;
}

Expected<void> Intake::receive(NatsClient& client, const Message& m) {
  const auto delivery = delivered(m);
  if (!delivery) return {};
  HeldJob held;
  held.queue = queue_of(m.subject);
  held.acknowledge = m.reply;
  held.sequence = delivery->sequence;
  held.deliveries = delivery->deliveries;
  auto ask = asked_.end();
  for (auto a = asked_.begin(); a != asked_.end(); ++a)
    if (a->second.queue == held.queue && (ask == asked_.end() || a->second.at < ask->second.at)) ask = a;
  if (ask == asked_.end() || !open_) {
    if (ask != asked_.end()) asked_.erase(ask);
    return give_back(client, held);
  }
  const auto asked = ask->second.at;
  asked_.erase(ask);
  not_before_.erase(held.queue);
  look_ = true;  // where one was there may be more
  source_ = held.queue;
  waiting_ = delivery->waiting;
  if (const auto one = std::find(told_.begin(), told_.end(), held.queue); one != told_.end()) told_.erase(one);
  // One job is enough: what this device was told of besides goes to another one.
  for (const std::string& queue : std::exchange(told_, {})) TW_CHECK(pass_on(client, queue));
  auto job = job_from_text(m.payload);
  if (!job || job->kind != options_.kind) {
    options_.note(fmt::format("A job that is none was thrown away: {}", job ? "it is of another kind" : job.error().text()));
    return client.publish(held.acknowledge, "+ACK");
  }
  held.job = std::move(*job);
  held.lease = Lease(options_.lease_s, asked);
  takers_ = held.job.takers;
  if (held.deliveries > kMostDeliveries) {
    held.refused = fmt::format("Poison: it was handed out {} times and never answered", held.deliveries - 1);
  } else {
    held.refused = options_.refusal(held.job);
  }
  if (!held.refused.empty()) {
    ready(std::move(held));
    return {};
  }
  kept_.begin();
  if (const ObjectPtr* known = kept_.find(held.job.sha)) {
    held.object = *known;
    complete({std::move(held), asked, {}, 0, 0});
    return {};
  }
  Coming c{std::move(held), asked, {}, 0, 0};
  c.left = pieces_of(static_cast<size_t>(c.held.job.bytes));
  c.pieces.resize(c.left);
  coming_[++last_coming_] = std::move(c);
  return fetch(client);
}

Expected<void> Intake::fetch(NatsClient& client) {
  for (const auto& [inbox, p] : pieces_)
    if (since(p.at) > kAnswerSeconds) return Error(ErrorCode::timeout, fmt::format("The farm's server did not send a piece of code in {:g} s", kAnswerSeconds));
  for (auto& [number, c] : coming_) {
    const size_t here = c.pieces.size() - c.left;
    for (; c.next < c.pieces.size() && c.next - here < kPiecesAtOnce; ++c.next) {
      const std::string inbox = client.new_inbox();
      pieces_[inbox] = {number, c.next, Clock::now()};
      TW_CHECK(ask_for_newest(client, names_.artefacts_stream(), names_.artefact(c.held.job.sha, std::to_string(c.next)), inbox));
    }
  }
  return {};
}

bool Intake::hear_piece(const Message& m) {
  const auto piece = pieces_.find(m.subject);
  if (piece == pieces_.end()) return false;
  const Piece p = piece->second;
  pieces_.erase(piece);
  const auto at = coming_.find(p.coming);
  if (at == coming_.end()) return true;  // it went back
  Coming& c = at->second;
  const bool gone = m.status == 404 || m.status == 408 || m.status == 503;
  if (!gone) {
    c.pieces[p.number] = m.payload;
    if (--c.left > 0) return true;
    std::vector<std::byte> bytes;
    for (const auto& part : c.pieces) {
      const auto* begin = reinterpret_cast<const std::byte*>(part->data());
      bytes.insert(bytes.end(), begin, begin + part->size());
    }
    if (static_cast<int64_t>(bytes.size()) == c.held.job.bytes && sha256_hex(bytes) == c.held.job.sha) {
      c.held.object = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
      kept_.put(c.held.job.sha, c.held.object, c.held.job.bytes);
    } else {
      c.held.refused = fmt::format("Expected the code {} at the farm's server, found other bytes", c.held.job.sha);
    }
  } else {
    c.held.refused = fmt::format("Expected the code {} at the farm's server, found it gone", c.held.job.sha);
  }
  complete(std::move(c));
  coming_.erase(at);
  return true;
}

void Intake::complete(Coming c) {
  const double seconds = since(c.asked);
  if (coming_s_ > 0) {
    coming_deviation_s_ += kDeviationWeight * (std::abs(seconds - coming_s_) - coming_deviation_s_);
    coming_s_ += kMeanWeight * (seconds - coming_s_);
  } else {
    coming_s_ = seconds, coming_deviation_s_ = seconds / 2;
  }
  ready(std::move(c.held));
}

void Intake::ready(HeldJob held) {
  const int rank = urgency(held.queue);
  ready_.insert(std::find_if(ready_.begin(), ready_.end(), [&](const HeldJob& h) { return urgency(h.queue) > rank; }), std::move(held));
}

std::optional<HeldJob> Intake::take() {
  while (!ready_.empty()) {
    HeldJob held = std::move(ready_.front());
    ready_.pop_front();
    look_ = true;
    if (held.lease.left_s() > 0) return held;
    options_.note(fmt::format("The lease of trial {} has run out before it was begun", held.job.identity()));
  }
  return std::nullopt;
}

Expected<void> Intake::keep_leases(NatsClient& client) {
  for (HeldJob& h : ready_) TW_CHECK(h.lease.keep(client, h.acknowledge));
  for (auto& [number, c] : coming_) TW_CHECK(c.held.lease.keep(client, c.held.acknowledge));
  return {};
}

Expected<void> Intake::pass_on(NatsClient& client, const std::string& queue) { return client.publish(names_.wake(options_.kind), queue); }

Expected<void> Intake::give_back(NatsClient& client, const HeldJob& held) {
  TW_CHECK(client.publish(held.acknowledge, "-NAK"));
  return urgency(held.queue) < 0 ? Expected<void>() : pass_on(client, held.queue);
}

Expected<void> Intake::give_back(NatsClient& client) {
  for (const HeldJob& h : std::exchange(ready_, {})) TW_CHECK(give_back(client, h));
  for (const auto& [number, c] : std::exchange(coming_, {})) TW_CHECK(give_back(client, c.held));
  order_.clear();
  for (const std::string& queue : std::exchange(told_, {})) TW_CHECK(pass_on(client, queue));
  look_ = true;
  return {};
}

double Intake::due_s(bool busy) const {
  double due = kLookSeconds;
  for (const HeldJob& h : ready_) due = std::min(due, h.lease.due_s());
  for (const auto& [number, c] : coming_) due = std::min(due, c.held.lease.due_s());
  for (const auto& [inbox, a] : asked_)
    if (!a.late) due = std::min(due, kAnswerWait - since(a.at));
  if (open_ && missing(busy) > 0 && asked_.empty()) due = std::min(due, kLookSeconds - since(looked_));
  return std::max(due, 0.0);
}

}  // namespace tw::farm
