// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/artifact.h"

#include <QtTest>
#include <cmath>
#include <cstring>

#include "engine/base/host_array.h"
#include "engine/base/json.h"
#include "engine/base/rng.h"
#include "engine/base/winograd.h"

using namespace tw;
using namespace tw::runtime;

namespace {

/// The rule written down directly: every physical element takes the logical one it stands for, or zero.
std::vector<int64_t> expected_positions(const ArgSpec& spec) {
  const std::vector<int64_t> extents = spec.physical_shape();
  int64_t total = 1;
  for (const int64_t e : extents) total *= e;
  std::vector<int64_t> out;
  for (int64_t flat = 0; flat < total; ++flat) {
    int64_t rest = flat;
    std::vector<int64_t> index(extents.size());
    for (int p = static_cast<int>(extents.size()) - 1; p >= 0; --p) {
      index[p] = rest % extents[p];
      rest /= extents[p];
    }
    std::vector<int64_t> logical(spec.shape.size(), 0);
    for (size_t p = 0; p < extents.size(); ++p) logical[spec.layout[p].dim] = logical[spec.layout[p].dim] * extents[p] + index[p];
    int64_t row = 0;
    for (size_t d = 0; d < spec.shape.size(); ++d) {
      if (logical[d] >= spec.shape[d]) row = -1;
      if (row >= 0) row = row * spec.shape[d] + logical[d];
    }
    out.push_back(row);
  }
  return out;
}

HostArray counting(DType t, std::vector<int64_t> shape) {
  HostArray a = HostArray::make(t, std::move(shape));
  for (int64_t i = 0; i < a.num_elements(); ++i) a.set_int(i, i + 1);
  return a;
}

}  // namespace

class ArtifactTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void packs_weights() {
    const ArgSpec spec{"w", kFloat32, {20, 5, 3, 3}, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 4}, {0, 16}}};
    QCOMPARE(spec.physical_shape(), (std::vector<int64_t>{2, 2, 3, 3, 4, 16}));
    QCOMPARE(spec.physical_bytes(), int64_t{2 * 2 * 9 * 64 * 4});
    QVERIFY(check_layout(spec).has_value());
  }

  /// Taps of a 3x3 window as the 16 points of F(2x2, 3x3), in blocks of output channels.
  void transforms_weights() {
    ArgSpec spec{"w", kFloat32, {3, 2, 3, 3}, {{2, 0, 2}, {3, 0, 2}, {0, 0}, {1, 0}, {0, 2}}, true};
    QVERIFY(check_layout(spec).has_value());
    QCOMPARE(spec.physical_shape(), (std::vector<int64_t>{4, 4, 2, 2, 2}));
    const HostArray row = counting(kFloat32, spec.shape);
    HostArray packed = HostArray::make(kFloat32, spec.physical_shape());
    pack_layout(spec, row.data.data(), packed.data.data());
    const Winograd::Matrix g = winograd(2, 3).g;
    for (int64_t flat = 0; flat < packed.num_elements(); ++flat) {
      const int64_t o = flat / 4 % 2 * 2 + flat % 2, i = flat / 2 % 2, y = flat / 8 % 4, x = flat / 32;
      double want = 0;
      for (int64_t kh = 0; kh < 3; ++kh)
        for (int64_t kw = 0; kw < 3; ++kw)
          if (o < 3) want += g[static_cast<size_t>(x)][static_cast<size_t>(kh)] * g[static_cast<size_t>(y)][static_cast<size_t>(kw)] * row.get(((o * 2 + i) * 3 + kh) * 3 + kw);
      QVERIFY2(std::abs(packed.get(flat) - want) < 1e-5, qPrintable(QString("at %1: %2, expected %3").arg(flat).arg(packed.get(flat)).arg(want)));
    }
    const auto back = arg_spec_from_json(*parse_json(dump_json(to_json(spec))));
    QVERIFY(back);
    QVERIFY(*back == spec);
    spec.constant = false;
    QVERIFY(!check_layout(spec));
    spec.constant = true;
    spec.layout[0].winograd = 9;
    QVERIFY(!check_layout(spec));
  }

  void random_layouts_round_trip() {
    Rng rng(7);
    const DType types[] = {kInt8, kFloat16, kFloat32, kFloat64};
    for (int trial = 0; trial < 200; ++trial) {
      ArgSpec spec{"x", types[trial % 4], {}, {}};
      const int rank = static_cast<int>(rng.range(1, 4));
      for (int d = 0; d < rank; ++d) spec.shape.push_back(rng.range(1, 9));
      // Outer pieces in a random order, then inner ones in a random order.
      std::vector<int> dims(rank);
      for (int d = 0; d < rank; ++d) dims[d] = d;
      for (int d = rank - 1; d > 0; --d) std::swap(dims[d], dims[rng.uniform(d + 1)]);
      for (const int d : dims) spec.layout.push_back({d, 0});
      for (int64_t n = rng.range(0, 3); n > 0; --n) spec.layout.push_back({static_cast<int>(rng.uniform(rank)), rng.range(1, 5)});
      QVERIFY(check_layout(spec).has_value());

      const HostArray row = counting(spec.dtype, spec.shape);
      std::vector<std::byte> packed(spec.physical_bytes(), std::byte{0xee});
      pack_layout(spec, row.data.data(), packed.data());
      const std::vector<int64_t> positions = expected_positions(spec);
      HostArray view{spec.dtype, {static_cast<int64_t>(positions.size())}, packed};
      for (size_t i = 0; i < positions.size(); ++i) {
        const double want = positions[i] < 0 ? 0 : row.get(positions[i]);
        QCOMPARE(view.get(static_cast<int64_t>(i)), want);
      }
      HostArray back = HostArray::make(spec.dtype, spec.shape);
      unpack_layout(spec, packed.data(), back.data.data());
      QCOMPARE(back.data, row.data);
    }
  }

  void row_major_and_scalars_are_copied() {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, std::vector<int64_t>{3, 4}, std::vector<int64_t>{0, 4}}) {
      const ArgSpec spec{"x", kInt32, shape, {}};
      const HostArray row = counting(kInt32, shape);
      std::vector<std::byte> packed(spec.physical_bytes());
      pack_layout(spec, row.data.data(), packed.data());
      QCOMPARE(packed, row.data);
    }
  }

  void signatures_round_trip() {
    const KernelSignature s{"k0", {{"x", kFloat16, {1, 20, 7}, {{0, 0}, {1, 0}, {2, 0}, {1, 8}}, true, false}, {"y", kBool, {}, {}, false, true}}};
    const auto back = signature_from_json(to_json(s));
    QVERIFY2(back.has_value(), back ? "" : back.error().text().c_str());
    QCOMPARE(back->name, s.name);
    QVERIFY(back->args == s.args);
  }

  void bad_signatures_are_refused() {
    const Json good = to_json(ArgSpec{"x", kFloat32, {4, 4}, {{0, 0}, {1, 0}, {0, 2}}});
    QVERIFY(arg_spec_from_json(good).has_value());
    const auto refused = [&](const char* key, const Json& value) {
      Json bad = good;
      bad[key] = value;
      return !arg_spec_from_json(bad).has_value();
    };
    QVERIFY(refused("dtype", "float31"));
    QVERIFY(refused("dtype", "float32x4"));
    QVERIFY(refused("shape", Json::array({-1, 4})));
    QVERIFY(refused("shape", Json::array({int64_t{1} << 40, int64_t{1} << 40})));
    QVERIFY(refused("layout", Json::parse("[[0,0],[2,0]]")));
    QVERIFY(refused("layout", Json::parse("[[0,0],[1,0],[1,0]]")));
    QVERIFY(refused("layout", Json::parse("[[0,2],[0,0],[1,0]]")));
    QVERIFY(refused("layout", Json::parse("[[0,0]]")));
    QVERIFY(refused("layout", Json::parse("[[0,0],[1,0],[1,-3]]")));
    QVERIFY(refused("constant", 1));
  }
};

QTEST_APPLESS_MAIN(ArtifactTest)
#include "artifact_test.moc"
