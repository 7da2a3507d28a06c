// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/frontends/torch/aten.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

namespace {

void check_count(TorchNode& n, const Dims& shape) {
  __int128 count = 1;
  for (const int64_t d : shape) {
    if (d < 0) n.invalid(fmt::format("an extent of {}", d));
    count *= d;
    if (count > torch_limits::kMadeElements) n.unsupported(fmt::format("a constant of shape {} (at most 2^28 elements)", shape_text(shape)));
  }
}

/// A constant of one number: one element, broadcast where there are many.
TorchResults filled(TorchNode& n, const Dims& shape, DType t, double value) {
  check_count(n, shape);
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  if (count <= 1 << 16) return n.one(n.filled(t, shape, value));
  return n.one(n.broadcast(n.scalar(t, value), shape));
}

TorchResults zeros(TorchNode& n) { return filled(n, n.integers("size"), n.result_type(), 0); }
TorchResults ones(TorchNode& n) { return filled(n, n.integers("size"), n.result_type(), 1); }
TorchResults full(TorchNode& n) { return filled(n, n.integers("size"), n.result_type(), n.real("fill_value", 0)); }
TorchResults zeros_like(TorchNode& n) { return filled(n, n.shape(n.tensor("self")), n.result_type(), 0); }
TorchResults ones_like(TorchNode& n) { return filled(n, n.shape(n.tensor("self")), n.result_type(), 1); }
TorchResults full_like(TorchNode& n) { return filled(n, n.shape(n.tensor("self")), n.result_type(), n.real("fill_value", 0)); }
TorchResults scalar_tensor(TorchNode& n) {
  const char* name = n.has("s") ? "s" : "data";
  return n.one(n.operand_in(name, n.result_type()));
}

/// From `start` on, `step` apart, below `end`.
TorchResults arange(TorchNode& n) {
  const DType t = n.result_type();
  const double start = n.real("start", 0), end = n.real("end", 0), step = n.real("step", 1);
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step) || step == 0) n.invalid("expected finite limits and a step that is not 0");
  const double count = std::max(0.0, std::ceil((end - start) / step));
  if (count > 1 << 26) n.unsupported("a range of more than 2^26 elements");
  HostArray a = HostArray::make(t, {static_cast<int64_t>(count)});
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (t.is_float())
      a.set(i, start + static_cast<double>(i) * step);
    else
      a.set_int(i, n.has("start") ? as_integer(n.number("start")) + i * as_integer(n.number("step", int64_t{1})) : i);
  }
  return n.one(n.constant(std::move(a)));
}
/// From both ends, in the arithmetic of the result, as PyTorch does: what is floored or compared afterwards depends on the last digit.
template <class T>
void fill_line(HostArray& a, double start, double end, int64_t steps) {
  const T first = static_cast<T>(start), last = static_cast<T>(end), step = steps > 1 ? (last - first) / static_cast<T>(steps - 1) : T{0};
  for (int64_t i = 0; i < steps; ++i)
    a.set(i, static_cast<double>(i < steps / 2 || steps == 1 ? first + step * static_cast<T>(i) : last - step * static_cast<T>(steps - 1 - i)));
}
TorchResults linspace(TorchNode& n) {
  const DType t = n.result_type();
  const double start = n.real("start", 0), end = n.real("end", 0);
  const int64_t steps = n.integer("steps", 100);
  check_count(n, {steps});
  HostArray a = HostArray::make(t, {steps});
  t == kFloat64 || !t.is_float() ? fill_line<double>(a, start, end, steps) : fill_line<float>(a, start, end, steps);
  return n.one(n.constant(std::move(a)));
}
TorchResults eye(TorchNode& n) {
  const int64_t rows = n.integer("n", 0), columns = n.integer("m", rows);
  check_count(n, {rows, columns});
  HostArray a = HostArray::make(n.result_type(), {rows, columns});
  for (int64_t i = 0; i < std::min(rows, columns); ++i) a.set(i * columns + i, 1);
  return n.one(n.constant(std::move(a)));
}
/// Rows and columns of a triangle's elements.
TorchResults triangle_indices(TorchNode& n, bool upper) {
  const int64_t rows = n.integer("row", 0), columns = n.integer("col", 0), offset = n.integer("offset", 0);
  check_count(n, {rows, columns});
  Dims r, c;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (upper ? j - i >= offset : j - i <= offset) {
        r.push_back(i);
        c.push_back(j);
      }
  const auto count = static_cast<int64_t>(r.size());
  r.insert(r.end(), c.begin(), c.end());
  return n.one(n.reshape(n.integers_constant(r), {2, count}));
}
TorchResults tril_indices(TorchNode& n) { return triangle_indices(n, false); }
TorchResults triu_indices(TorchNode& n) { return triangle_indices(n, true); }

constexpr AtenOp kAtenCreate[] = {
    {"aten.arange", arange},
    {"aten.empty", zeros},
    {"aten.empty_like", zeros_like},
    {"aten.empty_permuted", zeros},
    {"aten.eye", eye},
    {"aten.full", full},
    {"aten.full_like", full_like},
    {"aten.linspace", linspace},
    {"aten.new_empty", zeros},
    {"aten.new_full", full},
    {"aten.new_ones", ones},
    {"aten.new_zeros", zeros},
    {"aten.ones", ones},
    {"aten.ones_like", ones_like},
    {"aten.scalar_tensor", scalar_tensor},
    {"aten.tril_indices", tril_indices},
    {"aten.triu_indices", triu_indices},
    {"aten.zeros", zeros},
    {"aten.zeros_like", zeros_like},
};

}  // namespace

std::span<const AtenOp> aten_create() { return kAtenCreate; }

}  // namespace tw::frontends
