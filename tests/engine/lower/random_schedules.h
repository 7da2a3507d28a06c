// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "engine/base/rng.h"
#include "engine/measure/signature.h"
#include "engine/schedule/primitive.h"

/// Seeded dags and schedules for the properties that every schedule must keep.
namespace tw::testing {

struct NamedDag {
  const char* name;
  te::DagPtr dag;
};

/// Small computations of the kinds that networks have, with extents that no factor divides.
inline std::vector<NamedDag> sample_dags() {
  using te::Indices;
  using te::Tensor;
  std::vector<NamedDag> out;
  {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {7, 10}, kFloat32), w = b.placeholder("w", {9, 10}, kFloat32, te::Role::constant);
    const Tensor d = b.reduce(
        "dense", {7, 9}, {10}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
    const Tensor y = b.compute("relu", {7, 9}, [&](const Indices& i) { return ir::max(d.at(i), ir::fimm(kFloat32, 0)); });
    out.push_back({"dense_relu", std::move(b).finish({y})});
  }
  {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {1, 4, 6, 7}, kFloat32), w = b.placeholder("w", {8, 4, 3, 3}, kFloat32, te::Role::constant);
    const Tensor bias = b.placeholder("bias", {8}, kFloat32, te::Role::constant), res = b.placeholder("res", {1, 8, 6, 7}, kFloat32);
    const Tensor p = b.compute(
        "pad", {1, 4, 8, 9},
        [&](const Indices& i) {
          const ir::Expr inside = (ir::index(1) <= i[2] && i[2] < ir::index(7)) && (ir::index(1) <= i[3] && i[3] < ir::index(8));
          return ir::select(inside, x(i[0], i[1], i[2] - 1, i[3] - 1), ir::fimm(kFloat32, 0));
        },
        "pad");
    const Tensor c = b.reduce(
        "conv2d", {1, 8, 6, 7}, {4, 3, 3}, te::Reducer::sum,
        [&](const Indices& s, const Indices& r) { return p(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
    const Tensor a = b.compute("bias_add", {1, 8, 6, 7}, [&](const Indices& i) { return c.at(i) + bias(i[1]); });
    const Tensor y = b.compute("add", {1, 8, 6, 7}, [&](const Indices& i) { return a.at(i) + res.at(i); });
    out.push_back({"conv_bias_add", std::move(b).finish({y})});
  }
  {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {5, 13}, kFloat32);
    const Tensor m = b.reduce("max", {5}, {13}, te::Reducer::max, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); });
    const Tensor e = b.compute("exp", {5, 13}, [&](const Indices& i) { return ir::call(ir::Intrinsic::exp, {x.at(i) - m(i[0])}); });
    const Tensor t = b.reduce("sum", {5}, {13}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return e(s[0], r[0]); });
    const Tensor y = b.compute("softmax", {5, 13}, [&](const Indices& i) { return e.at(i) / t(i[0]); });
    out.push_back({"softmax", std::move(b).finish({y})});
  }
  {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {3, 11, 2}, kInt32);
    const Tensor t = b.compute("transpose", {2, 3, 11}, [&](const Indices& i) { return x(i[1], i[2], i[0]); });
    const Tensor y = b.compute("reshape", {6, 11}, [&](const Indices& i) {
      return t(ir::floor_div(i[0], ir::index(3)), ir::floor_mod(i[0], ir::index(3)), i[1]) * ir::imm(kInt32, 3);
    });
    out.push_back({"transpose_reshape", std::move(b).finish({y})});
  }
  {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {1, 3, 9, 9}, kFloat32);
    const Tensor r = b.compute("relu", {1, 3, 9, 9}, [&](const Indices& i) { return ir::max(x.at(i), ir::fimm(kFloat32, 0)); });
    const Tensor y = b.reduce("max_pool", {1, 3, 4, 4}, {3, 3}, te::Reducer::max,
                              [&](const Indices& s, const Indices& k) { return r(s[0], s[1], s[2] * 2 + k[0], s[3] * 2 + k[1]); });
    out.push_back({"relu_pool", std::move(b).finish({y})});
  }
  {
    te::DagBuilder b;
    const Tensor x = b.placeholder("x", {6, 8}, kFloat32), n = b.placeholder("n", {5}, kInt64);
    const Tensor y = b.compute("gather", {5, 8}, [&](const Indices& i) { return x(ir::max(ir::index(0), ir::min(n(i[0]), ir::index(5))), i[1]); });
    out.push_back({"gather", std::move(b).finish({y})});
  }
  return out;
}

/// One step with random arguments.
inline schedule::Step random_step(const schedule::Schedule& s, Rng& rng) {
  uint64_t shares = 0;
  for (const schedule::Primitive* p : schedule::primitives()) shares += static_cast<uint64_t>(p->share);
  const int stage = static_cast<int>(rng.uniform(s.stages().size()));
  auto left = static_cast<int64_t>(rng.uniform(shares));
  for (const schedule::Primitive* p : schedule::primitives())
    if ((left -= p->share) < 0) return p->random({s, rng, stage});
  return {};
}

inline schedule::Schedule random_schedule(const te::DagPtr& dag, Rng& rng, int attempts) {
  schedule::Schedule s(dag);
  for (int k = 0; k < attempts; ++k)
    if (auto next = s.apply(random_step(s, rng))) s = *std::move(next);
  return s;
}

/// Random inputs in placeholder order.
inline std::vector<HostArray> random_inputs(const te::Dag& dag, Rng& rng) {
  std::vector<HostArray> out;
  for (const te::Op& op : dag.ops) {
    if (!op.is_placeholder()) continue;
    HostArray a = HostArray::make(op.output->dtype, op.output->shape);
    for (int64_t i = 0; i < a.num_elements(); ++i)
      if (a.dtype.is_float())
        a.set(i, rng.uniform_real() * 2 - 1);
      else
        a.set_int(i, rng.range(0, 4));
    out.push_back(std::move(a));
  }
  return out;
}

/// Packs inputs as the schedule lays them out, gives `run` the arguments of the lowered function, unpacks the outputs.
template <class Run>
Expected<std::vector<HostArray>> run_scheduled(const schedule::Schedule& s, const std::vector<HostArray>& inputs, Run run) {
  const std::vector<runtime::ArgSpec> specs = measure::signature_of(s, "f").args;
  std::vector<HostArray> args, out;
  for (size_t k = 0; k < specs.size(); ++k) {
    args.push_back(HostArray::make(specs[k].dtype, specs[k].physical_shape()));
    if (!specs[k].output) runtime::pack_layout(specs[k], inputs[k].data.data(), args.back().data.data());
  }
  TW_CHECK(run(args));
  for (size_t k = 0; k < specs.size(); ++k) {
    if (!specs[k].output) continue;
    out.push_back(HostArray::make(specs[k].dtype, specs[k].shape));
    runtime::unpack_layout(specs[k], args[k].data.data(), out.back().data.data());
  }
  return out;
}

inline double largest_difference(const std::vector<HostArray>& a, const std::vector<HostArray>& b) {
  double worst = 0;
  for (size_t k = 0; k < a.size(); ++k)
    for (int64_t i = 0; i < a[k].num_elements(); ++i) {
      const double d = std::abs(a[k].get(i) - b[k].get(i));
      worst = d > worst || std::isnan(d) ? d : worst;
    }
  return worst;
}

}  // namespace tw::testing
