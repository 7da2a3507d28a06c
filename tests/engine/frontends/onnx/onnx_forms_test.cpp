// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"
#include "tests/engine/frontends/onnx/run_model.h"

using namespace tw;
using namespace onnx_test;

/// Operators in forms that nothing else runs, against loops, and what lies on both sides of the borders of their attributes.
class OnnxFormsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void clip_by_opset();
  void n_grams();
  void ranges_of_attributes();
  void deformed_convolutions();
  void rotary_positions();
  void updates_of_a_cache();
  void quantised_convolution_with_a_bias();
  void rms_normalisation();
  void both_directions_of_an_lstm();
  void past_keys_in_a_longer_memory();
  void nodes_in_any_order();
  void tensors_without_their_zeros();
};

/// Limits are attributes up to opset 10 and operands from 11 on.
void OnnxFormsTest::clip_by_opset() {
  for (const int64_t opset : {6, 10, 11, 12, 13}) {
    onnx::ModelProto m = model(opset);
    input(m, "x", {4});
    floats(m, "low", {}, {-1});
    floats(m, "high", {}, {2});
    onnx::NodeProto* n = opset < 11 ? node(m, "Clip", {"x"}, "y") : node(m, "Clip", {"x", "low", "high"}, "y");
    for (const auto& [name, v] : {std::pair<const char*, float>{"min", -1}, {"max", 2}}) {
      if (opset >= 11) continue;
      onnx::AttributeProto* a = n->add_attribute();
      a->set_name(name);
      a->set_type(onnx::AttributeProto::FLOAT);
      a->set_f(v);
    }
    output(m, "y");
    compare(run(m, {{"x", array({4}, {-3, -0.5, 1, 9})}}), {4}, {-1, -0.5, 1, 2});
    const auto g = frontends::read_onnx_bytes(bytes(m), {});
    QCOMPARE(g->nodes.size(), size_t{1});  // limits that are known are a part of it
    QCOMPARE(g->nodes[0].op, std::string("clip"));
  }
}

/// Pairs of 1 1 2 1 2, beside each other and one apart, and single numbers.
void OnnxFormsTest::n_grams() {
  const auto counts = [](int64_t least, int64_t most, int64_t skips) {
    onnx::ModelProto m = model();
    input(m, "x", {5}, onnx::TensorProto::INT64);
    onnx::NodeProto* n = node(m, "TfIdfVectorizer", {"x"}, "y");
    integers(n, "pool_int64s", {1, 2, 1, 2, 2, 2});  // 1; 2; 1 2; 2 2
    integers(n, "ngram_counts", {0, 2});
    integers(n, "ngram_indexes", {3, 0, 1, 2});
    integer(n, "min_gram_length", least);
    integer(n, "max_gram_length", most);
    integer(n, "max_skip_count", skips);
    text(n, "mode", "TF");
    output(m, "y");
    return m;
  };
  HostArray x = HostArray::make(kInt64, {5});
  for (const auto& [i, v] : {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {2, 2}, {3, 1}, {4, 2}}) x.set_int(i, v);
  const std::map<std::string, HostArray> inputs{{"x", x}};
  compare(run(counts(1, 1, 0), inputs), {4}, {2, 0, 0, 3});
  compare(run(counts(1, 2, 0), inputs), {4}, {2, 2, 0, 3});
  compare(run(counts(2, 2, 0), inputs), {4}, {0, 2, 0, 0});
  compare(run(counts(2, 64, 1), inputs), {4}, {0, 3, 1, 0});
  compare(run(counts(2, 2, 1024), inputs), {4}, {0, 5, 1, 0});
  for (const auto& [least, most, skips] : {std::tuple<int64_t, int64_t, int64_t>{0, 1, 0}, {2, 1, 0}, {1, 65, 0}, {1, 1, -1}, {1, 1, 1025}}) {
    const auto g = frontends::read_onnx_bytes(bytes(counts(least, most, skips)), {});
    QVERIFY(!g);
    QVERIFY2(g.error().text().find("lengths and skips of n-grams out of range") != std::string::npos, g.error().text().c_str());
  }
}

/// Both ends of what is taken, and what lies next to them.
void OnnxFormsTest::ranges_of_attributes() {
  const auto parts = [](int64_t n, int64_t opset) {
    onnx::ModelProto m = model(opset);
    input(m, "x", {3});
    onnx::NodeProto* split = node(m, "Split", {"x"}, "y");
    for (int64_t k = 1; k < n; ++k) split->add_output("more" + std::to_string(k));
    if (opset >= 18) integer(split, "num_outputs", n);
    output(m, "y");
    return m;
  };
  const auto regions = [](int64_t ratio, int64_t rows, int64_t columns) {
    onnx::ModelProto m = model(16);
    input(m, "x", {1, 1, 4, 4});
    floats(m, "rois", {1, 4}, {0, 0, 4, 4});
    longs(m, "batch", {0});
    onnx::NodeProto* n = node(m, "RoiAlign", {"x", "rois", "batch"}, "y");
    integer(n, "sampling_ratio", ratio);
    integer(n, "output_height", rows);
    integer(n, "output_width", columns);
    output(m, "y");
    return m;
  };
  const auto transform = [](int64_t points, bool half) {
    onnx::ModelProto m = model(17);
    input(m, "x", {1, 3, 2});
    longs(m, "points", {points})->clear_dims();
    onnx::NodeProto* n = node(m, "DFT", {"x", "points"}, "y");
    integer(n, "inverse", half);
    integer(n, "onesided", half);
    output(m, "y");
    return m;
  };
  const auto shape = [](const onnx::ModelProto& m) {
    const auto g = frontends::read_onnx_bytes(bytes(m), {});
    if (!g) qWarning("%s", g.error().text().c_str());
    return g ? g->values[static_cast<size_t>(g->outputs[0])].type.shape : Dims{-1};
  };
  const auto refused = [](const onnx::ModelProto& m, const char* part) {
    const auto g = frontends::read_onnx_bytes(bytes(m), {});
    QVERIFY(!g);
    QVERIFY2(g.error().text().find(part) != std::string::npos, g.error().text().c_str());
  };
  QCOMPARE(shape(parts(1, 13)), (Dims{3}));
  QCOMPARE(shape(parts(3, 13)), (Dims{1}));
  QCOMPARE(shape(parts(3, 18)), (Dims{1}));
  QCOMPARE(shape(parts(2, 18)), (Dims{2}));
  refused(parts(2, 13), "3 elements do not split into 2 equal parts");
  refused(parts(4, 18), "3 elements do not split into 4 parts");
  QCOMPARE(shape(regions(1, 1, 1)), (Dims{1, 1, 1, 1}));
  QCOMPARE(shape(regions(1, 1024, 1)), (Dims{1, 1, 1024, 1}));
  QCOMPARE(shape(regions(1, 2, 3)), (Dims{1, 1, 2, 3}));
  for (const auto& [ratio, rows, columns] : {std::tuple<int64_t, int64_t, int64_t>{-1, 1, 1}, {1025, 1, 1}, {1, 0, 1}, {1, 1025, 1}, {1, 1, 0}, {1, 1, 1025}})
    refused(regions(ratio, rows, columns), "from 1 to 1024");
  for (const bool half : {false, true}) {
    for (const int64_t points : {1, 4, 4096}) QCOMPARE(shape(transform(points, half)), (Dims{1, points, half ? 1 : 2}));
    for (const int64_t points : {0, 4097}) refused(transform(points, half), "points (1 to 4096 are supported)");
  }
}

/// Taps that are moved by offsets, with shares of the four elements around them, in two groups of offsets: against plain loops.
void OnnxFormsTest::deformed_convolutions() {
  Rng rng(5);
  const auto random = [&](const Dims& shape, double scale) {
    HostArray a = HostArray::make(kFloat32, shape);
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, scale * rng.normal());
    return a;
  };
  const HostArray x = random({1, 4, 5, 6}, 1), w = random({3, 4, 3, 2}, 1), offsets = random({1, 2 * 6 * 2, 3, 3}, 1.5), bias = random({3}, 1);
  onnx::ModelProto m = model(19);
  input(m, "x", x.shape);
  input(m, "w", w.shape);
  input(m, "offsets", offsets.shape);
  input(m, "bias", bias.shape);
  onnx::NodeProto* n = node(m, "DeformConv", {"x", "w", "offsets", "bias"}, "y");
  integers(n, "pads", {1, 0, 1, 1});
  integers(n, "strides", {2, 2});
  integer(n, "offset_group", 2);
  output(m, "y");
  const auto element = [&](int64_t c, int64_t row, int64_t column) { return row < 0 || row > 4 || column < 0 || column > 5 ? 0.0 : x.get((c * 5 + row) * 6 + column); };
  const auto between = [&](int64_t c, double row, double column) {
    const double r = std::floor(row), k = std::floor(column), dr = row - r, dk = column - k;
    const auto i = static_cast<int64_t>(r), j = static_cast<int64_t>(k);
    return (1 - dr) * ((1 - dk) * element(c, i, j) + dk * element(c, i, j + 1)) + dr * ((1 - dk) * element(c, i + 1, j) + dk * element(c, i + 1, j + 1));
  };
  std::vector<double> want;
  for (int64_t o = 0; o < 3; ++o)
    for (int64_t p = 0; p < 9; ++p) {
      double sum = bias.get(o);
      for (int64_t c = 0; c < 4; ++c)
        for (int64_t t = 0; t < 6; ++t) {
          const int64_t place = (c / 2 * 6 + t) * 2;
          sum += w.get((o * 4 + c) * 6 + t) * between(c, static_cast<double>(p / 3 * 2 - 1 + t / 2) + offsets.get(place * 9 + p), static_cast<double>(p % 3 * 2 + t % 2) + offsets.get((place + 1) * 9 + p));
        }
      want.push_back(sum);
    }
  compare(run(m, {{"x", x}, {"w", w}, {"offsets", offsets}, {"bias", bias}}), {1, 3, 3, 3}, want);
  n->mutable_input()->RemoveLast();
  integer(n, "group", 1);
  n->mutable_attribute(2)->set_i(4);  // offset_group
  const auto g = frontends::read_onnx_bytes(bytes(m), {});
  QVERIFY(!g);
  QVERIFY2(g.error().text().find("expected 48 offsets a position, found [1, 24, 3, 3]") != std::string::npos, g.error().text().c_str());
}

/// Pairs of elements beside each other, or half a head apart, turned by the angle of their position; what is left of a head stays.
void OnnxFormsTest::rotary_positions() {
  const HostArray x = counting({1, 2, 3, 6});
  HostArray cosines = HostArray::make(kFloat32, {1, 3, 2}), sines = HostArray::make(kFloat32, {1, 3, 2});
  for (int64_t i = 0; i < 6; ++i) {
    cosines.set(i, std::cos(0.3 * static_cast<double>(i + 1)));
    sines.set(i, std::sin(0.3 * static_cast<double>(i + 1)));
  }
  for (const int64_t interleaved : {0, 1}) {
    onnx::ModelProto m = model(23);
    input(m, "x", x.shape);
    input(m, "cos", {1, 3, 2});
    input(m, "sin", {1, 3, 2});
    onnx::NodeProto* n = node(m, "RotaryEmbedding", {"x", "cos", "sin"}, "y");
    integer(n, "interleaved", interleaved);
    integer(n, "rotary_embedding_dim", 4);
    output(m, "y");
    std::vector<double> want;
    for (int64_t i = 0; i < x.num_elements(); ++i) want.push_back(x.get(i));
    for (int64_t row = 0; row < 6; ++row)
      for (int64_t k = 0; k < 2; ++k) {
        const int64_t first = row * 6 + (interleaved ? 2 * k : k), second = first + (interleaved ? 1 : 2), angle = row % 3 * 2 + k;
        want[static_cast<size_t>(first)] = cosines.get(angle) * x.get(first) - sines.get(angle) * x.get(second);
        want[static_cast<size_t>(second)] = sines.get(angle) * x.get(first) + cosines.get(angle) * x.get(second);
      }
    const HostArray got = run(m, {{"x", x}, {"cos", cosines}, {"sin", sines}});
    QCOMPARE(got.shape, x.shape);
    for (size_t i = 0; i < want.size(); ++i) QVERIFY(std::abs(got.get(static_cast<int64_t>(i)) - want[i]) < 1e-4);
  }
}

/// Two samples with an index each; in a ring what goes past the end begins again.
void OnnxFormsTest::updates_of_a_cache() {
  const auto written = [](const char* mode, std::vector<int64_t> at) {
    onnx::ModelProto m = model(24);
    input(m, "cache", {2, 4, 1});
    input(m, "update", {2, 2, 1});
    longs(m, "at", at);
    text(node(m, "TensorScatter", {"cache", "update", "at"}, "y"), "mode", mode);
    output(m, "y");
    return run(m, {{"cache", counting({2, 4, 1})}, {"update", array({2, 2, 1}, {10, 20, 30, 40})}});
  };
  compare(written("linear", {1, 2}), {2, 4, 1}, {1, 10, 20, 4, 5, 6, 30, 40});
  compare(written("linear", {0, 1}), {2, 4, 1}, {10, 20, 3, 4, 5, 30, 40, 8});
  compare(written("circular", {3, 1}), {2, 4, 1}, {20, 2, 3, 10, 5, 30, 40, 8});
}

void OnnxFormsTest::quantised_convolution_with_a_bias() {
  onnx::ModelProto m = model(13);
  const auto bytes_of = [&](const char* name, const Dims& shape, const std::string& raw, int type) {
    onnx::TensorProto* t = m.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(type);
    for (const int64_t d : shape) t->add_dims(d);
    t->set_raw_data(raw);
  };
  input(m, "x", {1, 1, 1, 3}, onnx::TensorProto::UINT8);
  for (const auto& [name, v] : {std::pair<const char*, float>{"xs", 0.5F}, {"ws", 0.5F}, {"ys", 0.25F}}) floats(m, name, {}, {v});
  bytes_of("xz", {}, std::string(1, 2), onnx::TensorProto::UINT8);
  bytes_of("w", {1, 1, 1, 2}, std::string("\x03\x04", 2), onnx::TensorProto::UINT8);
  bytes_of("wz", {}, std::string(1, 1), onnx::TensorProto::UINT8);
  bytes_of("yz", {}, std::string(1, 7), onnx::TensorProto::UINT8);
  bytes_of("bias", {1}, std::string("\x05\0\0\0", 4), onnx::TensorProto::INT32);
  node(m, "QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "bias"}, "y");
  output(m, "y");
  HostArray x = HostArray::make(kUInt8, {1, 1, 1, 3});
  for (int64_t i = 0; i < 3; ++i) x.set_int(i, 4 + i);
  // (2 a + 3 b + 5) * 0.5 * 0.5 / 0.25 + 7 for a, b = 2, 3 and 3, 4.
  compare(run(m, {{"x", x}}), {1, 1, 1, 2}, {2 * 2 + 3 * 3 + 5 + 7, 2 * 3 + 3 * 4 + 5 + 7});
}

/// 3 and 4 have a mean square of 12.5; the scale may have another type than the data.
void OnnxFormsTest::rms_normalisation() {
  for (const int type : {onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE}) {
    onnx::ModelProto m = model(23);
    input(m, "x", {1, 2});
    input(m, "scale", {2}, type);
    node(m, "RMSNormalization", {"x", "scale"}, "y");
    output(m, "y");
    HostArray scale = HostArray::make(type == onnx::TensorProto::FLOAT ? kFloat32 : kFloat64, {2});
    scale.set(0, 2);
    scale.set(1, 10);
    const double root = std::sqrt(12.5 + 1e-5);
    compare(run(m, {{"x", array({1, 2}, {3, 4})}, {"scale", scale}}), {1, 2}, {6 / root, 40 / root});
  }
}

/// Each direction has activations of its own, by default the same.
void OnnxFormsTest::both_directions_of_an_lstm() {
  for (const bool named : {false, true}) {
    onnx::ModelProto m = model(14);
    input(m, "x", {1, 1, 1});
    floats(m, "w", {2, 4, 1}, {1, 2, 3, 4, -1, -2, -3, 4});  // gates i, o, f, c
    floats(m, "r", {2, 4, 1}, {1, 1, 1, 1, 1, 1, 1, 1});
    onnx::NodeProto* n = node(m, "LSTM", {"x", "w", "r"}, "y");
    text(n, "direction", "bidirectional");
    integer(n, "hidden_size", 1);
    if (named) {
      onnx::AttributeProto* a = n->add_attribute();
      a->set_name("activations");
      a->set_type(onnx::AttributeProto::STRINGS);
      for (const char* f : {"Sigmoid", "Tanh", "Relu", "Tanh", "Sigmoid", "Relu"}) a->add_strings(f);
    }
    output(m, "y");
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    const double x = 0.5;
    const auto state = [&](double i, double o, double c) { return named ? o * std::max(0.0, i * c) : o * std::tanh(i * c); };
    const double forward = state(sigmoid(x), sigmoid(2 * x), std::tanh(4 * x));
    const double back = named ? state(std::tanh(-x), std::tanh(-2 * x), sigmoid(4 * x)) : state(sigmoid(-x), sigmoid(-2 * x), std::tanh(4 * x));
    compare(run(m, {{"x", array({1, 1, 1}, {x})}}), {1, 2, 1, 1}, {forward, back});
  }
}

/// Two samples with 3 and 1 keys before the new one, in a memory for 5 (what ONNX Runtime leaves behind them is not defined, so it gives no case).
void OnnxFormsTest::past_keys_in_a_longer_memory() {
  const auto made = [](const char* wanted) {
    onnx::ModelProto m = model(17);
    onnx::OperatorSetIdProto* runtime = m.add_opset_import();
    runtime->set_domain("com.microsoft");
    runtime->set_version(1);
    input(m, "q", {2, 1, 2});
    input(m, "k", {2, 1, 1});
    input(m, "v", {2, 1, 1});
    input(m, "past_k", {2, 1, 5, 1});
    input(m, "past_v", {2, 1, 5, 1});
    input(m, "before", {2}, onnx::TensorProto::INT32);
    onnx::TensorProto* total = m.mutable_graph()->add_initializer();
    total->set_name("total");
    total->set_data_type(onnx::TensorProto::INT32);
    total->add_int32_data(4);
    onnx::NodeProto* n = node(m, "GroupQueryAttention", {"q", "k", "v", "past_k", "past_v", "before", "total"}, "y");
    n->set_domain("com.microsoft");
    n->add_output("keys");
    n->add_output("values");
    integer(n, "num_heads", 2);
    integer(n, "kv_num_heads", 1);
    output(m, wanted);
    return m;
  };
  HostArray before = HostArray::make(kInt32, {2});
  before.set_int(0, 3), before.set_int(1, 1);
  const std::map<std::string, HostArray> inputs{{"q", array({2, 1, 2}, {1, 0, 0.5, -1})},         {"k", array({2, 1, 1}, {0.5, 2})},
                                                {"v", array({2, 1, 1}, {7, 9})},                  {"past_k", array({2, 1, 5, 1}, {1, -1, 0.25, 90, 91, 0.75, 92, 93, 94, 95})},
                                                {"past_v", array({2, 1, 5, 1}, {3, 4, 5, 80, 81, 6, 82, 83, 84, 85})}, {"before", before}};
  compare(run(made("keys"), inputs), {2, 1, 5, 1}, {1, -1, 0.25, 0.5, 91, 0.75, 2, 93, 94, 95});
  compare(run(made("values"), inputs), {2, 1, 5, 1}, {3, 4, 5, 7, 81, 6, 9, 83, 84, 85});
  const auto mean = [](double q, const std::vector<double>& keys, const std::vector<double>& values) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i < keys.size(); ++i) sum += std::exp(q * keys[i]) * values[i], weights += std::exp(q * keys[i]);
    return sum / weights;
  };
  const std::vector<double> k0{1, -1, 0.25, 0.5}, v0{3, 4, 5, 7}, k1{0.75, 2}, v1{6, 9};
  compare(run(made("y"), inputs), {2, 1, 2}, {mean(1, k0, v0), mean(0, k0, v0), mean(0.5, k1, v1), mean(-1, k1, v1)});
}

/// Nodes that stand before those whose results they read, themselves or in a branch.
void OnnxFormsTest::nodes_in_any_order() {
  const auto made = [](const std::vector<int>& order) {
    onnx::ModelProto all = model();
    node(all, "Neg", {"x"}, "a");
    node(all, "Add", {"a", "x2"}, "b");
    onnx::NodeProto* branch = node(all, "If", {"known"}, "c");
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto* a = branch->add_attribute();
      a->set_name(name);
      a->set_type(onnx::AttributeProto::GRAPH);
      node(*a->mutable_g(), "Mul", {"b", "a"}, name);
      a->mutable_g()->add_output()->set_name(name);
    }
    node(all, "Sub", {"c", "a"}, "y");
    onnx::ModelProto m = model();
    input(m, "x", {2});
    input(m, "x2", {2});
    onnx::TensorProto* known = m.mutable_graph()->add_initializer();
    known->set_name("known");
    known->set_data_type(onnx::TensorProto::BOOL);
    known->add_int32_data(1);
    for (const int i : order) *m.mutable_graph()->add_node() = all.graph().node(i);
    output(m, "y");
    return m;
  };
  const std::map<std::string, HostArray> inputs{{"x", array({2}, {1, 2})}, {"x2", array({2}, {3, 5})}};
  for (const std::vector<int>& order : {std::vector{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}}) compare(run(made(order), inputs), {2}, {-1, -4});  // -x (x2 - x) + x
  onnx::ModelProto circle = made({3, 2, 1, 0});
  circle.mutable_graph()->mutable_node(3)->set_input(0, "y");
  const auto g = frontends::read_onnx_bytes(bytes(circle), {});
  QVERIFY(!g);
  QVERIFY2(g.error().text().find("is not defined before it") != std::string::npos, g.error().text().c_str());
}

/// Initialisers and constants as values and their places, by one number each or by one an axis.
void OnnxFormsTest::tensors_without_their_zeros() {
  const auto fill = [](onnx::SparseTensorProto* t, const std::vector<int64_t>& places, bool by_axis) {
    for (const int64_t d : {2, 3}) t->add_dims(d);
    t->mutable_values()->set_name("w");
    t->mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
    t->mutable_values()->add_dims(2);
    for (const float v : {7.0f, -2.0f}) t->mutable_values()->add_float_data(v);
    t->mutable_indices()->set_data_type(onnx::TensorProto::INT64);
    t->mutable_indices()->add_dims(2);
    if (by_axis) t->mutable_indices()->add_dims(2);
    for (const int64_t p : places) t->mutable_indices()->add_int64_data(p);
  };
  const auto made = [&](const std::vector<int64_t>& places, bool by_axis, bool constant) {
    onnx::ModelProto m = model();
    input(m, "x", {3});
    if (constant) {
      onnx::AttributeProto* a = node(m, "Constant", {}, "w")->add_attribute();
      a->set_name("sparse_value");
      a->set_type(onnx::AttributeProto::SPARSE_TENSOR);
      fill(a->mutable_sparse_tensor(), places, by_axis);
    } else {
      fill(m.mutable_graph()->add_sparse_initializer(), places, by_axis);
    }
    node(m, "Add", {"w", "x"}, "y");
    output(m, "y");
    return m;
  };
  for (const bool constant : {false, true}) {
    compare(run(made({1, 5}, false, constant), {{"x", array({3}, {1, 2, 3})}}), {2, 3}, {1, 9, 3, 1, 2, 1});
    compare(run(made({0, 1, 1, 2}, true, constant), {{"x", array({3}, {1, 2, 3})}}), {2, 3}, {1, 9, 3, 1, 2, 1});
  }
  for (const auto& [places, by_axis] : {std::pair<std::vector<int64_t>, bool>{{1, 6}, false}, {{-1, 2}, false}, {{0, 1, 2, 0}, true}, {{0, 3, 1, 0}, true}}) {
    const auto g = frontends::read_onnx_bytes(bytes(made(places, by_axis, false)), {});
    QVERIFY(!g);
    QVERIFY2(g.error().text().find("Expected places inside [2, 3]") != std::string::npos, g.error().text().c_str());
  }
}

QTEST_APPLESS_MAIN(OnnxFormsTest)
#include "onnx_forms_test.moc"
