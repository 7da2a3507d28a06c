// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/torch/aten.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

Dims common_shape(TorchNode& n, const std::vector<int>& values) {
  Dims shape;
  for (const int v : values) {
    const Dims& s = n.shape(v);
    if (s.size() > shape.size()) shape.insert(shape.begin(), s.size() - shape.size(), 1);
    for (size_t d = 0; d < s.size(); ++d) {
      int64_t& to = shape[shape.size() - s.size() + d];
      if (to != s[d] && to != 1 && s[d] != 1) n.invalid("shapes that do not broadcast");
      if (to == 1) to = s[d];
    }
  }
  return shape;
}

namespace {

TorchResults embedding(TorchNode& n) { return n.one(n.emit("gather", {n.tensor("weight"), n.tensor("indices")}, attrs({{"axis", int64_t{0}}}))); }
/// Sums, means or largest values of the rows that each bag names; where bags begin has to be known.
TorchResults embedding_bag(TorchNode& n) {
  if (n.integer("padding_idx", -1) >= 0) n.unsupported("bags that leave rows out (padding_idx)");
  const int indices = n.tensor("indices");
  const HostArray* offsets = n.constant_of(n.tensor("offsets"));
  if (offsets == nullptr) n.unsupported("bags that begin where the inputs' values say");
  constexpr const char* kModes[] = {"reduce_sum", "reduce_mean", "reduce_max"};
  const int64_t mode = n.integer("mode", 0), bags = offsets->num_elements() - (n.boolean("include_last_offset", false) ? 1 : 0),
                count = n.type(indices).num_elements();
  if (mode < 0 || mode > 2) n.unsupported(fmt::format("bags of mode {}", mode));
  int rows = n.emit("gather", {n.tensor("weight"), indices}, attrs({{"axis", int64_t{0}}}));
  if (n.has("per_sample_weights")) rows = n.binary("mul", rows, n.reshape(n.tensor("per_sample_weights"), {count, 1}));
  const int64_t width = n.shape(rows)[1];
  const auto begin = [&](int64_t bag) { return bag < offsets->num_elements() ? offsets->get_int(bag) : count; };
  const int64_t size = bags == 0 ? 0 : count / bags;
  bool alike = size > 0 && size * bags == count;
  for (int64_t k = 0; alike && k < bags; ++k) alike = begin(k) == k * size;
  if (alike) return n.one(n.reduce(kModes[mode], n.reshape(rows, {bags, size, width}), {1}, false));
  if (bags == 0 || bags > torch_limits::kUnrolled) n.unsupported(fmt::format("{} bags of different sizes", bags));
  std::vector<int> sums;
  for (int64_t k = 0; k < bags; ++k)
    sums.push_back(begin(k + 1) == begin(k) ? n.constant(HostArray::make(n.dtype(rows), {1, width}))
                                            : n.reduce(kModes[mode], n.slice(rows, 0, begin(k), begin(k + 1) - begin(k)), {0}, true));
  return n.one(n.concat(sums, 0));
}
TorchResults index_select(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(n.emit("gather", {x, n.tensor("index")}, attrs({{"axis", n.axis(n.integer("dim", 0), n.rank(x))}})));
}
TorchResults gather(TorchNode& n) {
  const int x = n.tensor("self");
  if (n.rank(x) == 0) return n.one(x);
  return n.one(n.emit("gather_elements", {x, n.tensor("index")}, attrs({{"axis", n.axis(n.integer("dim", 0), n.rank(x))}})));
}
TorchResults take_along_dim(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(n.emit("gather_elements", {x, n.tensor("indices")}, attrs({{"axis", n.axis(n.integer("dim", 0), n.rank(x))}})));
}

/// Values, or one number, put where indices say.
TorchResults scattered(TorchNode& n, const std::string& reduction) {
  const int x = n.tensor("self"), index = n.tensor("index");
  const char* values = n.has("src") ? "src" : "value";
  int updates = n.operand_in(values, n.dtype(x));
  if (n.rank(updates) == 0) updates = n.broadcast(n.reshape(updates, Dims(static_cast<size_t>(n.rank(index)), 1)), n.shape(index));
  for (int64_t d = 0; d < n.rank(index); ++d) updates = n.slice(updates, d, 0, n.shape(index)[static_cast<size_t>(d)]);  // what no index names is not used
  return n.one(n.emit("scatter_elements", {x, index, updates}, attrs({{"axis", n.axis(n.integer("dim", 0), n.rank(x))}, {"reduction", reduction}})));
}
TorchResults scatter(TorchNode& n) {
  const std::string reduce = n.text("reduce", "");
  return scattered(n, reduce == "add" ? "add" : reduce == "multiply" ? "mul" : "none");
}
TorchResults scatter_add(TorchNode& n) { return scattered(n, "add"); }
TorchResults scatter_reduce(TorchNode& n) {
  const std::string reduce = n.text("reduce", "sum");
  if (!n.boolean("include_self", true)) n.unsupported("scattering without the values that are there");
  if (reduce == "sum") return scattered(n, "add");
  if (reduce == "prod") return scattered(n, "mul");
  if (reduce == "amax") return scattered(n, "max");
  if (reduce == "amin") return scattered(n, "min");
  n.unsupported(fmt::format("the reduction '{}'", printable(reduce.substr(0, 64))));
}

// ---- Lists of indices: x[a, :, b]

/// Indices of consecutive or separate dimensions; booleans stand for their true positions where those are known.
struct IndexList {
  std::vector<int> at;  ///< per dimension, -1: all of it
  bool run_time_mask = false;
  int mask = -1;  ///< the one boolean index, when it is computed at run time
};

IndexList index_list(TorchNode& n, int x) {
  IndexList list;
  for (const int v : n.tensors("indices")) {
    if (v < 0 || (!n.dtype(v).is_bool() && n.dtype(v) != kUInt8)) {
      list.at.push_back(v);
      continue;
    }
    const HostArray* mask = n.constant_of(v);
    if (!mask) {
      list.run_time_mask = true;
      list.mask = v;
      list.at.push_back(v);
      continue;
    }
    const Dims s = mask->shape;
    std::vector<Dims> places(s.size());
    for (int64_t i = 0; i < mask->num_elements(); ++i) {
      if (mask->get_int(i) == 0) continue;
      int64_t rest = i;
      for (size_t d = s.size(); d-- > 0; rest /= s[d]) places[d].push_back(rest % s[d]);
    }
    for (const Dims& p : places) list.at.push_back(n.integers_constant(p));
  }
  if (static_cast<int64_t>(list.at.size()) > n.rank(x)) n.invalid(fmt::format("{} indices for {} dimensions", list.at.size(), n.rank(x)));
  list.at.resize(static_cast<size_t>(n.rank(x)), -1);
  return list;
}

/// Where the indexed dimensions are, those first, and whether they are next to each other.
struct IndexPlan {
  Dims indexed, rest;        ///< dimensions
  std::vector<int> indices;  ///< broadcast to one shape, int64
  Dims shape;                ///< of the indices
  bool together = true;
};
IndexPlan plan_of(TorchNode& n, const IndexList& list) {
  IndexPlan p;
  std::vector<int> given;
  for (size_t d = 0; d < list.at.size(); ++d) {
    if (list.at[d] < 0) {
      p.rest.push_back(static_cast<int64_t>(d));
      continue;
    }
    p.indexed.push_back(static_cast<int64_t>(d));
    given.push_back(n.cast(list.at[d], kInt64));
  }
  for (size_t k = 1; k < p.indexed.size(); ++k) p.together = p.together && p.indexed[k] == p.indexed[k - 1] + 1;
  p.shape = common_shape(n, given);
  for (const int v : given) p.indices.push_back(n.broadcast(v, p.shape));
  return p;
}
/// [indices..., number of indexed dimensions]
int index_rows(TorchNode& n, const IndexPlan& p) {
  std::vector<int> columns;
  Dims column = p.shape;
  column.push_back(1);
  for (const int v : p.indices) columns.push_back(n.reshape(v, column));
  return n.concat(columns, static_cast<int64_t>(p.shape.size()));
}
Dims indexed_first(const IndexPlan& p) {
  Dims order = p.indexed;
  order.insert(order.end(), p.rest.begin(), p.rest.end());
  return order;
}

TorchResults index(TorchNode& n) {
  const int x = n.tensor("self");
  const IndexList list = index_list(n, x);
  if (list.run_time_mask)
    n.unsupported("a selection by a condition that is computed at run time: the shape of the result depends on it; torch.where keeps the shape");
  const IndexPlan p = plan_of(n, list);
  if (p.indexed.empty()) return n.one(x);
  if (p.indexed.size() == 1) return n.one(n.emit("gather", {x, p.indices[0]}, attrs({{"axis", p.indexed[0]}})));
  const int y = n.emit("gather_nd", {n.transpose(x, indexed_first(p)), index_rows(n, p)}, attrs({{"batch_dims", int64_t{0}}}));  // [indices..., rest...]
  if (!p.together || p.indexed[0] == 0) return n.one(y);
  // The indices' dimensions stand where the indexed ones stood.
  const auto k = static_cast<int64_t>(p.shape.size());
  Dims order;
  for (int64_t d = 0; d < p.indexed[0]; ++d) order.push_back(k + d);
  for (int64_t d = 0; d < k; ++d) order.push_back(d);
  for (int64_t d = p.indexed[0]; d < static_cast<int64_t>(p.rest.size()); ++d) order.push_back(k + d);
  return n.one(n.transpose(y, order));
}

TorchResults index_put(TorchNode& n) {
  const int x = n.tensor("self");
  const IndexList list = index_list(n, x);
  const bool add = n.boolean("accumulate", false);
  int values = n.cast(n.tensor("values"), n.dtype(x));
  if (list.run_time_mask) {
    // x[mask] = value keeps the shape if one value goes everywhere.
    const Dims m = n.shape(list.mask);
    if (n.type(values).num_elements() != 1 || add || m.size() > n.shape(x).size() || !std::equal(m.begin(), m.end(), n.shape(x).begin()))
      n.unsupported("several values put where a condition holds that is computed at run time");
    Dims wide = m;
    wide.resize(n.shape(x).size(), 1);
    return n.one(n.choose(n.cast(n.reshape(list.mask, wide), kBool), n.reshape(values, {}), x));
  }
  const IndexPlan p = plan_of(n, list);
  if (p.indexed.empty()) return n.one(n.broadcast(values, n.shape(x)));
  // Values have the shape that reading would give.
  Dims rest_shape, update = p.shape;
  for (const int64_t d : p.rest) rest_shape.push_back(n.shape(x)[static_cast<size_t>(d)]);
  update.insert(update.end(), rest_shape.begin(), rest_shape.end());
  const auto k = static_cast<int64_t>(p.shape.size());
  const int64_t before = p.together ? p.indexed[0] : 0;
  Dims read(rest_shape.begin(), rest_shape.begin() + before);
  read.insert(read.end(), p.shape.begin(), p.shape.end());
  read.insert(read.end(), rest_shape.begin() + before, rest_shape.end());
  values = n.broadcast(values, read);
  if (before > 0) {
    Dims order;
    for (int64_t d = 0; d < k; ++d) order.push_back(before + d);
    for (int64_t d = 0; d < before; ++d) order.push_back(d);
    for (int64_t d = before + k; d < static_cast<int64_t>(read.size()); ++d) order.push_back(d);
    values = n.transpose(values, order);
  }
  const Dims order = indexed_first(p);
  Dims back(order.size());
  for (size_t d = 0; d < order.size(); ++d) back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
  // Negative indices count from the end.
  IndexPlan wrapped = p;
  for (size_t i = 0; i < wrapped.indices.size(); ++i) {
    const auto extent = static_cast<double>(n.shape(x)[static_cast<size_t>(p.indexed[i])]);
    wrapped.indices[i] = n.choose(n.with_scalar("less", p.indices[i], 0), n.with_scalar("add", p.indices[i], extent), p.indices[i]);
  }
  const int y = n.emit("scatter_nd", {n.transpose(x, order), index_rows(n, wrapped), values}, attrs({{"reduction", add ? "add" : "none"}}));
  return n.one(n.transpose(y, back));
}

TorchResults masked_select(TorchNode& n) {
  const HostArray* mask = n.constant_of(n.tensor("mask"));
  if (!mask) n.unsupported("a selection by a condition that is computed at run time: the shape of the result depends on it; torch.where keeps the shape");
  const int x = n.tensor("self");
  const Dims shape = common_shape(n, {x, n.tensor("mask")});
  const int whole = n.broadcast(n.tensor("mask"), shape);
  const HostArray* all = n.constant_of(whole);
  if (!all) n.unsupported("a condition of this size");
  Dims places;
  for (int64_t i = 0; i < all->num_elements(); ++i)
    if (all->get_int(i) != 0) places.push_back(i);
  return n.one(
      n.emit("gather", {n.reshape(n.broadcast(x, shape), {n.type(whole).num_elements()}), n.integers_constant(places)}, attrs({{"axis", int64_t{0}}})));
}
TorchResults nonzero(TorchNode& n) {
  const HostArray* x = n.constant_of(n.tensor("self"));
  if (!x) n.unsupported("positions in values that are computed at run time: the shape of the result depends on them");
  Dims places;
  int64_t count = 0;
  for (int64_t i = 0; i < x->num_elements(); ++i) {
    if (x->get(i) == 0) continue;
    ++count;
    const auto at = places.size();
    places.resize(at + x->shape.size());
    int64_t rest = i;
    for (size_t d = x->shape.size(); d-- > 0; rest /= x->shape[d]) places[at + d] = rest % x->shape[d];
  }
  return n.one(n.reshape(n.integers_constant(places), {count, static_cast<int64_t>(x->shape.size())}));
}

TorchResults one_hot(TorchNode& n) {
  const int x = n.tensor("self");
  const int64_t classes = n.integer("num_classes", -1);
  if (classes < 1) n.unsupported("a number of classes that depends on values: give num_classes");
  HostArray values = HostArray::make(kInt64, {2});
  values.set_int(1, 1);
  return n.one(n.emit("one_hot", {x, n.constant(std::move(values))}, attrs({{"axis", n.rank(x)}, {"depth", classes}})));
}

// ---- Whole values written

TorchResults copy(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(n.broadcast(n.cast(n.tensor("src"), n.dtype(x)), n.shape(x)));
}
TorchResults fill(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(n.broadcast(n.operand_in("value", n.dtype(x)), n.shape(x)));
}
TorchResults zero(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(n.filled(n.dtype(x), n.shape(x), 0));
}
/// A part replaced, everything else as it was.
TorchResults with_part(TorchNode& n, const ViewStep& step) {
  const int x = n.tensor("self");
  const int whole = n.importer().reference(x);
  const int part = n.importer().viewed(whole, step);
  const int shape = n.importer().read(part);
  n.importer().write(part, n.broadcast(n.reshape(n.cast(n.tensor("src"), n.dtype(x)), n.shape(shape)), n.shape(shape)));
  return {{.of = whole}};
}
TorchResults slice_scatter(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size())), extent = s[static_cast<size_t>(axis)], step = n.integer("step", 1);
  if (step < 1) n.invalid(fmt::format("a step of {}", step));
  const auto limited = [&](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + extent : p, 0, extent); };
  const int64_t from = limited(n.integer("start", 0)), to = limited(n.integer("end", extent));
  ViewStep part{ViewStep::Kind::slice, s, Dims(s.size(), 0), Dims(s.size(), 1)};
  part.shape[static_cast<size_t>(axis)] = to > from ? (to - from + step - 1) / step : 0;
  part.starts[static_cast<size_t>(axis)] = from;
  part.steps[static_cast<size_t>(axis)] = step;
  return with_part(n, part);
}
TorchResults select_scatter(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size()));
  ViewStep part{ViewStep::Kind::slice, s, Dims(s.size(), 0), Dims(s.size(), 1)};
  part.shape[static_cast<size_t>(axis)] = 1;
  part.starts[static_cast<size_t>(axis)] = n.axis(n.integer("index", 0), s[static_cast<size_t>(axis)]);
  return with_part(n, part);
}

constexpr AtenOp kAtenIndex[] = {
    {"aten.copy", copy},
    {"aten.embedding", embedding},
    {"aten._embedding_bag", embedding_bag},
    {"aten._embedding_bag_forward_only", embedding_bag},
    {"aten._unsafe_index", index},
    {"aten._unsafe_index_put", index_put},
    {"aten.argwhere", nonzero},
    {"aten.embedding_bag", embedding_bag},
    {"aten.fill", fill},
    {"aten.gather", gather},
    {"aten.index", index},
    {"aten.index_put", index_put},
    {"aten.index_select", index_select},
    {"aten.masked_select", masked_select},
    {"aten.nonzero", nonzero},
    {"aten.one_hot", one_hot},
    {"aten.scatter", scatter},
    {"aten.scatter_add", scatter_add},
    {"aten.scatter_reduce", scatter_reduce},
    {"aten.select_scatter", select_scatter},
    {"aten.slice_scatter", slice_scatter},
    {"aten.take_along_dim", take_along_dim},
    {"aten.zero", zero},
};

}  // namespace

std::span<const AtenOp> aten_index() { return kAtenIndex; }

}  // namespace tw::frontends
