// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/onnx/tensor_reader.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

HostArray list_of(DType t, const std::vector<double>& v) {
  HostArray a = HostArray::make(t, {static_cast<int64_t>(v.size())});
  for (size_t i = 0; i < v.size(); ++i) a.set(static_cast<int64_t>(i), v[i]);
  return a;
}

Results constant(OnnxNode& n) {
  for (const char* value : {"value", "sparse_value"})
    if (const auto t = n.tensor(value)) return {*t};
  if (n.has_attr("value_int")) {
    HostArray a = HostArray::make(kInt64, {});
    a.set_int(0, n.integer("value_int", 0));
    return {n.constant(std::move(a))};
  }
  if (n.has_attr("value_float")) return {n.scalar(kFloat32, n.real("value_float", 0))};
  if (n.has_attr("value_ints")) return {n.integers_constant(n.integers("value_ints", {}))};
  if (n.has_attr("value_floats")) return {n.constant(list_of(kFloat32, n.reals("value_floats", {})))};
  n.unsupported("a constant that is neither a tensor nor numbers");
}

/// Element count of a constant that is about to be made. Refuses what an import should not allocate.
int64_t constant_elements(const OnnxNode& n, const Dims& shape) {
  __int128 count = 1;
  for (const int64_t d : shape) {
    if (d < 0) n.invalid(fmt::format("expected extents of at least 0, found {}", shape_text(shape)));
    count *= d;
    if (count > (int64_t{1} << 28)) n.unsupported(fmt::format("a constant of shape {} (at most 2^28 elements)", shape_text(shape)));
  }
  return static_cast<int64_t>(count);
}

/// One element, broadcast to a shape: small ones are evaluated on the spot.
Results constant_of_shape(OnnxNode& n) {
  const Dims shape = n.integers_input(0, "the shape");
  if (shape.size() > onnx_limits::kRank) n.invalid("too many dimensions");
  const auto given = n.tensor("value");
  const HostArray* element = given ? n.constant_of(*given) : nullptr;
  if (element && element->num_elements() != 1) n.invalid("expected one element in 'value'");
  const int64_t count = constant_elements(n, shape);
  HostArray a = HostArray::make(element ? element->dtype : kFloat32, shape);
  for (int64_t i = 0; element && i < count; ++i) a.dtype.is_float() ? a.set(i, element->get(0)) : a.set_int(i, element->get_int(0));
  const int v = n.constant(std::move(a));
  return {given && n.narrow(*given) ? n.narrowed(v, n.element_type(*given)) : v};
}

Results shape(OnnxNode& n) {
  const Dims& s = n.shape(n.in(0));
  const auto rank = static_cast<int64_t>(s.size());
  const auto limited = [&](int64_t p) { return std::max<int64_t>(0, std::min(rank, p < 0 ? p + rank : p)); };
  const int64_t from = n.opset() < 15 ? 0 : limited(n.integer("start", 0)), to = n.opset() < 15 ? rank : limited(n.integer("end", rank));
  return {n.integers_constant(from < to ? Dims(s.begin() + from, s.begin() + to) : Dims{})};
}

Results size(OnnxNode& n) {
  HostArray a = HostArray::make(kInt64, {});
  a.set_int(0, n.type(n.in(0)).num_elements());
  return {n.constant(std::move(a))};
}

Results range(OnnxNode& n) {
  const HostArray &start = n.constant_input(0, "the start"), &limit = n.constant_input(1, "the limit"), &delta = n.constant_input(2, "the step");
  if (start.num_elements() != 1 || limit.num_elements() != 1 || delta.num_elements() != 1 || start.dtype != limit.dtype || start.dtype != delta.dtype)
    n.invalid("expected three numbers of one type");
  const double from = start.get(0), to = limit.get(0), step = delta.get(0);
  if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(step) || step == 0) n.invalid("expected finite limits and a step that is not 0");
  double count = std::max(0.0, std::ceil((to - from) / step));
  if (!start.dtype.is_float()) {  // doubles do not hold all integers
    const auto span = static_cast<__int128>(limit.get_int(0)) - start.get_int(0), by = static_cast<__int128>(delta.get_int(0));
    count = (span > 0) == (by > 0) ? static_cast<double>((span + by - (by > 0 ? 1 : -1)) / by) : 0;
  }
  if (count > 1 << 26) n.unsupported("a range of more than 2^26 elements");
  HostArray a = HostArray::make(start.dtype, {static_cast<int64_t>(count)});
  for (int64_t i = 0; i < a.num_elements(); ++i)
    start.dtype.is_float() ? a.set(i, from + static_cast<double>(i) * step) : a.set_int(i, start.get_int(0) + i * delta.get_int(0));
  return {n.constant(std::move(a))};
}

Results eye_like(OnnxNode& n) {
  const graph::TensorType like = n.type(n.in(0));
  if (like.shape.size() != 2) n.invalid(fmt::format("expected a matrix, found {}", like.text()));
  DType t = like.dtype;
  if (n.has_attr("dtype")) {
    auto given = dtype_of_onnx(n.integer("dtype", 0));
    if (!given) n.unsupported("element type " + onnx_dtype_name(n.integer("dtype", 0)));
    t = *given;
  }
  constant_elements(n, like.shape);
  HostArray a = HostArray::make(t, like.shape);
  const int64_t rows = like.shape[0], columns = like.shape[1], k = n.integer("k", 0);
  for (int64_t r = 0; r < rows; ++r)
    if (k > -rows && k < columns && r + k >= 0 && r + k < columns) a.set(r * columns + r + k, 1);
  return {n.constant(std::move(a))};
}

constexpr OnnxOp kConstantOps[] = {
    {"Constant", constant}, {"ConstantOfShape", constant_of_shape}, {"EyeLike", eye_like}, {"Range", range}, {"Shape", shape, Narrow::taken},
    {"Size", size, Narrow::taken},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_constant() { return kConstantOps; }

}  // namespace tw::frontends
