// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/farm/moment.h"
#include "engine/farm/nats_client.h"

namespace tw::farm {

/// The right to a job. The server takes it away a lease after the last sign of life that it has seen; whoever holds it counts from when that sign was sent, and
/// gives the job up a while before. Signs are not waited for: their answers come with the other messages.
class Lease {
 public:
  Lease() = default;
  /// `asked`: when the job was asked for, which is before the server's clock for it began.
  Lease(double lease_s, Clock::time_point asked) : lease_s_(lease_s), confirmed_(asked), said_(asked) {}

  /// How long the job is this device's for certain.
  double left_s() const;
  /// Until the next sign of life is due.
  double due_s() const;
  /// Gives a sign of life if one is due.
  Expected<void> keep(NatsClient& client, const std::string& acknowledge);
  /// True if the message is the server's answer to the last sign.
  bool hear(const Message& message);

 private:
  double lease_s_ = 0;
  Clock::time_point confirmed_{}, said_{};
  std::string answer_to_;  ///< of the last sign; empty: it was answered
};

}  // namespace tw::farm
