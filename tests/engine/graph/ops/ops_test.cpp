// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <array>
#include <cmath>
#include <set>

#include "engine/base/float_format.h"
#include "engine/base/rng.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/op.h"
#include "engine/graph/to_dag.h"

using namespace tw;
using graph::Attrs;
using graph::GraphBuilder;

/// The operator table: form of the expressions that templates match on, values against plain loops, refusal of what does not fit.
class OpsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rows_are_complete();
  void convolution_form_data();
  void convolution_form();
  void dense_form();
  void convolution_values_data();
  void convolution_values();
  void channels_last_agree_data();
  void channels_last_agree();
  void terms_name_every_dimension();
  void pools_pad_what_windows_reach();
  void transposed_convolution_values_data();
  void transposed_convolution_values();
  void reshape_keeps_plain_indices();
  void integer_division();
  void indices_stay_inside();
  void shifts_beyond_the_width();
  void logarithms_of_masked_rows();
  void padding_with_large_numbers();
  void casts_saturate();
  void running_products();
  void columns_add_up_data();
  void columns_add_up();
  void codes_and_numbers_data();
  void codes_and_numbers();
  void bits_of_other_types();
  void unfit_operands_are_refused();
};

namespace {

using Dims = std::vector<int64_t>;
using Values = std::map<std::string, graph::AttrValue>;

struct Operand {
  Dims shape;
  DType dtype = kFloat32;
};

Expected<graph::Graph> one(const std::string& op, const std::vector<Operand>& operands, const Values& attrs) {
  GraphBuilder b("g");
  std::vector<int> inputs;
  for (size_t k = 0; k < operands.size(); ++k) inputs.push_back(b.input("x" + std::to_string(k), {operands[k].dtype, operands[k].shape}));
  auto out = b.node(op, inputs, Attrs{attrs});
  if (!out) return out.error();
  b.output((*out)[0]);
  return std::move(b).finish();
}

HostArray filled(const Dims& shape, DType t, const std::vector<double>& v) {
  HostArray a = HostArray::make(t, shape);
  for (size_t i = 0; i < v.size(); ++i) a.set(static_cast<int64_t>(i), v[i]);
  return a;
}
HostArray random(const Dims& shape, Rng& rng) {
  HostArray a = HostArray::make(kFloat32, shape);
  for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, rng.normal());
  return a;
}
HostArray run(const graph::Graph& g, const std::vector<HostArray>& inputs) {
  std::map<std::string, HostArray> named;
  for (size_t k = 0; k < inputs.size(); ++k) named.emplace("x" + std::to_string(k), inputs[k]);
  return graph::evaluate(g, named).value()[0];
}
std::vector<double> numbers(const HostArray& a) {
  std::vector<double> out;
  for (int64_t i = 0; i < a.num_elements(); ++i) out.push_back(a.get(i));
  return out;
}

const te::Op* tagged(const te::Dag& d, const std::string& tag) {
  for (const te::Op& o : d.ops)
    if (o.tag == tag) return &o;
  return nullptr;
}

}  // namespace

void OpsTest::rows_are_complete() {
  std::set<std::string> names;
  for (const graph::OpDef& op : graph::operators()) {
    QVERIFY2(names.insert(op.name).second, op.name);
    QVERIFY2(op.infer && op.to_te && op.summary && *op.summary && op.tolerance >= 0, op.name);
    QCOMPARE(graph::find_op(op.name), &op);
    // No operand at all is refused by every operator, without reading any.
    const graph::Node node{.name = "n", .op = op.name};
    graph::OpContext c;
    c.node = &node;
    QVERIFY2(!op.infer(c).has_value(), op.name);
  }
}

void OpsTest::convolution_form_data() {
  QTest::addColumn<int>("channels");
  QTest::addColumn<int>("filters");
  QTest::addColumn<int>("groups");
  QTest::addColumn<int>("pad");
  QTest::addColumn<QString>("tag");
  QTest::addColumn<QString>("body");
  const QString dense = "%1[i, r0, k * 2 + r1, l * 2 + r2] * p1[j, r0, r1, r2]";
  QTest::newRow("plain") << 8 << 16 << 1 << 0 << "conv2d" << dense.arg("p0");
  QTest::newRow("padded") << 8 << 16 << 1 << 1 << "conv2d" << dense.arg("pad");
  QTest::newRow("depthwise") << 8 << 8 << 8 << 1 << "depthwise_conv2d"
                             << "pad[i, j, k * 2 + r0, l * 2 + r1] * p1[j, 0, r0, r1]";
  QTest::newRow("grouped") << 8 << 16 << 2 << 1 << "grouped_conv2d"
                           << "pad[i, j // 8 * 4 + r0, k * 2 + r1, l * 2 + r2] * p1[j, r0, r1, r2]";
}

void OpsTest::convolution_form() {
  QFETCH(int, channels);
  QFETCH(int, filters);
  QFETCH(int, groups);
  QFETCH(int, pad);
  QFETCH(QString, tag);
  QFETCH(QString, body);
  const auto g = one("conv2d", {{{1, channels, 9, 9}}, {{filters, channels / groups, 3, 3}}},
                     {{"strides", Dims{2, 2}}, {"pads", Dims{pad, pad, pad, pad}}, {"groups", int64_t{groups}}});
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  const auto dag = graph::to_dag(*g, g->nodes[0]);
  QVERIFY(te::verify(*dag->dag).has_value());
  const te::Op* op = tagged(*dag->dag, tag.toStdString());
  QVERIFY(op != nullptr);
  QCOMPARE(op->reducer, te::Reducer::sum);
  QCOMPARE(op->attrs.at("strides"), (Dims{2, 2}));
  QCOMPARE(op->attrs.at("groups"), Dims{groups});
  QCOMPARE(tagged(*dag->dag, "pad") != nullptr, pad > 0);
  const std::string text = te::print(*dag->dag);
  QVERIFY2(text.find(body.toStdString()) != std::string::npos, (text + "\nlacks " + body.toStdString()).c_str());
}

void OpsTest::dense_form() {
  const auto g = one("dense", {{{4, 8}}, {{6, 8}}, {{6}}}, {});
  const auto dag = graph::to_dag(*g, g->nodes[0]);
  const std::string text = te::print(*dag->dag);
  QVERIFY2(text.find("p0[i, r0] * p1[j, r0]") != std::string::npos, text.c_str());
  QCOMPARE(te::flops(*dag->dag), int64_t{4 * 6 * 8 * 2 + 4 * 6});
}

void OpsTest::convolution_values_data() {
  QTest::addColumn<int>("stride");
  QTest::addColumn<int>("dilation");
  QTest::addColumn<int>("before");
  QTest::addColumn<int>("after");
  QTest::addColumn<int>("groups");
  QTest::newRow("plain") << 1 << 1 << 0 << 0 << 1;
  QTest::newRow("strided, one-sided padding") << 2 << 1 << 1 << 0 << 1;
  QTest::newRow("dilated") << 1 << 2 << 2 << 1 << 1;
  QTest::newRow("grouped") << 2 << 1 << 1 << 1 << 2;
  QTest::newRow("depthwise with multiplier 2") << 1 << 1 << 1 << 1 << 4;
}

void OpsTest::convolution_values() {
  QFETCH(int, stride);
  QFETCH(int, dilation);
  QFETCH(int, before);
  QFETCH(int, after);
  QFETCH(int, groups);
  Rng rng(7);
  const int64_t C = 4, O = 8, H = 7, W = 6, K = 3, ic_per = C / groups, oc_per = O / groups;
  const HostArray x = random({2, C, H, W}, rng), w = random({O, ic_per, K, K}, rng), bias = random({O}, rng);
  const auto g = one(
      "conv2d", {{x.shape}, {w.shape}, {bias.shape}},
      {{"strides", Dims{stride, stride}}, {"dilations", Dims{dilation, dilation}}, {"pads", Dims{before, before, after, after}}, {"groups", int64_t{groups}}});
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  const HostArray y = run(*g, {x, w, bias});
  const int64_t OH = (H + before + after - (K - 1) * dilation - 1) / stride + 1, OW = (W + before + after - (K - 1) * dilation - 1) / stride + 1;
  QCOMPARE(y.shape, (Dims{2, O, OH, OW}));
  int64_t at = 0;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t o = 0; o < O; ++o)
      for (int64_t i = 0; i < OH; ++i)
        for (int64_t j = 0; j < OW; ++j, ++at) {
          double want = bias.get(o);
          for (int64_t c = 0; c < ic_per; ++c)
            for (int64_t p = 0; p < K; ++p)
              for (int64_t q = 0; q < K; ++q) {
                const int64_t r = i * stride + p * dilation - before, s = j * stride + q * dilation - before, ch = o / oc_per * ic_per + c;
                if (r >= 0 && r < H && s >= 0 && s < W) want += x.get(((n * C + ch) * H + r) * W + s) * w.get(((o * ic_per + c) * K + p) * K + q);
              }
          QVERIFY(std::abs(y.get(at) - want) < 1e-5);
        }
}

void OpsTest::channels_last_agree_data() {
  QTest::addColumn<QString>("op");
  QTest::addColumn<bool>("padded");
  for (const char* op : {"conv2d", "depthwise_conv2d", "max_pool2d", "avg_pool2d"})
    for (const bool padded : {false, true}) QTest::addRow("%s%s", op, padded ? ", padded" : "") << op << padded;
}

/// Images with their channels last: the numbers of those with them second, and a border that is an op whether there is one or not.
void OpsTest::channels_last_agree() {
  QFETCH(QString, op);
  QFETCH(bool, padded);
  const bool conv = op.endsWith("conv2d"), depthwise = op.startsWith("depthwise");
  const int64_t C = 4, M = 2, O = depthwise ? C * M : 6;
  const Dims first{2, C, 7, 6}, last{2, 7, 6, C}, kernel{3, 2};
  Rng rng(13);
  const HostArray x = random(last, rng), w = random(depthwise ? Dims{3, 2, C, M} : Dims{3, 2, C, O}, rng);
  HostArray xf = random(first, rng), wf = random(depthwise ? Dims{O, 1, 3, 2} : Dims{O, C, 3, 2}, rng);
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t p = 0; p < 42; ++p) xf.set((n * C + c) * 42 + p, x.get((n * 42 + p) * C + c));
  for (int64_t t = 0; t < 6; ++t)
    for (int64_t k = 0; k < w.num_elements() / 6; ++k) {
      const int64_t c = k / O, o = k % O;  // depthwise: O counts channels and their multiples, c is 0
      wf.set((o * wf.shape[1] + c) * 6 + t, w.get(t * (w.num_elements() / 6) + k));
    }
  Values attrs{{"strides", Dims{2, 1}}, {"pads", padded ? Dims{1, 0, 2, 1} : Dims{0, 0, 0, 0}}, {"dilations", Dims{1, 2}}};
  if (!conv) attrs["kernel"] = kernel;
  const std::vector<Operand> operands = conv ? std::vector<Operand>{{last}, {w.shape}} : std::vector<Operand>{{last}};
  const auto g = one(op.toStdString() + "_nhwc", operands, attrs);
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  if (depthwise) attrs["groups"] = C;
  const auto other = one(conv ? "conv2d" : op.toStdString(), conv ? std::vector<Operand>{{first}, {wf.shape}} : std::vector<Operand>{{first}}, attrs);
  QVERIFY2(other.has_value(), other ? "" : other.error().text().c_str());
  const HostArray y = run(*g, conv ? std::vector{x, w} : std::vector{x}), want = run(*other, conv ? std::vector{xf, wf} : std::vector{xf});
  const int64_t channels = want.shape[1], places = want.shape[2] * want.shape[3];
  QCOMPARE(y.shape, (Dims{2, want.shape[2], want.shape[3], channels}));
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t p = 0; p < places; ++p) QVERIFY(std::abs(y.get((n * places + p) * channels + c) - want.get((n * channels + c) * places + p)) < 1e-5);
  if (conv) QCOMPARE(graph::to_dag(*g, g->nodes[0])->dag->find("pad") >= 0, true);
}

void OpsTest::terms_name_every_dimension() {
  for (const auto& [equation, fits] : {std::pair<const char*, bool>{"ijk->ijk", true}, {"ij->ij", false}, {"ijkl->ijkl", false}, {"i...->i...", true}, {"ijk...->ijk", true}, {"ij...k...->i", false}})
    QVERIFY2(one("einsum", {{{2, 3, 4}}}, {{"equation", std::string(equation)}}).has_value() == fits, equation);
}

/// The padded data ends where the last window does, and is the data itself where no window leaves it.
void OpsTest::pools_pad_what_windows_reach() {
  for (const auto& [extent, kernel, stride, before, after, ceil] :
       {std::array<int64_t, 6>{8, 2, 2, 0, 0, 0}, {9, 3, 2, 0, 0, 0}, {9, 2, 2, 0, 0, 1}, {7, 3, 2, 1, 1, 0}, {8, 3, 3, 1, 0, 0}, {10, 3, 3, 1, 1, 1}}) {
    const auto g = one("max_pool1d", {{{1, 2, extent}}}, {{"kernel", Dims{kernel}}, {"strides", Dims{stride}}, {"pads", Dims{before, after}}, {"ceil_mode", ceil}});
    QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
    const int64_t windows = g->values[static_cast<size_t>(g->outputs[0])].type.shape[2], reached = (windows - 1) * stride + kernel;
    const auto dag = graph::to_dag(*g, g->nodes[0]);
    const auto pad = std::find_if(dag->dag->ops.begin(), dag->dag->ops.end(), [](const te::Op& o) { return o.name.find("pad") != std::string::npos; });
    QCOMPARE(pad != dag->dag->ops.end(), before > 0 || after > 0 || reached > extent);
    if (pad != dag->dag->ops.end()) QCOMPARE(pad->output->shape, (Dims{1, 2, std::max(reached, extent + before)}));
  }
}

void OpsTest::transposed_convolution_values_data() {
  QTest::addColumn<int>("stride");
  QTest::addColumn<int>("dilation");
  QTest::addColumn<int>("before");
  QTest::addColumn<int>("after");
  QTest::addColumn<int>("extra");
  QTest::addColumn<int>("groups");
  QTest::newRow("plain") << 1 << 1 << 0 << 0 << 0 << 1;
  QTest::newRow("strided") << 2 << 1 << 1 << 0 << 1 << 1;
  QTest::newRow("dilated") << 1 << 2 << 2 << 1 << 0 << 2;
  QTest::newRow("strided and dilated") << 2 << 2 << 1 << 0 << 0 << 1;
  QTest::newRow("strided by more than dilated, grouped") << 3 << 2 << 0 << 2 << 2 << 2;
  QTest::newRow("dilated by more than strided") << 2 << 3 << 3 << 1 << 1 << 1;
}

/// Each element of the input adds its multiple of the kernel to the output.
void OpsTest::transposed_convolution_values() {
  QFETCH(int, stride);
  QFETCH(int, dilation);
  QFETCH(int, before);
  QFETCH(int, after);
  QFETCH(int, extra);
  QFETCH(int, groups);
  Rng rng(9);
  const int64_t C = 4, H = 4, W = 5, K = 3, oc_per = 3, O = oc_per * groups;
  const HostArray x = random({2, C, H, W}, rng), w = random({C, oc_per, K, K}, rng), bias = random({O}, rng);
  const auto g = one("conv2d_transpose", {{x.shape}, {w.shape}, {bias.shape}},
                     {{"strides", Dims{stride, stride}}, {"dilations", Dims{dilation, dilation}}, {"pads", Dims{before, before, after, after}}, {"output_padding", Dims{extra, extra}},
                      {"groups", int64_t{groups}}});
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  const HostArray y = run(*g, {x, w, bias});
  const int64_t OH = (H - 1) * stride + (K - 1) * dilation + 1 + extra - before - after, OW = (W - 1) * stride + (K - 1) * dilation + 1 + extra - before - after;
  QCOMPARE(y.shape, (Dims{2, O, OH, OW}));
  std::vector<double> want;
  for (int64_t i = 0; i < y.num_elements(); ++i) want.push_back(bias.get(i / (OH * OW) % O));
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < C; ++c)
      for (int64_t i = 0; i < H * W; ++i)
        for (int64_t o = 0; o < oc_per; ++o)
          for (int64_t k = 0; k < K * K; ++k) {
            const int64_t r = i / W * stride + k / K * dilation - before, s = i % W * stride + k % K * dilation - before, to = c / (C / groups) * oc_per + o;
            if (r >= 0 && r < OH && s >= 0 && s < OW) want[static_cast<size_t>(((n * O + to) * OH + r) * OW + s)] += x.get((n * C + c) * H * W + i) * w.get((c * oc_per + o) * K * K + k);
          }
  for (int64_t i = 0; i < y.num_elements(); ++i) QVERIFY2(std::abs(y.get(i) - want[static_cast<size_t>(i)]) < 1e-4, QByteArray::number(static_cast<int>(i)));
}

void OpsTest::reshape_keeps_plain_indices() {
  const auto g = one("reshape", {{{2, 6, 5}}}, {{"shape", Dims{2, 2, 3, 1, 5}}});
  const std::string text = te::print(*graph::to_dag(*g, g->nodes[0])->dag);
  QVERIFY2(text.find("p0[i, j * 3 + k, m]") != std::string::npos, text.c_str());
}

void OpsTest::integer_division() {
  const auto div = one("div", {{{4}, kInt32}, {{4}, kInt32}}, {}), mod = one("mod", {{{4}, kInt32}, {{4}, kInt32}}, {}),
             fmod = one("fmod", {{{4}, kInt32}, {{4}, kInt32}}, {});
  const HostArray a = filled({4}, kInt32, {-7, 7, 7, -2147483648.0}), b = filled({4}, kInt32, {3, -3, 0, -1});
  QCOMPARE(numbers(run(*div, {a, b})), (std::vector<double>{-2, -2, 0, -2147483648.0}));
  QCOMPARE(numbers(run(*mod, {a, b})), (std::vector<double>{2, -2, 7, 0}));
  QCOMPARE(numbers(run(*fmod, {a, b})), (std::vector<double>{-1, 1, 7, 0}));
}

void OpsTest::indices_stay_inside() {
  const auto g = one("gather", {{{3}}, {{4}, kInt64}}, {{"axis", int64_t{0}}});
  const HostArray y = run(*g, {filled({3}, kFloat32, {10, 20, 30}), filled({4}, kInt64, {-1, 2, 99, -99})});
  QCOMPARE(numbers(y), (std::vector<double>{30, 30, 30, 10}));
}

void OpsTest::shifts_beyond_the_width() {
  const auto shift = [](const char* op, DType t, const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<int64_t>(a.size());
    return numbers(run(*one(op, {{{n}, t}, {{n}, t}}, {}), {filled({n}, t, a), filled({n}, t, b)}));
  };
  QCOMPARE(shift("shift_right", kInt8, {-7, -7, 7, -7, 7, -7}, {1, 8, 8, -1, -1, 100}), (std::vector<double>{-4, -1, 0, -1, 0, -1}));
  QCOMPARE(shift("shift_left", kInt8, {1, 3, 3, 3}, {7, 6, 8, -1}), (std::vector<double>{-128, -64, 0, 0}));
  QCOMPARE(shift("shift_right", kUInt8, {255, 255}, {7, 8}), (std::vector<double>{1, 0}));
}

void OpsTest::logarithms_of_masked_rows() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto g = one("reduce_log_sum_exp", {{{4, 2}}}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  const std::vector<double> got = numbers(run(*g, {filled({4, 2}, kFloat32, {-kInf, -kInf, 1, kInf, -kInf, 3, 0, 0})}));
  QCOMPARE(std::vector<double>(got.begin(), got.begin() + 3), (std::vector<double>{-kInf, kInf, 3}));
  QVERIFY(std::abs(got[3] - std::log(2)) < 1e-6);
}

void OpsTest::padding_with_large_numbers() {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto g = one("pad", {{{1}, kInt64}}, {{"pads", std::vector<int64_t>{1, 0}}, {"value", most}});
  QCOMPARE(run(*g, {filled({1}, kInt64, {7})}).get_int(0), most);
}

void OpsTest::casts_saturate() {
  const auto cast = [](const char* to, const std::vector<double>& x) {
    const auto n = static_cast<int64_t>(x.size());
    return numbers(run(*one("cast", {{{n}}}, {{"to", std::string(to)}}), {filled({n}, kFloat32, x)}));
  };
  QCOMPARE(cast("uint8", {-13, 255.9, 300}), (std::vector<double>{0, 255, 255}));
  QCOMPARE(cast("int8", {-200, 127.5, -1.9}), (std::vector<double>{-128, 127, -1}));
  QCOMPARE(cast("int32", {3e9, -3e9}), (std::vector<double>{2147483647, -2147483648.0}));
}

void OpsTest::running_products() {
  const HostArray x = filled({4}, kFloat32, {2, 3, 4, 5});
  QCOMPARE(numbers(run(*one("cumprod", {{{4}}}, {{"axis", int64_t{0}}}), {x})), (std::vector<double>{2, 6, 24, 120}));
  QCOMPARE(numbers(run(*one("cumprod", {{{4}}}, {{"axis", int64_t{0}}, {"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}), {x})), (std::vector<double>{60, 20, 5, 1}));
}

void OpsTest::columns_add_up_data() {
  QTest::addColumn<QList<int>>("image");
  QTest::addColumn<QList<int>>("kernel");
  QTest::addColumn<QList<int>>("strides");
  QTest::addColumn<QList<int>>("dilations");
  QTest::addColumn<QList<int>>("pads");
  using L = QList<int>;
  QTest::newRow("apart") << L{6, 8} << L{2, 4} << L{2, 4} << L{1, 1} << L{0, 0, 0, 0};
  QTest::newRow("overlapping, padded") << L{5, 7} << L{3, 3} << L{1, 1} << L{1, 1} << L{1, 0, 1, 2};
  QTest::newRow("steps that do not divide the window") << L{11, 9} << L{5, 3} << L{3, 2} << L{1, 1} << L{2, 1, 0, 1};
  QTest::newRow("steps larger than the window") << L{9, 10} << L{2, 1} << L{4, 3} << L{1, 1} << L{0, 0, 0, 0};
  QTest::newRow("dilated") << L{9, 8} << L{3, 2} << L{2, 1} << L{2, 3} << L{1, 1, 1, 1};
  QTest::newRow("a line") << L{12} << L{4} << L{2} << L{1} << L{1, 0};
}
/// Every element of a column goes to where its window and tap say, and what falls beside the image is left.
void OpsTest::columns_add_up() {
  QFETCH(QList<int>, image);
  QFETCH(QList<int>, kernel);
  QFETCH(QList<int>, strides);
  QFETCH(QList<int>, dilations);
  QFETCH(QList<int>, pads);
  const auto dims = image.size();
  const auto list = [](const QList<int>& v) { return Dims(v.begin(), v.end()); };
  QList<int> counts;
  int64_t window = 1, windows = 1, points = 1;
  for (int d = 0; d < dims; ++d) {
    counts << (image[d] + pads[d] + pads[d + dims] - (kernel[d] - 1) * dilations[d] - 1) / strides[d] + 1;
    window *= kernel[d], windows *= counts[d], points *= image[d];
  }
  constexpr int64_t kImages = 2, kChannels = 3;
  Rng rng(6);
  const HostArray x = random({kImages, kChannels * window, windows}, rng);
  std::vector<double> wanted(static_cast<size_t>(kImages * kChannels * points));
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    int64_t at = i % windows, tap = i / windows % window, to = 0, stride = 1;
    bool inside = true;
    for (auto d = dims; d-- > 0; at /= counts[d], tap /= kernel[d]) {
      const int64_t place = at % counts[d] * strides[d] + tap % kernel[d] * dilations[d] - pads[d];
      inside = inside && place >= 0 && place < image[d];
      to += place * stride;
      stride *= image[d];
    }
    if (inside) wanted[static_cast<size_t>(i / (windows * window) * points + to)] += x.get(i);
  }
  const Values attrs{{"image", list(image)}, {"kernel", list(kernel)}, {"strides", list(strides)}, {"dilations", list(dilations)}, {"pads", list(pads)}};
  const HostArray found = run(*one("columns_to_image", {{x.shape}}, attrs), {x});
  QCOMPARE(found.num_elements(), static_cast<int64_t>(wanted.size()));
  for (size_t i = 0; i < wanted.size(); ++i) QVERIFY(std::abs(found.get(static_cast<int64_t>(i)) - wanted[i]) < 1e-5);
}

void OpsTest::codes_and_numbers_data() {
  QTest::addColumn<QString>("name");
  for (const FloatFormat& f : float_formats()) QTest::newRow(f.name) << f.name;
}

/// Every code gives its number and comes back; a number between two codes goes to the nearer one, the even one at the middle.
void OpsTest::codes_and_numbers() {
  QFETCH(QString, name);
  const FloatFormat& f = *find_float_format(name.toStdString());
  const DType t = f.bits() > 8 ? kUInt16 : kUInt8;
  const bool powers = f.specials == FloatFormat::Specials::powers;
  const int64_t count = int64_t{1} << f.bits();
  std::vector<double> codes, between, nearest;
  for (int64_t c = 0; c < count; ++c) codes.push_back(static_cast<double>(c));
  const Values format{{"format", name.toStdString()}};
  const HostArray decoded = run(*one("float_decode", {{{count}, t}}, format), {filled({count}, t, codes)});
  for (int64_t c = 0; c < count; ++c) {
    const float want = f.decode(static_cast<uint32_t>(c));
    QVERIFY2((std::isnan(want) && std::isnan(decoded.get(c))) || decoded.get(c) == want, qPrintable(QString::number(c)));
  }
  const HostArray back = run(*one("float_encode", {{{count}}}, {{"format", name.toStdString()}, {"saturate", int64_t{0}}}), {decoded});
  for (int64_t c = 0; c < count; ++c)
    if (!std::isnan(decoded.get(c))) QCOMPARE(back.get_int(c), c);
  for (uint32_t c = powers ? 1 : 0; c + 1 <= f.largest(); ++c) {
    const double low = f.decode(c), high = f.decode(c + 1), middle = (low + high) / 2;
    between.insert(between.end(), {middle, std::nexttoward(static_cast<float>(middle), 0), std::nexttoward(static_cast<float>(middle), HUGE_VAL)});
    nearest.insert(nearest.end(), {powers || c % 2 == 1 ? c + 1.0 : c * 1.0, c * 1.0, c + 1.0});
  }
  for (const double beyond : {1e38, HUGE_VAL}) {
    between.push_back(beyond);
    nearest.push_back(powers && beyond == 1e38 ? 253 : f.specials == FloatFormat::Specials::ieee && name == "bfloat16" && beyond == 1e38 ? 0x7e96 : f.largest());
  }
  const auto n = static_cast<int64_t>(between.size());
  const HostArray rounded = run(*one("float_encode", {{{n}}}, format), {filled({n}, kFloat32, between)});
  for (int64_t i = 0; i < n; ++i) QVERIFY2(rounded.get(i) == nearest[static_cast<size_t>(i)], qPrintable(QString::number(between[static_cast<size_t>(i)])));
}

void OpsTest::bits_of_other_types() {
  const auto cast = [](DType from, DType to, double v) {
    return run(*one("bitcast", {{{1}, from}}, {{"to", to.name()}}), {filled({1}, from, {v})});
  };
  QCOMPARE(cast(kFloat32, kInt32, -2.5).get_int(0), int64_t{static_cast<int32_t>(0xc0200000)});
  QCOMPARE(cast(kInt32, kFloat32, 0x40490fdb).get(0), static_cast<double>(3.14159274F));
  QCOMPARE(cast(kFloat64, kUInt64, 1).get_int(0), int64_t{0x3ff0000000000000});
  QCOMPARE(cast(kFloat16, kUInt16, -1.5).get_int(0), int64_t{0xbe00});
  QCOMPARE(cast(kUInt16, kBFloat16, 0x4049).get(0), 3.140625);
  QCOMPARE(cast(kUInt8, kInt8, 200).get_int(0), int64_t{-56});
}

void OpsTest::unfit_operands_are_refused() {
  const auto text = [](const Expected<graph::Graph>& g) { return g ? std::string("accepted") : g.error().text(); };
  const auto lacks = [](const std::string& t, const char* part) { return t.find(part) == std::string::npos; };
  QVERIFY(!lacks(text(one("add", {{{2, 3}}, {{4}}}, {})), "(at node 'add' (add))"));
  QVERIFY(!lacks(text(one("add", {{{2, 3}}, {{4}}}, {})), "expected shapes that broadcast, found [2, 3] and [4]"));
  QVERIFY(!lacks(text(one("add", {{{2}, kBool}, {{2}, kBool}}, {})), "expected a numeric operand, found bool"));
  QVERIFY(!lacks(text(one("add", {{{2}}, {{2}, kInt32}}, {})), "equal element types"));
  QVERIFY(!lacks(text(one("exp", {{{2}, kInt32}}, {})), "a floating-point operand"));
  QVERIFY(!lacks(text(one("conv2d", {{{1, 3, 4, 4}}, {{8, 2, 3, 3}}}, {})), "expected data and weight that fit 1 groups, found [1, 3, 4, 4] and [8, 2, 3, 3]"));
  const auto bytes = [&](int64_t channels, int64_t of_weight, DType t, const Values& attrs) {
    return text(one("conv2d_bytes", {{{1, channels, 4, 4}, t}, {{8, of_weight, 3, 3}, kInt8}}, attrs));
  };
  QVERIFY(!lacks(bytes(8, 8, kInt8, {}), "expected uint8 and int8, found int8 and int8"));
  QVERIFY(!lacks(bytes(8, 4, kUInt8, {}), "expected data and weight that fit 1 groups, found [1, 8, 4, 4] and [8, 4, 3, 3]"));
  QVERIFY(!lacks(bytes(12, 6, kUInt8, {{"groups", int64_t{2}}}), "expected a second extent of the weight that 4 divides, found 6"));
  QVERIFY(!lacks(bytes(8, 8, kUInt8, {{"pad_value", int64_t{256}}}), "expected a pad_value from 0 to 255, found 256"));
  QVERIFY(!lacks(text(one("conv2d_nhwc", {{{1, 4, 4, 3}}, {{3, 3, 2, 8}}}, {})), "as many channels, found [1, 4, 4, 3] and [3, 3, 2, 8]"));
  QVERIFY(!lacks(text(one("conv2d_nhwc", {{{1, 2, 4, 3}}, {{3, 3, 3, 8}}}, {})), "expected a window that fits into dimension 1"));
  QVERIFY(!lacks(text(one("conv2d", {{{1, 3, 2, 2}}, {{8, 3, 3, 3}}}, {})), "expected a window that fits into dimension 2"));
  QVERIFY(!lacks(text(one("reshape", {{{2, 3}}}, {{"shape", Dims{4}}})), "expected a shape of 6 elements"));
  QVERIFY(!lacks(text(one("concat", {{{2, 3}}, {{2, 4}}}, {{"axis", int64_t{0}}})), "differ in dimension 0 only, found shapes [2, 3] and [2, 4]"));
  QVERIFY(!lacks(text(one("columns_to_image", {{{1, 4, 9}}}, {{"image", Dims{3, 3}}, {"kernel", Dims{2, 2}}})), "expected columns [N, C * 4, 4], found [1, 4, 9]"));
  QVERIFY(!lacks(text(one("columns_to_image", {{{1, 4, 9}}}, {{"image", Dims{3, 3}}, {"kernel", Dims{2, 4}}})), "a block [2, 4] does not fit an image [3, 3]"));
  QVERIFY(!lacks(text(one("slice", {{{4}}}, {{"starts", Dims{2}}, {"steps", Dims{1}}, {"sizes", Dims{3}}})), "inside dimension 0 of [4], found 2 to 4"));
  QVERIFY(!lacks(text(one("broadcast_to", {{{1}}}, {{"shape", Dims{int64_t{1} << 30, int64_t{1} << 30}}})), "at most 2^40 elements"));
  QVERIFY(!lacks(text(one("einsum", {{{2, 3}}, {{4, 5}}}, {{"equation", std::string("ij,jk->ik")}})),
                 "expected extent 3 as in an earlier operand, found dimension 0 of [4, 5]"));
}

QTEST_APPLESS_MAIN(OpsTest)
#include "ops_test.moc"
