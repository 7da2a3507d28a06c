// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>

#include "engine/lower/lower.h"
#include "engine/schedule/schedule.h"
#include "engine/te/dag.h"
#include "engine/tir/print.h"
#include "engine/tir/visit.h"

/// What single primitives make of a dag, as loops, and what they refuse. That results stay the same is for random_schedule_test to show.
namespace tw::testing {

/// y[i] = relu(sum over r0, r1 of x[i, r0, r1]); stages: 0 x, 1 row_sum, 2 relu.
inline te::DagPtr row_sums(te::Reducer reducer = te::Reducer::sum) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {6, 7, 4}, kFloat32);
  const te::Tensor s = b.reduce("row_sum", {6}, {7, 4}, reducer, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0], r[1]); });
  const te::Tensor y = b.compute("relu", {6}, [&](const te::Indices& i) { return ir::max(s.at(i), ir::fimm(kFloat32, 0)); });
  return std::move(b).finish({y});
}

/// c = a * b, 10 by 12; stages: 0 a, 1 b, 2 c.
inline te::DagPtr matrix_product() {
  te::DagBuilder d;
  const te::Tensor a = d.placeholder("a", {10, 8}, kFloat32), b = d.placeholder("b", {8, 12}, kFloat32);
  const te::Tensor c =
      d.reduce("c", {10, 12}, {8}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return a(s[0], r[0]) * b(r[0], s[1]); });
  return std::move(d).finish({c});
}

/// y[n, o, h, w]: a convolution with 3 x 2 taps and stride 2; stages: 0 x, 1 w, 2 y.
inline te::DagPtr convolution() {
  te::DagBuilder d;
  const te::Tensor x = d.placeholder("x", {2, 3, 9, 8}, kFloat32), w = d.placeholder("w", {5, 3, 3, 2}, kFloat32);
  return std::move(d).finish({d.reduce("y", {2, 5, 4, 4}, {3, 3, 2}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) {
    return x(s[0], r[0], s[2] * 2 + r[1], s[3] * 2 + r[2]) * w(s[1], r[0], r[1], r[2]);
  })});
}

/// Stages: 0 x, 1 w, 2 y.
inline te::DagPtr windows(bool grouped = false) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {2, 3, 9}, kFloat32), w = b.placeholder("w", {4, 3, 3}, kFloat32, te::Role::constant);
  const auto at = [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] * 2 + r[1]) * w(grouped ? s[0] : s[1], r[0], r[1]); };
  return std::move(b).finish({b.reduce("y", {2, 4, 4}, {3, 3}, te::Reducer::sum, at, "conv1d")});
}

/// Of a stage's loops, by the steps.
inline std::vector<int64_t> extents(const schedule::Schedule& s, int stage) {
  std::vector<int64_t> out;
  for (const schedule::Iter& it : s.stages()[static_cast<size_t>(stage)].iters) out.push_back(it.extent);
  return out;
}

inline std::string lowered(schedule::Builder b) {
  const schedule::Schedule s = std::move(b).finish().value();
  const auto f = lower::lower(s, "f");
  return f ? tir::print(*f) : f.error().text();
}

inline std::string optimized(schedule::Builder b) {
  const schedule::Schedule s = std::move(b).finish().value();
  tir::PassHooks hooks;
  hooks.verify = true;
  const auto f = lower::lower_and_optimize(s, "f", Target(), hooks);
  return f ? tir::print(*f) : f.error().text();
}

inline bool has(const std::string& text, const char* part) {
  if (text.find(part) != std::string::npos) return true;
  qWarning("%s\nlacks: %s", text.c_str(), part);
  return false;
}

/// The error of finish() or, where the steps are legal, of lowering.
inline std::string refusal(schedule::Builder b) {
  const auto s = std::move(b).finish();
  if (!s) return s.error().text();
  const auto f = lower::lower(*s, "f");
  return f ? "" : f.error().text();
}

}  // namespace tw::testing
