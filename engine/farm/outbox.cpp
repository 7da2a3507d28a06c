// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/outbox.h"

#include "engine/base/text.h"
#include "engine/farm/jetstream.h"

namespace tw::farm {

namespace {

constexpr size_t kAtOnce = 16;  ///< results that are on their way

}  // namespace

void Outbox::add(const Result& result, const std::string& acknowledge) {
  std::string text = result_text(result);
  if (text.size() > kMostResultBytes) {
    Result refused = result;
    refused.refused = fmt::format("Its result has {} bytes, more than a farm carries", text.size());
    refused.reply = {};
    text = result_text(refused);
  }
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const Spool::Entry entry{result.identity(), names_.result(result.kind, result.session), acknowledge, std::move(text)};
  auto end = spool_.add(entry, [ended, told = on_written_] {
    *ended = true;
    told();
  });
  writing_.insert_or_assign(entry.identity, Write{std::move(end), ended});
}

/// Those that are on the disk by now, or never will be.
void Outbox::hear_written() {
  for (auto w = writing_.begin(); w != writing_.end();) {
    if (!*w->second.ended) {
      ++w;
      continue;
    }
    if (const auto kept = w->second.end.get(); !kept)
      note_(fmt::format("A result could not be written down and is kept in memory until it is sent: {}", kept.error().text()));
    w = writing_.erase(w);
  }
}

Expected<void> Outbox::step(NatsClient& client) {
  for (const auto& [inbox, a] : awaited_)
    if (since(a.at) > kAnswerSeconds) return Error(ErrorCode::timeout, fmt::format("The farm's server did not take a result in {:g} s", kAnswerSeconds));
  hear_written();
  for (size_t i = 0; i < spool_.entries().size() && awaited_.size() < kAtOnce; ++i) {
    const Spool::Entry e = spool_.entries()[i];
    if (writing_.contains(e.identity) || !sent_.insert(e.identity).second) continue;
    const std::string inbox = client.new_inbox();
    const auto sent = begin_publishing(client, e.subject, e.result, e.identity, inbox);
    if (!sent && sent.error().code == ErrorCode::resource_limit) {  // no server takes it
      done(e.identity);
      --i;
      continue;
    }
    TW_CHECK(sent);
    awaited_[inbox] = {e.identity, e.acknowledge, false, Clock::now()};
  }
  return {};
}

Expected<bool> Outbox::hear(NatsClient& client, const Message& m) {
  const auto at = awaited_.find(m.subject);
  if (at == awaited_.end()) return false;
  Awaited a = std::move(at->second);
  awaited_.erase(at);
  if (a.stored) {  // a status says that the queue is another one by now, of a server that lost everything; then nobody waits for this
    done(a.identity);
    return true;
  }
  TW_CHECK(stored_in(m));
  const std::string inbox = client.new_inbox();
  TW_CHECK(client.publish(a.acknowledge, "+ACK", inbox));
  a.stored = true;
  a.at = Clock::now();
  awaited_[inbox] = std::move(a);
  return true;
}

void Outbox::done(const std::string& identity) {
  sent_.erase(identity);
  spool_.remove(identity);
}

}  // namespace tw::farm
