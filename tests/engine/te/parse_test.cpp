// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <ctime>

#include "engine/base/rng.h"
#include "engine/te/source.h"
#include "tests/engine/te/example_dags.h"

using namespace tw;
using namespace tw::te;

class TextTest : public QObject {
  Q_OBJECT

  static void bad(const std::string& text, const char* part) {
    const auto r = parse_dag(text);
    QVERIFY2(!r, text.c_str());
    QCOMPARE(r.error().code, ErrorCode::parse_error);
    QVERIFY2(r.error().text().find(part) != std::string::npos, r.error().text().c_str());
  }

 private Q_SLOTS:
  void prints_as_documented() {
    QCOMPARE(print(*conv_bias_relu(1, 2, 4, 3)),
             std::string("data: float32[1, 2, 4, 4] = placeholder(activation)\n"
                         "weight: float32[3, 2, 3, 3] = placeholder(constant)\n"
                         "bias: float32[3] = placeholder(constant)\n"
                         "pad: float32[1, 2, 6, 6] = compute(i, j, k, l) \"pad\" {\"pads\": [1, 1]}\n"
                         "    select(1 <= k and k < 5 and 1 <= l and l < 5, data[i, j, k - 1, l - 1], T.float32(0))\n"
                         "conv: float32[1, 3, 4, 4] = sum(i, j, k, l, r0=2, r1=3, r2=3) \"conv2d\" {\"pads\": [1, 1], \"strides\": [1, 1]}\n"
                         "    pad[i, r0, k + r1, l + r2] * weight[j, r0, r1, r2]\n"
                         "relu: float32[1, 3, 4, 4] = compute(i, j, k, l) \"elementwise\"\n"
                         "    max(conv[i, j, k, l] + bias[j], T.float32(0))\n"
                         "outputs(relu)\n"));
  }
  void round_trip() {
    for (const auto& [name, dag] : example_dags()) {
      const auto valid = verify(*dag);
      QVERIFY2(valid.has_value(), valid ? "" : valid.error().text().c_str());
      const std::string text = print(*dag);
      const auto back = parse_dag(text);
      QVERIFY2(back.has_value(), back ? "" : (text + back.error().text()).c_str());
      QCOMPARE(print(**back), text);
      QCOMPARE(structural_key(**back), structural_key(*dag));
      QCOMPARE(flops(**back), flops(*dag));
      QCOMPARE((*back)->ops.size(), dag->ops.size());
      QCOMPARE((*back)->outputs, dag->outputs);
      for (size_t i = 0; i < dag->ops.size(); ++i) {
        const Op &a = dag->ops[i], &b = (*back)->ops[i];
        QCOMPARE(b.name, a.name);
        QCOMPARE(b.tag, a.tag);
        QCOMPARE(b.role, a.role);
        QCOMPARE(b.attrs, a.attrs);
        QCOMPARE(b.reducer, a.reducer);
        QCOMPARE(b.output->shape, a.output->shape);
        QVERIFY(b.output->dtype == a.output->dtype);
        QCOMPARE(b.axes.size(), a.axes.size());
        QCOMPARE(b.reduce_axes.size(), a.reduce_axes.size());
        for (size_t d = 0; d < a.axes.size(); ++d) QCOMPARE(b.axes[d].var->name, a.axes[d].var->name);
        for (size_t d = 0; d < a.reduce_axes.size(); ++d) QCOMPARE(b.reduce_axes[d].extent, a.reduce_axes[d].extent);
      }
    }
  }
  void hard_names_survive() {
    Dag dag = *conv_bias_relu(1, 2, 4, 3);
    dag.ops[0].name = "/layer1/conv \"x\"\n\\";
    dag.ops[1].name = "not";
    dag.ops[4].name = "outputs";
    dag.ops[5].name = "i";
    dag.ops[3].tag = "a \"tag\"";
    dag.ops[3].attrs["k\n"] = {};
    const std::string text = print(dag);
    const auto back = parse_dag(text);
    QVERIFY2(back.has_value(), back ? "" : (text + back.error().text()).c_str());
    for (size_t i = 0; i < dag.ops.size(); ++i) QCOMPARE((*back)->ops[i].name, dag.ops[i].name);
    QCOMPARE((*back)->ops[3].tag, dag.ops[3].tag);
    QCOMPARE((*back)->ops[3].attrs, dag.ops[3].attrs);
    QCOMPARE(print(**back), text);
  }
  void key_ignores_names_only() {
    const Dag a = *conv_bias_relu(1, 2, 4, 3);
    const std::string key = structural_key(a);
    QCOMPARE(key.size(), size_t{32});
    Dag b = *conv_bias_relu(1, 2, 4, 3);
    for (Op& op : b.ops) op.name = "other " + op.name;
    QCOMPARE(structural_key(b), key);
    QCOMPARE(structural_key(*parse_dag("x: float32[4] = placeholder(activation) y: float32[4] = compute(a) \"e\" x[a] outputs(y)").value()),
             structural_key(*parse_dag("p: float32[4] = placeholder(activation) q: float32[4] = compute(z) \"e\" p[z] outputs(q)").value()));
    Dag c = a;
    c.ops[1].role = Role::activation;
    QVERIFY(structural_key(c) != key);
    c = a;
    c.ops[4].tag = "dense";
    QVERIFY(structural_key(c) != key);
    c = a;
    c.ops[4].attrs["strides"] = {2, 1};
    QVERIFY(structural_key(c) != key);
    QVERIFY(structural_key(*conv_bias_relu(1, 2, 4, 4)) != key);
  }
  void costs() {
    const DagPtr conv = conv_bias_relu(1, 2, 4, 3);
    QCOMPARE(flops(*conv), int64_t{2 * 3 * 16 * 18 + 2 * 3 * 16});
    QCOMPARE(io_bytes(*conv), int64_t{4 * (2 * 16 + 54 + 3 + 48)});
    QCOMPARE(flops(*gather()), int64_t{0});
    QCOMPARE(flops(*softmax(4, 8)), int64_t{32 + 32 * 2 + 32 + 32});
    QCOMPARE(function_calls(*softmax(4, 8)), int64_t{32});
    QCOMPARE(function_calls(*conv), int64_t{0});
  }
  void bad_texts() {
    const std::string x = "x: float32[4] = placeholder(activation)\n";
    bad("", "Expected an op or 'outputs', found the end");
    bad(x, "Expected an op or 'outputs'");
    bad(x + "outputs(x)", "found a placeholder");
    bad(x + "outputs(z)", "Unknown op 'z'");
    bad(x + x, "Expected a new name, found 'x' again");
    bad(x + "y: float32[4] = compute(i) \"e\" x[i]", "found the end");
    bad(x + "y: float32[4] = compute(i) \"e\" y[i] outputs(y)", "Unknown buffer 'y' (at line 2");
    bad(x + "y: float32[4] = compute(i) \"e\" x[i] outputs(y) extra", "Expected the end after 'outputs'");
    bad(x + "y: float32[4] = compute(i) \"e\" x[i, i] outputs(y)", "Expected 1 indices");
    bad(x + "y: float32[4] = compute() \"e\" x[0] outputs(y)", "Expected 1 spatial axes");
    bad(x + "y: float32[4] = compute(i, j) \"e\" x[0] outputs(y)", "Expected 1 spatial axes, then reduce axes");
    bad(x + "y: float32[4] = compute(i, i=3) \"e\" x[0] outputs(y)", "Expected a new axis name");
    bad(x + "y: float32[4] = compute(i, r=3) \"e\" x[0] outputs(y)", "Expected a reducer");
    bad(x + "y: float32[4] = mean(i, r=3) \"e\" x[0] outputs(y)", "a reducer, found 'mean'");
    bad(x + "y: int32[4] = compute(i) \"e\" x[i] outputs(y)", "Expected a body of type int32, found float32 (at line 2, column 1");
    bad("param N = 0 // 0\n", "Expected an integer, or an expression over parameters");
    bad(x + "y: float32[0] = compute(i) \"e\" x[i] outputs(y)", "Expected a shape of 1 to 2^48 elements");
    bad(x + "y: float32[4294967296, 4294967296, 4294967296] = compute(i, j, k) \"e\" x[i] outputs(y)", "Expected a shape of 1 to 2^48 elements");
    bad(x + "y: float32[4] = sum(i, r=9223372036854775807) \"e\" x[i] outputs(y)", "2^48 points");
    bad(x + "y: float32x4[4] = compute(i) \"e\" x[i] outputs(y)", "type");
    bad(x + "y: float32[4] = compute(i) \"e\" x[i] outputs(y, y)", "twice");
    bad(x + "y: float32[4] = compute(i) \"e\" x[i] z: float32[4] = placeholder(constant) outputs(y)", "placeholders before");
    bad("x: bool[4] = placeholder(activation) y: bool[()] = sum(r=4) \"e\" x[r] outputs(y)", "Expected a number");
    bad("x: bool[4] = placeholder(activation) y: bool[] = sum(r=4) \"e\" x[r] outputs(y)", "Expected max or min as reducer of bool");
  }
  void parameters_stand_for_numbers_and_types() {
    const std::string text =
        "# what it is\n# in two lines\nparam N = 8   # rows\nparam H = N // 2 + 1\nparam T = float32\nparam Z = -3\n"
        "x: T[N, H * 2] = placeholder()\ny: T[H] = sum(i, k=N - 3) \"t\" {\"a\": [N, Z]}\n    x[k, i] * T(2) + cast(T, i + N)\noutputs(y)\n";
    const auto source = parse_source(text);
    QVERIFY2(source.has_value(), source ? "" : source.error().text().c_str());
    QVERIFY(!source->has_schedule() && source->dag->source.empty());
    QCOMPARE(source->dag->ops[0].output->shape, (std::vector<int64_t>{8, 10}));
    QCOMPARE(source->dag->ops[1].reduce_axes[0].extent, int64_t{5});
    QCOMPARE(source->dag->ops[1].attrs.at("a"), (std::vector<int64_t>{8, -3}));
    QCOMPARE(source->params.size(), size_t{4});
    QVERIFY(source->params[1].derived && !source->params[0].derived);
    QCOMPARE(text.substr(source->places[1], 8), std::string("y: T[H] "));
    QCOMPARE(leading_comment(text), std::string("what it is\nin two lines\n"));
    QCOMPARE(print(*parse_dag(print(*source->dag)).value()), print(*source->dag));
    const auto other = with_args(text, std::vector<int64_t>{16, 7}, kFloat64);
    QVERIFY2(other.has_value(), other ? "" : other.error().text().c_str());
    QVERIFY(other->find("param N = 16   # rows\nparam H = N // 2 + 1\nparam T = float64\nparam Z = 7\n") != std::string::npos);
    QCOMPARE((*parse_dag(*other))->ops[1].output->shape, (std::vector<int64_t>{9}));
    QVERIFY(!with_args(text, std::vector<int64_t>{1, 2, 3}, std::nullopt));
    QVERIFY(!with_args("x: int8[2] = placeholder() y: int8[2] = compute(i) x[i] outputs(y)", {}, kFloat32));
  }
  void a_schedule_makes_the_text_a_part_of_the_dag() {
    const std::string text = "x: int8[2] = placeholder()\ny: int8[2] = compute(i)\n    x[i]\noutputs(y)\nschedule\nunroll(y.i)  # all\n";
    const auto source = parse_source(text);
    QVERIFY2(source.has_value(), source ? "" : source.error().text().c_str());
    QCOMPARE(text.substr(source->schedule), std::string("\nunroll(y.i)  # all\n"));
    QCOMPARE(print(*source->dag), text);
    QVERIFY(structural_equal(**parse_dag(print(*source->dag)), *source->dag));
    bad(text + "\"", "Expected a closing quote (at line 7, column 1");
    bad(text + std::string(70000, '#'), "at most 64 KiB");
  }
  void damaged_texts_never_assert() {
    Rng rng(3);
    static constexpr char kBytes[] = "()[],.+-*/%<>=!@{}: Tiofx\"019\\\n";
    for (const auto& [name, dag] : example_dags()) {
      const std::string text = print(*dag);
      for (int n = 0; n < 400; ++n) {
        std::string t = text;
        for (uint64_t k = 0; k <= rng.uniform(4); ++k) {
          const size_t at = rng.uniform(t.size());
          if (rng.uniform(2))
            t[at] = kBytes[rng.uniform(sizeof kBytes - 1)];
          else
            t.erase(at, 1 + rng.uniform(20));
          if (t.empty()) break;
        }
        if (const auto r = parse_dag(t))
          QVERIFY(verify(**r).has_value());
        else
          QCOMPARE(r.error().code, ErrorCode::parse_error);
      }
    }
  }
  void parsing_is_fast() {
    const std::string text = print(*conv_bias_relu(1, 64, 56, 64));
    const std::clock_t begin = std::clock();
    for (int n = 0; n < 200; ++n) QVERIFY(parse_dag(text).has_value());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / 200;
    qInfo("parse: %.1f us", seconds * 1e6);
    QVERIFY2(seconds < 5e-3, "parse took over 5 ms");  // some 20 us; sanitizers take their share
  }
  void verify_names_the_op() {
    Dag dag = *conv_bias_relu(1, 2, 4, 3);
    dag.ops[5].name = dag.ops[4].name;
    QCOMPARE(verify(dag).error().text(), std::string("Expected a name of its own for every op (at op 'conv')"));
    dag = *conv_bias_relu(1, 2, 4, 3);
    std::swap(dag.ops[3], dag.ops[4]);
    QVERIFY(verify(dag).error().text().find("Expected a load from an earlier op, found one from 'pad'") == 0);
    dag = *conv_bias_relu(1, 2, 4, 3);
    dag.outputs = {9};
    QVERIFY(!verify(dag));
    dag.outputs = {};
    QVERIFY(!verify(dag));
    dag = *conv_bias_relu(1, 2, 4, 3);
    dag.ops[4].axes[1].extent = 5;
    QVERIFY(!verify(dag));
    dag = *conv_bias_relu(1, 2, 4, 3);
    dag.ops[4].reduce_axes.pop_back();
    QVERIFY(verify(dag).error().text().find("Expected an axis of the op, found variable 'r2'") == 0);
  }
};

QTEST_APPLESS_MAIN(TextTest)
#include "parse_test.moc"
