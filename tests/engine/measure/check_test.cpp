// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/check.h"

#include <QtTest>
#include <functional>
#include <set>

#include "engine/graph/to_dag.h"
#include "engine/measure/inputs.h"
#include "engine/measure/judge.h"
#include "engine/tir/stmt.h"

using namespace tw;
using namespace tw::measure;

namespace {

te::DagPtr matmul(int64_t n, int64_t m, int64_t k, DType t = kFloat32) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {n, k}, t), w = b.placeholder("w", {m, k}, t, te::Role::constant);
  const te::Tensor y = b.reduce(
      "y", {n, m}, {k}, te::Reducer::sum, [&](const te::Indices& i, const te::Indices& r) { return x(i[0], r[0]) * w(i[1], r[0]); }, "dense");
  return std::move(b).finish({y});
}

ReferenceOutput floats(std::vector<double> values, double tolerance) {
  ReferenceOutput out{kFloat32, {static_cast<int64_t>(values.size())}, true, {}, std::move(values), 1, tolerance, false};
  return out;
}

}  // namespace

class CheckTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void samples_cover_edges() {
    const std::vector<int64_t> shape{7, 30, 50};
    const std::vector<int64_t> p = sample_positions(shape, 96, 5);
    QCOMPARE(p.size(), size_t{96});
    QVERIFY(std::is_sorted(p.begin(), p.end()));
    QCOMPARE(std::set<int64_t>(p.begin(), p.end()).size(), p.size());
    bool last_row = false, last_column = false, first = false;
    for (const int64_t i : p) {
      QVERIFY(i >= 0 && i < 7 * 30 * 50);
      last_row |= i / 1500 == 6;
      last_column |= i % 50 == 49;
      first |= i % 50 == 0;
    }
    QVERIFY(last_row && last_column && first);
    QVERIFY(sample_positions(shape, 96, 5) == p);
    QVERIFY(sample_positions(shape, 96, 6) != p);
    QCOMPARE(sample_positions({3, 4}, 96, 1).size(), size_t{12});
    QCOMPARE(sample_positions({}, 96, 1).size(), size_t{1});
  }

  void inputs_are_the_same_everywhere_and_in_range() {
    const auto dag = matmul(3, 4, 50);
    const std::vector<HostArray> a = make_inputs(*dag, 1), b = make_inputs(*dag, 1), c = make_inputs(*dag, 2);
    QVERIFY(a[0].data == b[0].data && a[1].data == b[1].data);
    QVERIFY(a[0].data != c[0].data);
    double low = 1, high = -1;
    for (int64_t i = 0; i < a[0].num_elements(); ++i) {
      low = std::min(low, a[0].get(i));
      high = std::max(high, a[0].get(i));
    }
    QVERIFY(low >= -1 && high < 1 && low < -0.5 && high > 0.5);
    for (int64_t i = 0; i < 50; ++i) QVERIFY(a[0].get(i) != a[1].get(i));
  }

  void uneven_magnitudes_alternate_between_floats() {
    const auto dag = matmul(8, 8, 40);
    const auto largest = [](const HostArray& a) {
      double most = 0;
      for (int64_t i = 0; i < a.num_elements(); ++i) most = std::max(most, std::abs(a.get(i)));
      return most;
    };
    const std::vector<HostArray> in = make_inputs(*dag, 1, Magnitudes::uneven);
    QVERIFY(largest(in[0]) > 128 && largest(in[0]) <= 256);
    QVERIFY(largest(in[1]) > 1.0 / 16 && largest(in[1]) <= 1.0 / 8);
    QVERIFY(largest(make_inputs(*matmul(8, 8, 40, kFloat16), 1, Magnitudes::uneven)[0]) <= 8);
    QCOMPARE(make_inputs(*matmul(8, 8, 8, kInt8), 1, Magnitudes::uneven)[0].data, make_inputs(*matmul(8, 8, 8, kInt8), 1)[0].data);
    // The reference is computed from the same values.
    const auto even = make_reference(*dag, 1), uneven = make_reference(*dag, 1, {.magnitudes = Magnitudes::uneven});
    QVERIFY(even && uneven);
    QVERIFY(even->outputs[0].values != uneven->outputs[0].values);
  }

  void integers_stay_legal() {
    te::DagBuilder b;
    const te::Tensor data = b.placeholder("data", {3, 8}, kFloat32), at = b.placeholder("at", {20}, kInt64);
    const te::Tensor y = b.compute(
        "y", {20, 8},
        [&](const te::Indices& i) {
          return data.at({at(i[0]), i[1]});
        },
        "gather");
    const auto dag = std::move(b).finish({y});
    const std::vector<HostArray> in = make_inputs(*dag, 1);
    std::set<int64_t> seen;
    for (int64_t i = 0; i < 20; ++i) seen.insert(in[1].get_int(i));
    QVERIFY(*seen.begin() >= 0 && *seen.rbegin() <= 2 && seen.size() > 1);
    // Without an index use, signed integers may be negative.
    const std::vector<HostArray> plain = make_inputs(*matmul(8, 8, 8, kInt8), 1);
    std::set<int64_t> values;
    for (int64_t i = 0; i < 64; ++i) values.insert(plain[0].get_int(i));
    QVERIFY(*values.begin() < 0 && *values.rbegin() > 0);
  }

  void tolerance_follows_type_and_length() {
    const double short_sum = output_tolerance(*matmul(4, 4, 16), 0), long_sum = output_tolerance(*matmul(4, 4, 4096), 0);
    QVERIFY(short_sum > 1e-6 && short_sum < 1e-5);
    QVERIFY(long_sum > short_sum && long_sum < 1e-4);
    QVERIFY(output_tolerance(*matmul(4, 4, 16, kFloat64), 0) < 1e-13);
    QVERIFY(output_tolerance(*matmul(4, 4, 16, kFloat16), 0) > 1e-3);
    QCOMPARE(output_tolerance(*matmul(4, 4, 16, kInt32), 0), 0.0);
  }

  /// Products of operands rounded to TF32 pass where that is allowed and nowhere else, whatever the length of the sum; operands that are off by 2^-8 never do.
  void tf32_is_allowed_where_asked() {
    for (const int64_t k : {16, 256, 4096}) {
      const te::DagPtr dag = matmul(8, 8, k);
      const auto error_of = [&](const std::function<double(double)>& round, bool tf32) {
        std::vector<HostArray> inputs = make_inputs(*dag, 5);
        for (HostArray& a : inputs)
          for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, round(a.get(i)));
        const auto got = te::interpret(*dag, inputs);
        std::vector<double> values;
        for (int64_t i = 0; i < got->front().num_elements(); ++i) values.push_back(got->front().get(i));
        return compare(make_reference(*dag, 5, {.full_flops = int64_t{1} << 40, .tf32 = tf32})->outputs[0], values);
      };
      const auto rounded = [](double v) { return static_cast<double>(tir::tf32(static_cast<float>(v))); };
      QVERIFY2(error_of(rounded, true).equal, qPrintable(QString::number(error_of(rounded, true).max_rel_error)));
      QVERIFY(!error_of(rounded, false).equal);
      QVERIFY2(!error_of([](double v) { return v * (1 + 0x1.0p-8); }, true).equal, qPrintable(QString::number(k)));
    }
    QVERIFY(output_tolerance(*matmul(4, 4, 16), 0, true) < 0.005);
    QCOMPARE(output_tolerance(*matmul(4, 4, 16, kFloat64), 0, true), output_tolerance(*matmul(4, 4, 16, kFloat64), 0));
  }

  void full_and_sampled_references_agree() {
    const auto dag = matmul(24, 20, 30);
    const auto full = make_reference(*dag, 3), sampled = make_reference(*dag, 3, {.full_flops = 0});
    QVERIFY2(full.has_value(), full ? "" : full.error().text().c_str());
    QVERIFY(sampled.has_value());
    const ReferenceOutput &all = full->outputs[0], &some = sampled->outputs[0];
    QVERIFY(all.all && !some.all);
    QVERIFY(some.positions.size() >= 64);
    for (size_t i = 0; i < some.positions.size(); ++i) QCOMPARE(some.values[i], all.values[static_cast<size_t>(some.positions[i])]);
    // The oracle is right: one element by hand.
    const std::vector<HostArray> in = make_inputs(*dag, 3);
    double sum = 0;
    for (int64_t k = 0; k < 30; ++k) sum += in[0].get(2 * 30 + k) * in[1].get(7 * 30 + k);
    QVERIFY(std::abs(all.values[2 * 20 + 7] - sum) < 1e-5);
  }

  void comparisons_find_the_worst() {
    const ReferenceOutput want = floats({1, -2, 0, 4}, 1e-4);
    QVERIFY(compare(want, std::vector<double>{1, -2, 0, 4}).equal);
    QVERIFY(compare(want, std::vector<double>{1.00005, -2, 0.00005, 4}).equal);
    const Comparison bad = compare(want, std::vector<double>{1, -2.1, 0, 4.3});
    QVERIFY(!bad.equal);
    QCOMPARE(bad.at, int64_t{3});
    QVERIFY(std::abs(bad.max_rel_error - 0.075) < 1e-6);
    const double nan = std::nan(""), inf = INFINITY;
    QVERIFY(!compare(want, std::vector<double>{nan, -2, 0, 4}).equal);
    QVERIFY(!compare(want, std::vector<double>{inf, -2, 0, 4}).equal);
    QVERIFY(compare(floats({nan, inf}, 1e-4), std::vector<double>{nan, inf}).equal);
    QVERIFY(!compare(floats({nan, inf}, 1e-4), std::vector<double>{0, inf}).equal);
    QVERIFY(!compare(floats({nan, inf}, 1e-4), std::vector<double>{nan, -inf}).equal);
  }

  void skipped_padding_counts_nothing() {
    const auto floor = [](int64_t dilation, int64_t pad) {
      graph::GraphBuilder b("g");
      const int x = b.input("x", {kFloat32, {1, 16, 20, 20}}), w = b.constant("w", HostArray::make(kFloat32, {16, 16, 5, 5}));
      const std::vector<int64_t> d(2, dilation), p(4, pad);
      b.output(b.node("conv2d", {x, w}, graph::Attrs{{{"dilations", d}, {"pads", p}}}).value()[0]);
      const graph::Graph g = std::move(b).finish();
      return physical_floor_s(*graph::to_dag(g, std::vector<int>{0}, g.outputs).value().dag, 1e11);
    };
    // Taps 9 apart on both sides: of 20 results, the five meet 2, 11, 20, 11 and 2.
    QVERIFY(std::abs(floor(9, 18) / floor(1, 2) / (46.0 * 46 / (94.0 * 94)) - 1) < 0.01);
  }

  void winograds_times_are_possible() {
    const auto conv = [](int64_t window) {
      te::DagBuilder b;
      const te::Tensor x = b.placeholder("x", {1, 16, 16 + window, 16 + window}, kFloat32), w = b.placeholder("w", {16, 16, window, window}, kFloat32);
      const te::Tensor y = b.reduce(
          "conv2d", {1, 16, 16, 16}, {16, window, window}, te::Reducer::sum,
          [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
      return std::move(b).finish({y});
    };
    const double direct = 0.9 * 2 * 16 * 16 * 16 * 16 * 9 / 1e11;
    QVERIFY(physical_floor_s(*conv(3), 1e11) < direct / 5);
    QVERIFY(std::abs(physical_floor_s(*conv(5), 1e11) / (direct * 25 / 9) - 1) < 0.01);
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {1, 16, 6, 18, 18}, kFloat32), w = b.placeholder("w", {16, 16, 3, 3, 3}, kFloat32);
    const te::Tensor y = b.reduce(
        "conv3d", {1, 16, 4, 16, 16}, {16, 3, 3, 3}, te::Reducer::sum,
        [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2], s[4] + r[3]) * w(s[1], r[0], r[1], r[2], r[3]); },
        "conv3d");
    QVERIFY(physical_floor_s(*std::move(b).finish({y}), 1e11) < direct * 3 * 4 / 5);
  }
  void impossible_times_are_known() {
    const auto dag = matmul(256, 256, 256);  // 33.5 MFLOP
    const double floor = physical_floor_s(*dag, 1e11);
    QVERIFY(floor > 2.5e-4 && floor < 3.4e-4);
    QCOMPARE(physical_floor_s(*dag, 0), 0.0);
    MeasureReply reply;
    QVERIFY(judge_times(reply, 1).has_value());
    reply.samples_s = {1e-3, 2e-3};
    reply.flags = {false, false};
    reply.inner = 10;
    QVERIFY(!judge_times(reply, 1).has_value());
    QVERIFY(judge_times(reply, 0.02).has_value());
    reply.samples_s[0] = 0;
    QVERIFY(judge_times(reply, 1).has_value());
    reply.samples_s[0] = -1e-3;
    QVERIFY(judge_times(reply, 1).has_value());
  }
};

QTEST_APPLESS_MAIN(CheckTest)
#include "check_test.moc"
