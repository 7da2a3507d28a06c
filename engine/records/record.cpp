// SPDX-License-Identifier: Apache-2.0
#include "engine/records/record.h"

#include "engine/base/hash.h"

namespace tw::records {

uint64_t identity(const Candidate& c) {
  if (c.index >= 0) return hash_combine(stable_hash(c.space), static_cast<uint64_t>(c.index));
  if (c.fingerprint != 0) return c.fingerprint;
  const std::string choices = c.config.empty() ? "" : "\n" + c.config;
  return stable_hash(c.space + "\n" + schedule::json_text(c.steps) + choices);
}

}  // namespace tw::records
