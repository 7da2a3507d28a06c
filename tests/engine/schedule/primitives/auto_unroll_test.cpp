// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using namespace tw::schedule;

namespace {

std::string text(std::vector<Step> steps) { return tir::print(lower::lower(Schedule::replay(row_sums(), steps).value(), "f").value()); }

}  // namespace

class AutoUnrollTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// What is computed inside counts too, unless it has a number of its own.
  void loops_of_the_stage_and_inside_get_the_number() {
    const std::string inside = text({ComputeAtStep{1, 2, 0}, AutoUnrollStep{2, 16}});
    QVERIFY(has(inside, "T.serial(6, auto_unroll=16)"));
    QVERIFY(has(inside, "T.serial(7, auto_unroll=16)"));
    const std::string own = text({ComputeAtStep{1, 2, 0}, AutoUnrollStep{2, 16}, AutoUnrollStep{1, 64}});
    QVERIFY(has(own, "T.serial(6, auto_unroll=16)"));
    QVERIFY(has(own, "T.serial(7, auto_unroll=64)"));
    QVERIFY(text({AutoUnrollStep{2, 16}}).find("T.serial(7, auto_unroll") == std::string::npos);
  }
  void loops_are_written_out_up_to_it() {
    Builder b(row_sums());
    const Schedule s = std::move(b).finish().value().apply(AutoUnrollStep{1, 4}).value();
    const std::string text = tir::print(lower::lower_and_optimize(s, "f", Target()).value());
    QVERIFY(text.find("T.serial(4)") == std::string::npos);
    QVERIFY(has(text, "T.serial(7)"));
  }
  void refusals() {
    const Schedule s(row_sums());
    QVERIFY(has(s.apply(AutoUnrollStep{0, 16}).error().text(), "Expected a computed stage for 'auto_unroll', found the placeholder 'x'"));
    QVERIFY(has(s.apply(AutoUnrollStep{1, -1}).error().text(), "Expected at least 0 stores for 'auto_unroll', found -1"));
    const auto read = [](const char* json) { return step_from_json(*parse_json(json)); };
    QVERIFY(has(read(R"(["PR", 1, 2, "auto_unroll_max_step$16"])").error().text(), "Expected a pragma on the first loop of a stage, found it on loop 2"));
    QVERIFY(has(read(R"(["PR", 1, 0, "debug_skip_region"])").error().text(), "Expected the pragma 'auto_unroll_max_step$N', found 'debug_skip_region'"));
    QVERIFY(has(read(R"(["PR", 1, 0, "auto_unroll_max_step$x"])").error().text(), "Expected the pragma 'auto_unroll_max_step$N'"));
  }
};

QTEST_APPLESS_MAIN(AutoUnrollTest)
#include "auto_unroll_test.moc"
