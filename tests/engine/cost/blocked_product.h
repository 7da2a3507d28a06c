// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/space/sketch/program.h"
#include "tests/engine/lower/random_schedules.h"

/// A tiled product on a GPU, and what a program says of a schedule.
namespace tw::cost::fixture {

struct Candidate {
  space::Program program;
  space::Evaluated evaluated;
};
inline Candidate candidate(const schedule::Schedule& s) {
  space::Program p = space::Program::make(s.dag(), s.steps()).value();
  space::Evaluated e = p.evaluate(space::numbers_of(s.steps())).value();
  return {std::move(p), std::move(e)};
}

/// Blocks of 64 x 64 results by 256 threads of 4 x 4, operands through shared memory `depth` terms at a time.
inline schedule::Schedule blocked_product(int64_t n, int64_t depth) {
  constexpr int64_t kThreads = 16, kOwn = 4;
  schedule::Builder b(tw::testing::dags::matmul(n, n, n));
  const int local = b.cache_write(b.stage("matmul"));
  int out = local + 1;
  const auto axes = b.loops(out);
  const auto i = b.split(out, axes[0], {kThreads, kOwn}), j = b.split(out, axes[1], {kThreads, kOwn});
  b.reorder(out, {i[0], j[0], i[1], j[1], i[2], j[2]});
  b.bind(out, b.fuse(out, {i[0], j[0]}), schedule::Annotation::block_x);
  const auto threads = b.fuse(out, {i[1], j[1]});
  b.bind(out, threads, schedule::Annotation::thread_x);
  b.compute_at(local, out, threads);
  const auto inner = b.loops(local);
  const auto k = b.split(local, inner[2], {depth});
  b.reorder(local, {k[0], k[1], inner[0], inner[1]});
  for (const char* name : {"a", "w"}) {
    const int reader = b.stage("matmul") - 1;
    const int shared = b.cache_read(b.stage(name), {reader}, "shared");
    const int moved = reader + (shared <= reader);
    b.compute_at(shared, moved, b.loops(moved)[0]);
    const auto own = b.loops(shared);
    const auto pieces = b.split(shared, b.fuse(shared, {own[0], own[1]}), {kThreads * kThreads});
    b.bind(shared, pieces[1], schedule::Annotation::thread_x);
  }
  auto s = std::move(b).finish();
  if (!s) qFatal("%s", s.error().text().c_str());
  return *std::move(s);
}

}  // namespace tw::cost::fixture
