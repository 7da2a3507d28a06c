// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/schedule/primitives/primitive_cases.h"

using namespace tw;
using namespace tw::testing;
using schedule::Annotation;
using schedule::Builder;

class StorageAlignTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void leaves_gaps() {
    Builder b(matrix_product());
    const int cache = b.cache_read(1, {2}, "global");
    b.storage_align(cache, b.loops(cache)[0], 16, 3);
    const std::string text = lowered(std::move(b));
    QVERIFY(has(text, "T.alloc_buffer((152,)"));  // 8 rows of 12, 19 apart
    QVERIFY(has(text, " * 19 + "));
  }

  void refusals() {
    Builder output(matrix_product());
    output.storage_align(2, output.loops(2)[0], 16, 0);
    QVERIFY(has(refusal(std::move(output)), "Expected a stage that is no output for 'storage_align', found 'c'"));
    Builder reduction(matrix_product());
    reduction.storage_align(2, reduction.loops(2)[2], 16, 0);
    QVERIFY(has(refusal(std::move(reduction)), "found the reduction axis 'r0' of stage 'c'"));
    Builder split(matrix_product());
    const auto part = split.split(2, split.loops(2)[0], {2});
    split.storage_align(2, part[0], 16, 0);
    QVERIFY(has(refusal(std::move(split)), "Expected a loop over a whole axis"));
    Builder offset(row_sums());
    offset.storage_align(1, offset.loops(1)[0], 4, 4);
    QVERIFY(has(refusal(std::move(offset)), "Expected a factor of 1 to 2^20 and an offset below it"));
  }
};

QTEST_APPLESS_MAIN(StorageAlignTest)
#include "storage_align_test.moc"
