// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/lease.h"

namespace tw::farm {

namespace {

constexpr double kSafeShare = 0.75;  ///< of a lease, after which whoever hears nothing gives it up
constexpr double kSigns = 3;         ///< in a lease

}  // namespace

double Lease::left_s() const { return lease_s_ * kSafeShare - since(confirmed_); }
double Lease::due_s() const { return lease_s_ / kSigns - since(said_); }

Expected<void> Lease::keep(NatsClient& client, const std::string& acknowledge) {
  if (due_s() > 0) return {};
  answer_to_ = client.new_inbox();
  said_ = Clock::now();
  return client.publish(acknowledge, "+WPI", answer_to_);
}

bool Lease::hear(const Message& message) {
  if (answer_to_.empty() || message.subject != answer_to_) return false;
  if (message.status == 0) confirmed_ = said_;  // a status says that the queue is gone
  answer_to_.clear();
  return true;
}

}  // namespace tw::farm
