// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

RuleFit fits_cache_write(const SketchState& s, int stage) {
  if (!s.needs_tiling(stage) || s.matched_consumer(stage) >= 0) return RuleFit::skip;
  return s.target().gpu ? RuleFit::apply_and_end : RuleFit::apply;
}

Derived write_cached(const SketchState& s, int stage) {
  SketchState next = s;
  next.apply(schedule::CacheWriteStep{stage, "local"});
  return {{next, stage}};  // which now computes what the copy reads
}

}  // namespace

SketchRule add_cache_write_rule() {
  return {"add-cache-write", true, true, fits_cache_write, write_cached, "Computes a tile in a nearer memory, from where a copy writes it out."};
}

}  // namespace tw::space
