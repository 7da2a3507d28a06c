// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/ir/visit.h"
#include "engine/measure/inputs.h"

namespace tw::measure {

namespace {

/// Half the distance between 1 and the next number.
double rounding_unit(DType t) {
  if (t.code == TypeCode::bfloat) return 0x1.0p-8;
  return t.bits == 64 ? 0x1.0p-53 : t.bits == 32 ? 0x1.0p-24 : 0x1.0p-11;
}

/// Ops that output `op` depends on, itself included.
std::vector<bool> ancestors(const te::Dag& dag, int op) {
  std::vector<bool> used(dag.ops.size(), false);
  used[static_cast<size_t>(op)] = true;
  for (int i = op; i >= 0; --i) {
    if (!used[static_cast<size_t>(i)] || !dag.ops[static_cast<size_t>(i)].body) continue;
    ir::walk(*dag.ops[static_cast<size_t>(i)].body, [&](const ir::Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) {
        if (const int j = dag.op_of(l->buffer.get()); j >= 0) used[static_cast<size_t>(j)] = true;
      }
    });
  }
  return used;
}

void finish(ReferenceOutput& out) {
  std::vector<double> magnitudes;
  for (const double v : out.values) {
    if (std::isfinite(v)) magnitudes.push_back(std::abs(v));
    out.has_nan |= std::isnan(v);
  }
  if (magnitudes.empty()) return;
  std::sort(magnitudes.begin(), magnitudes.end());
  out.scale = magnitudes[magnitudes.size() * 9 / 10];
  if (out.scale == 0) out.scale = magnitudes.back();
}

double relative_error(double got, double want, double scale) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : kInf;
  if (got == want) return 0;
  if (std::isinf(got) || std::isinf(want)) return kInf;
  const double base = std::max(std::abs(want), scale);
  return base == 0 ? kInf : std::abs(got - want) / base;
}

}  // namespace

bool may_be_winograd(const te::Op& op) {
  const std::vector<te::Axis>& r = op.reduce_axes;
  const bool convolution = (op.tag == "conv2d" && r.size() == 3) || (op.tag == "conv3d" && r.size() == 4);
  return convolution && r[r.size() - 2].extent == 3 && r.back().extent == 3;
}

namespace {

/// Whether tensor cores could compute the stage with operands rounded to TF32.
bool may_be_tf32(const te::Op& op) {
  const auto* product = op.reducer == te::Reducer::sum && op.output->dtype == kFloat32 ? ir::as<ir::BinaryNode>(*op.body) : nullptr;
  return product && product->op == ir::BinaryOp::mul && ir::as<ir::LoadNode>(product->a) && ir::as<ir::LoadNode>(product->b);
}

}  // namespace

double output_tolerance(const te::Dag& dag, int output, bool tf32) {
  // 32 units of slack for function approximations and contraction, and 4 per standard deviation of a random walk over the terms.
  // Schedules may compute a convolution with a 3x3 window by Winograd's algorithm, whose transforms add and cancel large terms: for tiles of 4x4 errors are
  // some ten times those of direct summation (Barabasz et al., Error analysis and improving the accuracy of Winograd convolution, ACM TOMS 2020).
  constexpr double kFixed = 32, kWalk = 4, kWinograd = 16;
  // TF32 moves each operand by at most 2^-11 of itself, and so a product of two by at most 2^-10. K such errors of random sign add up to sqrt(K) times one,
  // but so do the K products themselves, whose sum the error is compared with: K cancels, and 4 standard deviations of 2^-10 are left, of each sum on the way.
  constexpr double kTf32Product = 0x1.0p-10;
  double terms = 0, unit = 0, amplification = 1, rounded_sums = 0;
  const std::vector<bool> used = ancestors(dag, dag.outputs[static_cast<size_t>(output)]);
  for (size_t i = 0; i < dag.ops.size(); ++i) {
    const te::Op& op = dag.ops[i];
    if (!used[i]) continue;
    if (op.output->dtype.is_float()) unit = std::max(unit, rounding_unit(op.output->dtype));
    double n = op.reduce_axes.empty() ? 0 : 1;
    for (const te::Axis& axis : op.reduce_axes) n *= static_cast<double>(axis.extent);
    terms += n;
    if (may_be_winograd(op)) amplification = kWinograd;
    if (tf32 && may_be_tf32(op)) ++rounded_sums;
  }
  if (!dag.ops[static_cast<size_t>(dag.outputs[static_cast<size_t>(output)])].output->dtype.is_float()) return 0;
  return 2 * unit * amplification * (kFixed + kWalk * std::sqrt(terms)) + kWalk * kTf32Product * std::sqrt(rounded_sums);
}

std::vector<int64_t> sample_positions(const std::vector<int64_t>& shape, int count, uint64_t seed) {
  int64_t total = 1;
  for (const int64_t e : shape) total *= e;
  if (total <= count) {
    std::vector<int64_t> all(static_cast<size_t>(total));
    for (int64_t i = 0; i < total; ++i) all[static_cast<size_t>(i)] = i;
    return all;
  }
  Rng rng(seed);
  std::set<int64_t> chosen;
  const auto position = [&](auto index_of) {
    int64_t flat = 0;
    for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index_of(d);
    return flat;
  };
  const auto random_index = [&](size_t d) { return static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(shape[d]))); };
  // A third: corners, where tails of tiles meet (each dimension at its first or last index).
  for (int i = 0; i < count / 3; ++i) {
    chosen.insert(position([&](size_t d) { return rng.uniform(2) == 0 ? int64_t{0} : shape[d] - 1; }));
  }
  // A third: faces, one dimension after the other at its last or first index.
  for (int i = 0; i < count / 3; ++i) {
    const size_t face = static_cast<size_t>(i / 2) % shape.size();
    chosen.insert(position([&](size_t d) { return d != face ? random_index(d) : i % 2 == 0 ? shape[d] - 1 : int64_t{0}; }));
  }
  while (static_cast<int>(chosen.size()) < count) chosen.insert(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(total))));
  return {chosen.begin(), chosen.end()};
}

Expected<Reference> make_reference(const te::Dag& dag, uint64_t seed, const ReferenceOptions& options) {
  const std::vector<HostArray> inputs = make_inputs(dag, seed, options.magnitudes);
  Reference reference;
  for (size_t o = 0; o < dag.outputs.size(); ++o) {
    const ir::Buffer& buffer = dag.ops[static_cast<size_t>(dag.outputs[o])].output;
    reference.outputs.push_back({buffer->dtype, buffer->shape, false, {}, {}, 0, output_tolerance(dag, static_cast<int>(o), options.tf32), false});
  }
  int64_t elements = 0;
  for (const te::Op& op : dag.ops) elements += op.is_placeholder() ? 0 : op.output->num_elements();
  if (te::flops(dag) + elements <= options.full_flops) {
    TW_TRY(const std::vector<HostArray> outputs, te::interpret(dag, inputs));
    for (size_t o = 0; o < outputs.size(); ++o) {
      ReferenceOutput& out = reference.outputs[o];
      out.all = true;
      for (int64_t i = 0; i < outputs[o].num_elements(); ++i) out.values.push_back(outputs[o].get(i));
      finish(out);
    }
    return reference;
  }
  for (size_t o = 0; o < dag.outputs.size(); ++o) {
    ReferenceOutput& out = reference.outputs[o];
    out.positions = sample_positions(out.shape, std::max(options.samples, 64), Rng(seed + o).next());
    TW_TRY(out.values, te::interpret_at(dag, inputs, static_cast<int>(o), out.positions));
    finish(out);
  }
  return reference;
}

Comparison compare(const ReferenceOutput& want, std::span<const double> got) {
  TW_ASSERT(got.size() == want.values.size(), fmt::format("{} values to compare with {}", got.size(), want.values.size()));
  Comparison result;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = relative_error(got[i], want.values[i], want.scale);
    result.equal &= error <= want.tolerance;
    if (result.at >= 0 && error <= result.max_rel_error) continue;
    result.max_rel_error = error;
    result.at = want.all ? static_cast<int64_t>(i) : want.positions[i];
    result.got = got[i];
    result.want = want.values[i];
  }
  return result;
}

namespace {

int64_t bytes_of(const Reference& reference) {
  size_t bytes = 0;
  for (const ReferenceOutput& o : reference.outputs) bytes += o.values.size() * sizeof(double) + o.positions.size() * sizeof(int64_t) + sizeof(o);
  return static_cast<int64_t>(bytes);
}

}  // namespace

Expected<std::shared_ptr<const Reference>> ReferenceCache::get(const std::string& task_key, const te::Dag& dag, uint64_t seed, Magnitudes magnitudes,
                                                               bool tf32) {
  const std::string key = fmt::format("{}#{}#{}#{}", task_key, seed, static_cast<int>(magnitudes), tf32);
  references_.begin();
  if (const auto* known = references_.find(key)) return *known;
  TW_TRY(Reference made, make_reference(dag, seed, {.magnitudes = magnitudes, .tf32 = tf32}));
  const int64_t bytes = bytes_of(made);
  return references_.put(key, std::make_shared<const Reference>(std::move(made)), bytes);
}

}  // namespace tw::measure
