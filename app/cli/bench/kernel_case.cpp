// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/kernel_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/frontends/frontend.h"

namespace tw::cli::bench {
namespace {

using Dims = std::vector<int64_t>;

int64_t product(const Dims& shape) { return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()); }

bool all_equal(const Dims& v) { return std::adjacent_find(v.begin(), v.end(), std::not_equal_to<>()) == v.end(); }

/// The shapes of bert_base with 128 tokens: projections, the two layers of the feed-forward part, the pooler, both products of attention.
std::vector<KernelCase> products() {
  std::vector<KernelCase> cases;
  for (const int64_t n : {256, 512, 1024, 2048}) cases.push_back(dense_case(n, n, n));
  cases.push_back(dense_case(128, 768, 768));
  cases.push_back(dense_case(128, 3072, 768));
  cases.push_back(dense_case(128, 768, 3072));
  cases.push_back(dense_case(1, 768, 768));
  cases.push_back(batch_matmul_case(12, 128, 128, 64));
  cases.push_back(batch_matmul_case(12, 128, 64, 128));
  return cases;
}

std::vector<KernelCase> large_products() {
  std::vector<KernelCase> cases;
  for (const DType type : {kFloat32, kFloat16})
    for (const int64_t n : {1024, 2048, 4096}) cases.push_back(dense_case(n, n, n, type));
  return cases;
}

Expected<void> add_convolutions(const std::string& network, std::vector<KernelCase>& cases) {
  const auto models = frontends::zoo();
  const auto model = std::find_if(models.begin(), models.end(), [&](const frontends::ZooModel& m) { return network == m.name; });
  TW_ASSERT(model != models.end(), "the suite names bundled networks");
  TW_TRY(const frontends::OnnxModel written, model->build({}));
  TW_TRY(const graph::Graph g, frontends::read_onnx_bytes(written.bytes(), {}));
  std::set<std::string> known;
  for (const KernelCase& c : cases) known.insert(c.name);
  for (const graph::Node& n : g.nodes) {
    if (n.op != "conv2d") continue;
    const Dims &x = g.values[static_cast<size_t>(n.inputs[0])].type.shape, &w = g.values[static_cast<size_t>(n.inputs[1])].type.shape;
    const Dims strides = n.attrs.integers("strides", {1, 1}), pads = n.attrs.integers("pads", {0, 0, 0, 0}), dilations = n.attrs.integers("dilations", {1, 1});
    if (x[0] != 1 || x[2] != x[3] || w[2] != w[3] || !all_equal(strides) || !all_equal(pads) || dilations != Dims{1, 1})
      return Error(ErrorCode::unsupported, fmt::format("Expected square convolutions, found '{}' of {}", n.name, network));
    KernelCase c = conv2d_case(x[1], x[2], w[0], w[2], strides[0], pads[0], n.attrs.integer("groups", 1));
    if (known.insert(c.name).second) cases.push_back(std::move(c));
  }
  return {};
}

/// 1x1, 3x3, strided and depthwise convolutions of small images between channel counts that fit no vectors, and between the next multiples of kWholeVectors, which each
/// is compared with.
std::vector<KernelCase> channel_sweep() {
  constexpr int64_t kChannels[] = {3, 8, 20, 24, 29, 40, 58, 72, 116, 120, 255, 464, 672}, kWholeVectors = 16, kSize = 28;
  struct Window {
    int64_t kernel, stride;
  };
  std::vector<KernelCase> cases;
  std::set<std::string> known;
  const auto add = [&](const auto& of, int64_t channels, int64_t filters) {
    const auto whole = [](int64_t n) { return (n + kWholeVectors - 1) / kWholeVectors * kWholeVectors; };
    KernelCase c = of(channels, filters), next = of(whole(channels), whole(filters));
    if (c.name != next.name) c.beside = next.name;
    for (KernelCase* k : {&next, &c})
      if (known.insert(k->name).second) cases.push_back(std::move(*k));
  };
  for (const int64_t channels : kChannels) {
    for (const Window w : {Window{1, 1}, Window{3, 1}, Window{3, 2}})
      for (const int64_t filters : kChannels)
        add([&](int64_t c, int64_t f) { return conv2d_case(c, kSize, f, w.kernel, w.stride, w.kernel / 2, 1); }, channels, filters);
    add([&](int64_t c, int64_t) { return conv2d_case(c, kSize, c, 3, 1, 1, c); }, channels, channels);
  }
  return cases;
}

/// Narrow groups, gaps in windows, late layers of few pixels, small matrices, short rows, products of as few rows as a language model decodes, and products whose
/// columns fit no vectors.
std::vector<KernelCase> shape_sweep() {
  std::vector<KernelCase> cases;
  for (const int64_t width : {4, 8, 16, 24})
    for (const int64_t stride : {1, 2}) cases.push_back(conv2d_case(12 * width, 28, 12 * width, 3, stride, 1, 12));
  for (const int64_t dilation : {2, 6, 12, 24}) cases.push_back(conv2d_case(128, 28, 128, 3, 1, dilation, 1, dilation));
  cases.push_back(conv2d_case(96, 28, 96, 3, 1, 2, 96, 2));
  for (const int64_t kernel : {5, 7}) {
    cases.push_back(conv2d_case(96, 56, 96, kernel, 1, kernel / 2, 96));
    cases.push_back(conv2d_case(64, 28, 96, kernel, 1, kernel / 2, 1));
  }
  for (const int64_t kernel : {1, 3}) {
    cases.push_back(conv2d_case(512, 7, 512, kernel, 1, kernel / 2, 1));
    cases.push_back(conv2d_case(512, 14, 512, kernel, 2, kernel / 2, 1));
    cases.push_back(conv2d_case(512, 4, 512, kernel, 1, kernel / 2, 1));
  }
  cases.push_back(conv2d_case(576, 1, 144, 1, 1, 0, 1));
  cases.push_back(conv2d_case(3, 224, 96, 4, 4, 0, 1));
  cases.push_back(conv2d_case(3, 224, 768, 16, 16, 0, 1));
  for (const int64_t m : {1, 2, 4, 8, 16})
    for (const int64_t n : {1024, 4096}) cases.push_back(dense_case(m, n, 4096));
  cases.push_back(dense_case(1, 1000, 2048));
  for (const int64_t m : {1, 16, 128})
    for (const int64_t n : {10, 30, 100, 200, 1000}) cases.push_back(dense_case(m, n, 512));
  cases.push_back(dense_case(50, 768, 3072));
  cases.push_back(dense_case(197, 768, 3072));
  for (const int64_t n : {17, 49, 64}) {
    cases.push_back(batch_matmul_case(192, n, n, 32));
    cases.push_back(batch_matmul_case(192, n, 32, n));
  }
  cases.push_back(batch_matmul_case(12, 1, 128, 64));
  cases.push_back(batch_matmul_case(12, 1, 64, 128));
  for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{65536, 7}, {9408, 49}, {2364, 197}, {1536, 128}, {64, 1000}, {1, 50257}}) cases.push_back(softmax_case(rows, n));
  return cases;
}

HostArray random_array(const Dims& shape, DType type, double scale, Rng& rng) {
  HostArray a = HostArray::make(type, shape);
  if (type != kFloat32) {
    for (int64_t i = 0, n = a.num_elements(); i < n; ++i) a.set(i, scale * (2 * rng.uniform_real() - 1));
    return a;
  }
  auto* p = reinterpret_cast<float*>(a.data.data());
  for (int64_t i = 0, n = a.num_elements(); i < n; ++i) p[i] = static_cast<float>(scale * (2 * rng.uniform_real() - 1));
  return a;
}

}  // namespace

KernelCase dense_case(int64_t m, int64_t n, int64_t k, DType type) {
  KernelCase c{fmt::format("dense {}x{}x{}{}", m, n, k, type == kFloat32 ? "" : " " + type.name()), Kind::dense, {m, k}, {n, k}, {m, n}};
  c.type = type;
  c.flops = 2.0 * static_cast<double>(m * n * k);
  return c;
}

KernelCase batch_matmul_case(int64_t batch, int64_t m, int64_t n, int64_t k) {
  KernelCase c{fmt::format("batch_matmul {}x{}x{}x{}", batch, m, n, k), Kind::batch_matmul, {batch, m, k}, {batch, k, n}, {batch, m, n}};
  c.flops = 2.0 * static_cast<double>(batch * m * n * k);
  return c;
}

KernelCase conv2d_case(int64_t channels, int64_t size, int64_t filters, int64_t kernel, int64_t stride, int64_t pad, int64_t groups, int64_t dilation) {
  const int64_t out = (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  const std::string what = groups == 1          ? fmt::format("{} to {}", channels, filters)
                           : groups == channels ? fmt::format("{} depthwise", channels)
                                                : fmt::format("{} to {} in {} groups", channels, filters, groups);
  KernelCase c{fmt::format("conv2d {}, {}x{}, {}x{} by {}{}", what, size, size, kernel, kernel, stride, dilation > 1 ? fmt::format(", dilated by {}", dilation) : ""),
               Kind::conv2d,
               {1, channels, size, size},
               {filters, channels / groups, kernel, kernel},
               {1, filters, out, out},
               stride,
               pad,
               groups,
               dilation};
  c.flops = 2.0 * static_cast<double>(product(c.weight) * out * out);
  return c;
}

KernelCase softmax_case(int64_t rows, int64_t n) {
  KernelCase c{fmt::format("softmax {}x{}", rows, n), Kind::softmax, {rows, n}, {}, {rows, n}};
  c.flops = 5.0 * static_cast<double>(rows * n);  // as te::flops counts: the largest, a difference, an exponential, a sum, a quotient
  return c;
}

Expected<std::vector<KernelCase>> suite_cases(const std::string& suite, bool gpu) {
  if (suite == "channels") return channel_sweep();
  if (suite == "shapes") return shape_sweep();
  std::vector<KernelCase> cases;
  if (suite != "conv") cases = gpu ? large_products() : products();
  if (suite != "dense") TW_CHECK(add_convolutions("resnet50", cases));
  if (suite != "dense" && !gpu) TW_CHECK(add_convolutions("mobilenet_v2", cases));
  return cases;
}

KernelData make_data(const KernelCase& c, uint64_t seed) {
  Rng rng(seed);
  const double sum_length = c.flops / 2 / static_cast<double>(product(c.result));
  KernelData d;
  d.data = random_array(c.data, c.type, 1, rng);
  if (c.kind == Kind::softmax) return d;
  d.weight = random_array(c.weight, c.type, 1 / std::sqrt(sum_length), rng);
  d.bias = random_array({c.bias_elements()}, c.type, 1, rng);
  return d;
}

Expected<void> add_case(graph::GraphBuilder& b, const KernelCase& c, const KernelData& data) {
  const int x = b.input(c.name + ".x", {c.type, c.data});
  if (c.kind == Kind::softmax) {
    graph::Attrs attrs;
    attrs.values["axis"] = int64_t{-1};
    TW_TRY(const auto y, b.node("softmax", {x}, attrs, c.name));
    b.output(y[0]);
    return {};
  }
  const int w = c.constant_weight() ? b.constant(c.name + ".w", data.weight) : b.input(c.name + ".w", {c.type, c.weight});
  if (c.kind != Kind::conv2d) {
    TW_TRY(const auto y, b.node(c.kind == Kind::dense ? "dense" : "matmul", {x, w}, {}, c.name));
    b.output(y[0]);
    return {};
  }
  graph::Attrs attrs;
  attrs.values["strides"] = Dims{c.stride, c.stride};
  attrs.values["pads"] = Dims(4, c.pad);
  attrs.values["groups"] = c.groups;
  attrs.values["dilations"] = Dims{c.dilation, c.dilation};
  TW_TRY(const auto y, b.node("conv2d", {x, w, b.constant(c.name + ".bias", data.bias)}, attrs, c.name));
  TW_TRY(const auto z, b.node("relu", {y[0]}, {}, c.name + ".relu"));
  b.output(z[0]);
  return {};
}

}  // namespace tw::cli::bench
