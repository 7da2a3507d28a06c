// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "engine/base/rng.h"
#include "engine/measure/signature.h"
#include "engine/schedule/primitive.h"
#include "tests/engine/lower/sample_dags.h"
#include "tests/engine/measure/packed_input.h"

/// Seeded dags and schedules for the properties that every schedule must keep.
namespace tw::testing {

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
    args.push_back(specs[k].output ? HostArray::make(specs[k].dtype, specs[k].physical_shape()) : packed_input(specs[k], inputs[k]));
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
