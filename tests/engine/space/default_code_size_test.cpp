// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/codegen/code_size.h"
#include "engine/lower/lower.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

/// What is not tuned compiles, whatever its shape: tiles, windows and tests for padding that are written out stay within what the code generator takes.
class DefaultCodeSizeTest : public QObject {
  Q_OBJECT

  struct Shape {
    int rank;
    Dims data, weight, strides, dilations, pads;
    int64_t groups;
    std::string text() const {
      return fmt::format("data {}, weight {}, strides {}, dilations {}, pads {}, groups {}", shape_text(data), shape_text(weight), shape_text(strides),
                         shape_text(dilations), shape_text(pads), groups);
    }
  };

  static Shape random_shape(Rng& rng) {
    Shape s{static_cast<int>(rng.range(1, 3)), {}, {}, {}, {}, {}, 1};
    const auto channels = [&] { return rng.range(0, 2) == 0 ? 16 * rng.range(1, 8) : rng.range(1, 120); };
    const int64_t in = channels(), out = channels();
    if (rng.range(0, 3) == 0) s.groups = rng.range(1, 8);
    s.data = {rng.range(0, 3) == 0 ? 2 : 1, in * s.groups};
    s.weight = {out * s.groups, in};
    for (int d = 0; d < s.rank; ++d) {
      const int64_t taps = rng.range(1, 9), dilation = rng.range(0, 4) == 0 ? rng.range(2, 3) : 1, span = (taps - 1) * dilation + 1;
      s.data.push_back(span + rng.range(0, s.rank == 3 ? 40 : 130));
      s.weight.push_back(taps);
      s.strides.push_back(rng.range(0, 2) == 0 ? rng.range(2, 3) : 1);
      s.dilations.push_back(dilation);
      s.pads.push_back(rng.range(0, 3) == 0 ? 0 : span / 2);
    }
    s.pads.insert(s.pads.end(), s.pads.begin(), s.pads.end());
    return s;
  }

 private Q_SLOTS:
  void convolutions() {
    Rng rng(3);
    for (int k = 0; k < 300; ++k) {
      const Shape s = random_shape(rng);
      const te::DagPtr dag = dag_of([&](Net& n) {
        return n.op("relu", {n.op("conv" + std::to_string(s.rank) + "d", {n.input(s.data), n.weight(s.weight)},
                                  {{"strides", s.strides}, {"dilations", s.dilations}, {"pads", s.pads}, {"groups", s.groups}})});
      });
      for (const char* cpu : {"x86-64-v2", "haswell", "znver4"}) {
        const Target target = parse_target(std::string("llvm -num-cores=2 -mcpu=") + cpu).value();
        const auto f = lower::lower_and_optimize(space::default_schedule(dag, target), "kernel", target);
        const auto small = f ? codegen::check_code_size(*f) : Expected<void>(f.error());
        QVERIFY2(small, fmt::format("{}: {}: {}", cpu, s.text(), small ? "" : small.error().text()).c_str());
      }
    }
  }
};

QTEST_APPLESS_MAIN(DefaultCodeSizeTest)
#include "default_code_size_test.moc"
