// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <ctime>

#include "engine/base/rng.h"
#include "engine/te/dag.h"
#include "tests/engine/te/example_dags.h"

using namespace tw;
using namespace tw::te;

namespace {

std::vector<HostArray> random_inputs(const Dag& dag, uint64_t seed) {
  Rng rng(seed);
  std::vector<HostArray> out;
  for (const Op& op : dag.ops) {
    if (!op.is_placeholder()) continue;
    HostArray a = HostArray::make(op.output->dtype, op.output->shape);
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      if (a.dtype.is_float())
        a.set(i, rng.normal());
      else
        a.set_int(i, rng.range(0, 9));
    }
    out.push_back(std::move(a));
  }
  return out;
}

/// One op `y[i] = body(x[i])` on the given values.
std::vector<double> map_values(DType from, const std::vector<double>& values, const std::function<ir::Expr(ir::Expr)>& body) {
  DagBuilder b;
  const auto n = static_cast<int64_t>(values.size());
  const Tensor x = b.placeholder("x", {n}, from);
  const Tensor y = b.compute("y", {n}, [&](const Indices& i) { return body(x.at(i)); });
  const DagPtr dag = std::move(b).finish({y});
  std::vector<HostArray> in{HostArray::make(from, {n})};
  for (int64_t i = 0; i < n; ++i) in[0].set(i, values[static_cast<size_t>(i)]);
  const auto out = interpret(*dag, in).value();
  std::vector<double> result;
  for (int64_t i = 0; i < n; ++i) result.push_back(out[0].get(i));
  return result;
}

}  // namespace

class InterpretTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void convolution_against_loops() {
    const int ci = 3, hw = 5, co = 4;
    const DagPtr dag = conv_bias_relu(1, ci, hw, co);
    const auto in = random_inputs(*dag, 1);
    const auto out = interpret(*dag, in).value();
    QCOMPARE(out.size(), size_t{1});
    for (int o = 0; o < co; ++o)
      for (int y = 0; y < hw; ++y)
        for (int x = 0; x < hw; ++x) {
          double sum = 0;
          for (int c = 0; c < ci; ++c)
            for (int ky = 0; ky < 3; ++ky)
              for (int kx = 0; kx < 3; ++kx) {
                const int yy = y + ky - 1, xx = x + kx - 1;
                if (yy < 0 || yy >= hw || xx < 0 || xx >= hw) continue;
                sum += in[0].get((c * hw + yy) * hw + xx) * in[1].get(((o * ci + c) * 3 + ky) * 3 + kx);
              }
          const double expected = static_cast<float>(std::max(static_cast<double>(static_cast<float>(sum)) + in[2].get(o), 0.0));
          QVERIFY(std::abs(out[0].get((o * hw + y) * hw + x) - expected) <= 1e-6 * std::abs(expected));
        }
  }
  void chosen_elements_agree_with_all() {
    for (const auto& [name, dag] : example_dags()) {
      const auto in = random_inputs(*dag, 2);
      const auto all = interpret(*dag, in);
      QVERIFY2(all.has_value(), all ? "" : all.error().text().c_str());
      QCOMPARE(all->size(), dag->outputs.size());
      for (size_t o = 0; o < all->size(); ++o) {
        std::vector<int64_t> positions;
        for (int64_t p = (*all)[o].num_elements() - 1; p >= 0; p -= 2) positions.push_back(p);
        const auto some = interpret_at(*dag, in, static_cast<int>(o), positions).value();
        for (size_t k = 0; k < positions.size(); ++k) QCOMPARE(some[k], (*all)[o].get(positions[k]));
      }
    }
  }
  void softmax_sums_to_one() {
    const DagPtr dag = softmax(4, 8);
    const auto out = interpret(*dag, random_inputs(*dag, 3)).value();
    for (int i = 0; i < 4; ++i) {
      double sum = 0;
      for (int j = 0; j < 8; ++j) sum += out[0].get(i * 8 + j);
      QVERIFY(std::abs(sum - 1) < 1e-6);
    }
  }
  void scalars_and_several_outputs() {
    const DagPtr dag = mean_and_centre(4);
    std::vector<HostArray> in{HostArray::make(kFloat64, {4})};
    for (int i = 0; i < 4; ++i) in[0].set(i, i * i);
    const auto out = interpret(*dag, in).value();
    QCOMPARE(out.size(), size_t{2});
    QVERIFY(out[0].shape.empty());
    QCOMPARE(out[0].get(0), 3.5);
    QCOMPARE(out[1].get(3), 5.5);
    QCOMPARE(interpret_at(*dag, in, 0, std::vector<int64_t>{0}).value(), std::vector<double>{3.5});
  }
  void gathers_and_reports_bad_indices() {
    const DagPtr dag = gather();
    auto in = random_inputs(*dag, 4);
    const int64_t rows[] = {7, 0, 9};
    for (int i = 0; i < 3; ++i) in[1].set_int(i, rows[i]);
    const auto out = interpret(*dag, in).value();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j) QCOMPARE(out[0].get(i * 4 + j), in[0].get(rows[i] * 4 + j));
    in[1].set_int(2, 10);
    const auto r = interpret(*dag, in);
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::wrong_result);
    QCOMPARE(r.error().text(), std::string("Expected an index below 10 in dimension 0 of 'table', found 10 (at load 'table[ids[i], j]')\n  computing op 'y'"));
    QVERIFY(interpret_at(*dag, in, 0, std::vector<int64_t>{0, 7}).has_value());
    QVERIFY(!interpret_at(*dag, in, 0, std::vector<int64_t>{8}));
  }
  void integer_semantics() {
    const DagPtr dag = any_above();
    std::vector<HostArray> in{HostArray::make(kInt8, {3, 5})};
    const int values[15] = {1, 2, 3, -4, 2, 4, 5, 6, 7, 8, 0, -128, 127, 1, 1};
    for (int i = 0; i < 15; ++i) in[0].set_int(i, values[i]);
    const auto out = interpret(*dag, in).value();
    QVERIFY(out[0].dtype == kBool);
    QCOMPARE(out[0].get_int(0), int64_t{0});
    QCOMPARE(out[0].get_int(1), int64_t{1});
    QCOMPARE(out[0].get_int(2), int64_t{1});
    QCOMPARE(out[1].get_int(0), int64_t{-48});
    QCOMPARE(out[1].get_int(1), int64_t{static_cast<int8_t>(6720)});
  }
  void every_type() {
    using namespace ir;
    const auto plus = [](int64_t v) { return [v](Expr x) { return x + v; }; };
    QCOMPARE(map_values(kInt8, {127, -128, 5}, plus(1)), (std::vector<double>{-128, -127, 6}));
    QCOMPARE(map_values(kUInt8, {255, 0, 5}, plus(1)), (std::vector<double>{0, 1, 6}));
    QCOMPARE(map_values(kUInt8, {3}, [](Expr x) { return x - 5; }), (std::vector<double>{254}));
    QCOMPARE(map_values(kInt32, {2147483647}, plus(1)), (std::vector<double>{-2147483648.0}));
    QCOMPARE(map_values(kInt32, {-7, 7, -8}, [](Expr x) { return floor_div(x, imm(kInt32, 2)); }), (std::vector<double>{-4, 3, -4}));
    QCOMPARE(map_values(kInt32, {-7, 7, -8}, [](Expr x) { return x / imm(kInt32, 2); }), (std::vector<double>{-3, 3, -4}));
    QCOMPARE(map_values(kInt32, {-7, 7, -8}, [](Expr x) { return floor_mod(x, imm(kInt32, 5)); }), (std::vector<double>{3, 2, 2}));
    QCOMPARE(map_values(kInt32, {-7, 7, 0}, [](Expr x) { return floor_mod(x, imm(kInt32, -5)); }), (std::vector<double>{-2, -3, 0}));
    QCOMPARE(map_values(kInt8, {-128}, [](Expr x) { return floor_div(x, imm(kInt8, -1)); }), (std::vector<double>{-128}));
    QCOMPARE(map_values(kFloat32, {-7.5, 7.5}, [](Expr x) { return floor_mod(x, fimm(kFloat32, 2)); }), (std::vector<double>{0.5, 1.5}));
    QCOMPARE(map_values(kFloat32, {-7.9, 300, 1e20, NAN}, [](Expr x) { return cast(kInt8, x); }), (std::vector<double>{-7, 127, 127, 0}));
    QCOMPARE(map_values(kFloat32, {0, -0.0, 0.1, NAN}, [](Expr x) { return cast(kBool, x); }), (std::vector<double>{0, 0, 1, 1}));
    QCOMPARE(map_values(kFloat64, {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-20, 65520, 0x1p-25}, [](Expr x) { return cast(kFloat16, x); }),
             (std::vector<double>{1, 1 + 0x1p-10, INFINITY, 0}));
    QCOMPARE(map_values(kFloat64, {1 + 0x1p-8, 1 + 3 * 0x1p-8}, [](Expr x) { return cast(kBFloat16, x); }), (std::vector<double>{1, 1 + 0x1p-6}));
    QCOMPARE(map_values(kFloat32, {1}, [](Expr x) { return cast(kFloat64, x + fimm(kFloat32, 0.1)); }), (std::vector<double>{1.0 + double{0.1f}}));
    QCOMPARE(map_values(kUInt64, {18446744073709549568.0, 3}, [](Expr x) { return x / imm(kUInt64, 2); }), (std::vector<double>{9223372036854774784.0, 1}));
    QCOMPARE(map_values(kUInt64, {18446744073709549568.0, 3}, [](Expr x) { return cast(kInt32, x < imm(kUInt64, 5)); }), (std::vector<double>{0, 1}));
    QCOMPARE(map_values(kInt32, {-8, 1}, [](Expr x) { return binary(BinaryOp::shr, x, imm(kInt32, 1)); }), (std::vector<double>{-4, 0}));
    QCOMPARE(map_values(kInt32, {1, 3}, [](Expr x) { return binary(BinaryOp::shl, x, imm(kInt32, 31)); }), (std::vector<double>{-2147483648.0, -2147483648.0}));
    QCOMPARE(map_values(kInt8, {-128, -5}, [](Expr x) { return call(Intrinsic::fabs, {x}); }), (std::vector<double>{-128, 5}));
  }
  void intrinsics_are_libm() {
    using namespace ir;
    struct Case {
      Intrinsic f;
      double (*expected)(double);
    };
    const Case cases[] = {{Intrinsic::exp, std::exp},
                          {Intrinsic::log, std::log},
                          {Intrinsic::sqrt, std::sqrt},
                          {Intrinsic::tanh, std::tanh},
                          {Intrinsic::erf, std::erf},
                          {Intrinsic::fabs, std::fabs},
                          {Intrinsic::floor, std::floor},
                          {Intrinsic::ceil, std::ceil},
                          {Intrinsic::round, std::rint},
                          {Intrinsic::trunc, std::trunc},
                          {Intrinsic::sin, std::sin},
                          {Intrinsic::cos, std::cos},
                          {Intrinsic::tan, std::tan},
                          {Intrinsic::asin, std::asin},
                          {Intrinsic::acos, std::acos},
                          {Intrinsic::atan, std::atan},
                          {Intrinsic::sinh, std::sinh},
                          {Intrinsic::cosh, std::cosh},
                          {Intrinsic::asinh, std::asinh},
                          {Intrinsic::acosh, std::acosh},
                          {Intrinsic::atanh, std::atanh},
                          {Intrinsic::rsqrt, [](double v) { return 1 / std::sqrt(v); }},
                          {Intrinsic::sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }}};
    const std::vector<double> values{-2.5, -0.5, -0.0, 0.25, 0.5, 1, 1.5, 2.5, 700};
    for (const Case& c : cases) {
      const auto got = map_values(kFloat64, values, [&](Expr x) { return call(c.f, {x}); });
      for (size_t i = 0; i < values.size(); ++i) {
        const double expected = c.expected(values[i]);
        QVERIFY2(got[i] == expected || (std::isnan(got[i]) && std::isnan(expected)), intrinsic_name(c.f));
      }
    }
    QCOMPARE(map_values(kFloat64, {0.5, 1.5, 2.5, -0.5, -1.5}, [](Expr x) { return call(Intrinsic::round, {x}); }), (std::vector<double>{0, 2, 2, 0, -2}));
    QCOMPARE(map_values(kFloat64, {3, -3}, [](Expr x) { return call(Intrinsic::pow, {x, fimm(kFloat64, 3)}); }), (std::vector<double>{27, -27}));
    QCOMPARE(map_values(kFloat64, {7.5, -7.5}, [](Expr x) { return call(Intrinsic::fmod, {x, fimm(kFloat64, 2)}); }), (std::vector<double>{1.5, -1.5}));
    QCOMPARE(map_values(kFloat32, {NAN, INFINITY, 1}, [](Expr x) { return call(Intrinsic::isnan, {x}); }), (std::vector<double>{1, 0, 0}));
    QCOMPARE(map_values(kFloat32, {NAN, -INFINITY, 1}, [](Expr x) { return call(Intrinsic::isinf, {x}); }), (std::vector<double>{0, 1, 0}));
  }
  void sums_round_once() {
    DagBuilder b;
    const Tensor x = b.placeholder("x", {4096}, kFloat16);
    const Tensor y = b.reduce("y", {}, {4096}, Reducer::sum, [&](const Indices&, const Indices& r) { return x(r[0]); });
    const DagPtr dag = std::move(b).finish({y});
    std::vector<HostArray> in{HostArray::make(kFloat16, {4096})};
    for (int i = 0; i < 4096; ++i) in[0].set(i, 1);
    QCOMPARE(interpret(*dag, in).value()[0].get(0), 4096.0);
  }
  void selects_do_not_touch_the_other_branch() {
    DagBuilder b;
    const Tensor x = b.placeholder("x", {2}, kInt32);
    const Tensor d =
        b.compute("d", {2}, [&](const Indices& i) { return ir::select(ir::equal(x.at(i), ir::imm(kInt32, 0)), x.at(i), ir::imm(kInt32, 12) / x.at(i)); });
    const DagPtr dag = std::move(b).finish({d});
    std::vector<HostArray> in{HostArray::make(kInt32, {2})};
    in[0].set_int(1, 5);
    const auto out = interpret(*dag, in).value();
    QCOMPARE(out[0].get_int(0), int64_t{0});
    QCOMPARE(out[0].get_int(1), int64_t{2});
  }
  void errors() {
    const DagPtr quotient = parse_dag("x: int32[2] = placeholder(activation) y: int32[2] = compute(i) \"e\" T.int32(3) // x[i] outputs(y)").value();
    std::vector<HostArray> in{HostArray::make(kInt32, {2})};
    const auto r = interpret(*quotient, in);
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::invalid_argument);
    QVERIFY(r.error().message.find("divisor") != std::string::npos);
    const DagPtr outside = parse_dag("x: int32[2] = placeholder(activation) y: int32[2] = compute(i) \"e\" x[i - 1] outputs(y)").value();
    QCOMPARE(interpret(*outside, in).error().code, ErrorCode::wrong_result);
    QCOMPARE(interpret(*outside, {}).error().code, ErrorCode::invalid_argument);
    in.push_back(in[0]);
    QCOMPARE(interpret(*outside, in).error().message, std::string("Expected 1 inputs, found 2"));
    std::vector<HostArray> wrong{HostArray::make(kFloat32, {2})};
    QVERIFY(interpret(*outside, wrong).error().message.find("Expected int32 of shape [2] for placeholder 'x', found float32") == 0);
    in.pop_back();
    QCOMPARE(interpret_at(*outside, in, 1, {}).error().code, ErrorCode::invalid_argument);
    QCOMPARE(interpret_at(*outside, in, 0, std::vector<int64_t>{2}).error().code, ErrorCode::invalid_argument);
    const DagPtr huge = parse_dag("x: int32[2] = placeholder(activation) y: int32[2, 99999999999] = compute(i, j) \"e\" x[i] outputs(y)").value();
    QCOMPARE(interpret(*huge, in).error().code, ErrorCode::resource_limit);
    QCOMPARE(interpret_at(*huge, in, 0, std::vector<int64_t>{199999999997}).value().size(), size_t{1});
  }
  void stops_when_asked() {
    const DagPtr dag = conv_bias_relu(1, 32, 28, 32);
    StopSource source;
    source.request_stop();
    const auto r = interpret(*dag, random_inputs(*dag, 5), source.get_token());
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::cancelled);
  }
  void samples_of_a_large_convolution_are_cheap() {
    const DagPtr dag = conv_bias_relu(1, 512, 28, 512);
    const auto in = random_inputs(*dag, 6);
    Rng rng(7);
    std::vector<int64_t> positions;
    for (int k = 0; k < 64; ++k) positions.push_back(rng.range(0, 512 * 28 * 28 - 1));
    const std::clock_t begin = std::clock();
    QVERIFY(interpret_at(*dag, in, 0, positions).has_value());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    qInfo("64 samples of 4608 terms: %.0f ms", seconds * 1e3);
    QVERIFY(seconds < 10);  // some 40 ms; a tree walk over names would take minutes
  }
};

QTEST_APPLESS_MAIN(InterpretTest)
#include "interpret_test.moc"
