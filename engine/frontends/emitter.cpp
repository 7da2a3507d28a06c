// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/emitter.h"

#include <algorithm>

namespace tw::frontends {

void Emitter::unsupported(const std::string& why) const { refuse(ErrorCode::unsupported, fmt::format("{}: {}", op_, why), where()); }
void Emitter::invalid(const std::string& why) const { refuse(ErrorCode::invalid_argument, fmt::format("{}: {}", op_, why), where()); }

int64_t Emitter::axis(int64_t a, int64_t rank) const {
  if (a < -rank || a >= rank) invalid(fmt::format("expected an axis in [{}, {}], found {}", -rank, rank - 1, a));
  return a < 0 ? a + rank : a;
}
Dims Emitter::axes(Dims a, int64_t rank) const {
  for (int64_t& x : a) x = axis(x, rank);
  Dims sorted = a;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) invalid(fmt::format("axes {} name one dimension twice", shape_text(a)));
  return a;
}

int Emitter::emit(const std::string& op, std::vector<int> inputs, graph::Attrs attrs) {
  try {
    return builder_.emit(op, inputs, std::move(attrs), node_name_);
  } catch (Refusal& r) {
    r.error.where = where();
    throw;
  }
}
int Emitter::constant(HostArray array) { return builder_.constant(constant_name_, std::move(array)); }
int Emitter::integers_constant(const Dims& v) {
  HostArray a = HostArray::make(kInt64, {static_cast<int64_t>(v.size())});
  for (size_t k = 0; k < v.size(); ++k) a.set_int(static_cast<int64_t>(k), v[k]);
  return constant(std::move(a));
}
int Emitter::scalar(DType t, double v) { return filled(t, {}, v); }
int Emitter::filled(DType t, const Dims& shape, double v) {
  HostArray a = HostArray::make(t, shape);
  for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, v);
  return constant(std::move(a));
}
int Emitter::iota(int64_t count, const Dims& shape) {
  HostArray a = HostArray::make(kInt64, shape);
  for (int64_t i = 0; i < count; ++i) a.set_int(i, i);
  return constant(std::move(a));
}
int Emitter::reshape(int v, const Dims& s) { return s == shape(v) ? v : emit("reshape", {v}, attrs({{"shape", s}})); }
int Emitter::transpose(int v, const Dims& perm) { return emit("transpose", {v}, attrs({{"perm", perm}})); }
int Emitter::cast(int v, DType t) { return dtype(v) == t ? v : emit("cast", {v}, attrs({{"to", t.name()}})); }
int Emitter::broadcast(int v, const Dims& to) { return to == shape(v) ? v : emit("broadcast_to", {v}, attrs({{"shape", to}})); }
int Emitter::slice(int v, int64_t axis, int64_t from, int64_t size) {
  const auto r = static_cast<size_t>(rank(v));
  Dims starts(r, 0), steps(r, 1), sizes = shape(v);
  starts[static_cast<size_t>(axis)] = from;
  sizes[static_cast<size_t>(axis)] = size;
  if (sizes == shape(v)) return v;
  if (size == 0) return constant(HostArray::make(dtype(v), sizes));
  return emit("slice", {v}, attrs({{"starts", starts}, {"steps", steps}, {"sizes", sizes}}));
}
int Emitter::concat(const std::vector<int>& parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : emit("concat", parts, attrs({{"axis", axis}}));
}
int Emitter::stack(const std::vector<int>& parts, int64_t axis) {
  std::vector<int> rows;
  for (const int v : parts) {
    Dims s = shape(v);
    s.insert(s.begin() + axis, 1);
    rows.push_back(emit("reshape", {v}, attrs({{"shape", s}})));
  }
  return concat(rows, axis);
}
int Emitter::select(int v, int64_t axis, int64_t position) {
  Dims s = shape(v);
  s.erase(s.begin() + axis);
  return emit("reshape", {slice(v, axis, position, 1)}, attrs({{"shape", s}}));
}
int Emitter::reduce(const char* op, int v, Dims axes, bool keepdims) {
  return emit(op, {v}, attrs({{"axes", std::move(axes)}, {"keepdims", int64_t{keepdims}}}));
}

}  // namespace tw::frontends
