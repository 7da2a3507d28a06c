// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/shared/sampling.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// Positions [batch, groups, taps, outputs...] that one dimension of a deformed window reads.
Term deformed(OnnxNode& n, const Term& offsets, const Dims& outputs, const Dims& kernel, size_t d, int64_t stride, int64_t dilation, int64_t pad) {
  Dims at{1, 1, 1}, along{1, 1, 1};
  for (size_t k = 0; k < outputs.size(); ++k) at.push_back(k == d ? outputs[k] : 1);
  int64_t taps = 1, inner = 1;
  for (size_t k = 0; k < kernel.size(); ++k) {
    taps *= kernel[k];
    if (k > d) inner *= kernel[k];
  }
  along[2] = taps;
  along.resize(3 + outputs.size(), 1);
  HostArray starts = HostArray::make(n.dtype(offsets.v), at), steps = HostArray::make(n.dtype(offsets.v), along);
  for (int64_t o = 0; o < outputs[d]; ++o) starts.set(o, static_cast<double>(o * stride - pad));
  for (int64_t t = 0; t < taps; ++t) steps.set(t, static_cast<double>(t / inner % kernel[d] * dilation));
  return offsets + Term{&n, n.constant(std::move(starts))} + Term{&n, n.constant(std::move(steps))};
}

/// The elements beside a position; outside of the data they do not count.
std::vector<Tap> neighbours(const Term& position, int64_t extent) {
  const Term low = position.clipped(-1, static_cast<double>(extent)).apply("floor"), share = position.clipped(-1, static_cast<double>(extent)) - low;
  const auto tap = [&](const Term& at, const Term& weight) {
    const Term inside = at.clipped(0, static_cast<double>(extent - 1));
    const Term counts{at.n, at.n->cast(inside.with("equal", at).v, at.n->dtype(weight.v))};
    return Tap{inside.integer(), weight * counts};
  };
  return {tap(low, (share * -1) + 1), tap(low + 1, share)};
}

/// A convolution whose taps are moved by offsets. Source: Dai et al., "Deformable convolutional networks", ICCV 2017; DeformConv-22.
Results deform_conv(OnnxNode& n) {
  const int x = n.in(0), w = n.in(1);
  const Dims xs = n.shape(x), ws = n.shape(w), os = n.shape(n.in(2));
  const size_t spatial = xs.size() < 3 ? 0 : xs.size() - 2;
  const int64_t groups = n.integer("group", 1), parts = n.integer("offset_group", 1);
  if (spatial < 1 || ws.size() != xs.size() || os.size() != xs.size() || groups < 1 || parts < 1 || xs[1] % groups != 0 || xs[1] % parts != 0 ||
      ws[0] % groups != 0 || ws[1] != xs[1] / groups)
    n.invalid(fmt::format("data {}, weight {} and offsets {} do not fit together", shape_text(xs), shape_text(ws), shape_text(os)));
  const Dims kernel(ws.begin() + 2, ws.end()), outputs(os.begin() + 2, os.end());
  const Dims strides = n.integers("strides", Dims(spatial, 1)), dilations = n.integers("dilations", Dims(spatial, 1)), pads = n.integers("pads", Dims(2 * spatial, 0));
  if (strides.size() != spatial || dilations.size() != spatial || pads.size() != 2 * spatial) n.invalid("strides, dilations and pads of other lengths than the kernel");
  int64_t taps = 1, points = 1;
  for (const int64_t k : kernel) taps *= k;
  for (const int64_t o : outputs) points *= o;
  const auto dims = static_cast<int64_t>(spatial);
  if (os[0] != xs[0] || os[1] != parts * taps * dims) n.invalid(fmt::format("expected {} offsets a position, found {}", parts * taps * dims, shape_text(os)));
  const int64_t batch = xs[0], channels = xs[1] / parts;
  Dims split{batch, parts, taps, dims};
  split.insert(split.end(), outputs.begin(), outputs.end());
  const int offsets = n.reshape(n.cast(n.in(2), n.dtype(x)), split);
  std::vector<std::vector<Tap>> found;
  for (size_t d = 0; d < spatial; ++d) {
    const Term own{&n, n.select(offsets, 3, static_cast<int64_t>(d))};
    found.push_back(neighbours(deformed(n, own, outputs, kernel, d, strides[d], dilations[d], pads[d]), xs[d + 2]));
  }
  // Offset groups are samples of their own: [batch * groups, spatial..., channels].
  Dims apart{batch * parts, channels};
  apart.insert(apart.end(), xs.begin() + 2, xs.end());
  const int data = channels_last(n, n.reshape(x, apart));
  std::optional<Term> sum;
  for (const std::vector<Tap>& c : combinations(found)) {
    std::vector<int> indices;
    Term weight = c[0].weight;
    for (const Tap& t : c) indices.push_back(n.reshape(t.index.v, {batch * parts, taps * points, 1}));
    for (size_t d = 1; d < c.size(); ++d) weight = weight * c[d].weight;
    const Term read{&n, n.emit("gather_nd", {data, n.concat(indices, 2)}, attrs({{"batch_dims", int64_t{1}}}))};
    const Term term = read * Term{&n, n.reshape(weight.v, {batch * parts, taps * points, 1})};
    sum = sum ? *sum + term : term;
  }
  if (n.has(4)) sum = *sum * Term{&n, n.reshape(n.cast(n.in(4), n.dtype(x)), {batch * parts, taps * points, 1})};
  // Columns [batch, groups, channels of a group * taps, points] times the weight.
  const int columns = n.transpose(n.reshape(sum->v, {batch, parts, taps, points, channels}), {0, 1, 4, 2, 3});
  const int product = n.binary("matmul", n.reshape(w, {groups, ws[0] / groups, ws[1] * taps}), n.reshape(columns, {batch, groups, ws[1] * taps, points}));
  Dims shape{batch, ws[0]};
  shape.insert(shape.end(), outputs.begin(), outputs.end());
  const int y = n.reshape(product, shape);
  if (!n.has(3)) return {y};
  Dims per_channel(xs.size(), 1);
  per_channel[1] = ws[0];
  return {n.binary("add", y, n.reshape(n.in(3), per_channel))};
}

/// How often each n-gram of a pool occurs in rows of numbers. Source: TfIdfVectorizer-9 in the ONNX operator reference.
Results tf_idf_vectorizer(OnnxNode& n) {
  if (n.has_attr("pool_strings")) n.unsupported("n-grams of texts");
  const Dims pool = n.integers("pool_int64s", {}), starts = n.integers("ngram_counts", {}), places = n.integers("ngram_indexes", {});
  const int64_t least = n.integer("min_gram_length", 1), most = n.integer("max_gram_length", 1), skips = n.integer("max_skip_count", 0);
  const std::string mode = n.text("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") n.invalid(fmt::format("expected mode 'TF', 'IDF' or 'TFIDF', found '{}'", printable(mode.substr(0, 64))));
  if (least < 1 || most < least || most > 64 || skips < 0 || skips > 1024 || places.empty()) n.invalid("lengths and skips of n-grams out of range");
  const std::vector<double> weights = n.reals("weights", std::vector<double>(places.size(), 1));
  if (weights.size() != places.size()) n.invalid(fmt::format("{} weights for {} n-grams", weights.size(), places.size()));
  const bool flat = n.rank(n.in(0)) == 1;
  int x = n.cast(n.in(0), kInt64);
  if (flat) x = n.reshape(x, {1, n.shape(x)[0]});
  if (n.rank(x) != 2) n.invalid(fmt::format("expected rows of numbers, found {}", shape_text(n.shape(x))));
  const int64_t rows = n.shape(x)[0], length = n.shape(x)[1];
  int64_t width = 0;
  for (const int64_t p : places) {
    if (p < 0 || p > 1 << 24) n.invalid(fmt::format("place {} in the result", p));
    width = std::max(width, p + 1);
  }
  std::optional<Term> total;
  size_t gram = 0;
  for (size_t k = 0; k < starts.size(); ++k) {
    const auto size = static_cast<int64_t>(k) + 1;
    const int64_t from = starts[k], to = k + 1 < starts.size() ? starts[k + 1] : static_cast<int64_t>(pool.size());
    if (from < 0 || to < from || to > static_cast<int64_t>(pool.size()) || (to - from) % size != 0) n.invalid("a pool whose counts do not fit it");
    const int64_t grams = (to - from) / size;
    if (gram + static_cast<size_t>(grams) > places.size()) n.invalid("more n-grams than places in the result");
    if (grams == 0 || size < least || size > most) {
      gram += static_cast<size_t>(grams);
      continue;
    }
    HostArray wanted = HostArray::make(kInt64, {1, grams, 1, size}), place = HostArray::make(kFloat32, {grams, width});
    for (int64_t i = 0; i < grams * size; ++i) wanted.set_int(i, pool[static_cast<size_t>(from + i)]);
    for (int64_t g = 0; g < grams; ++g, ++gram) place.set(g * width + places[gram], mode == "TF" ? 1 : weights[gram]);
    const int all = n.constant(std::move(wanted)), where = n.constant(std::move(place));
    std::optional<Term> counts;
    for (int64_t skip = 0; skip <= (size == 1 ? 0 : skips); ++skip) {
      const int64_t positions = length - (size - 1) * (skip + 1);
      if (positions < 1) break;
      Dims table;
      for (int64_t p = 0; p < positions; ++p)
        for (int64_t i = 0; i < size; ++i) table.push_back(p + i * (skip + 1));
      const int windows = n.reshape(n.emit("gather", {x, n.integers_constant(table)}, attrs({{"axis", int64_t{1}}})), {rows, 1, positions, size});
      const int equal = n.reduce("reduce_min", n.cast(n.binary("equal", windows, all), kFloat32), {3}, false);
      const Term found{&n, n.reduce("reduce_sum", equal, {2}, false)};
      counts = counts ? *counts + found : found;
    }
    if (!counts) continue;
    if (mode == "IDF") counts = Term{&n, n.cast(counts->with("greater", 0).v, kFloat32)};
    const Term spread{&n, n.binary("matmul", counts->v, where)};
    total = total ? *total + spread : spread;
  }
  const int y = total ? total->v : n.filled(kFloat32, {rows, width}, 0);
  return {flat ? n.reshape(y, {width}) : y};
}

constexpr OnnxOp kDeformOps[] = {{"DeformConv", deform_conv}, {"TfIdfVectorizer", tf_idf_vectorizer}};

}  // namespace

std::span<const OnnxOp> onnx_ops_deform() { return kDeformOps; }

}  // namespace tw::frontends
