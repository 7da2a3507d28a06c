// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"
#include "engine/space/knobs/annotate.h"

#include <QtTest>

using namespace tw;
using namespace tw::space;

namespace {

using Lists = std::vector<std::vector<std::string>>;

Lists annotations(int num_axes, const AnnotateOptions& options) {
  Lists result;
  for (const KnobValue& v : enumerate_annotate(num_axes, options)) result.push_back(v.annotate);
  return result;
}

}  // namespace

class AnnotateTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void axis_zero_varies_slowest() {
    QCOMPARE(annotations(2, {.policy = "try_unroll"}), (Lists{{"none", "none"}, {"none", "unroll"}, {"unroll", "none"}, {"unroll", "unroll"}}));
  }
  void at_most_one_axis_is_vectorised() {
    QCOMPARE(annotations(2, {.policy = "try_vec"}), (Lists{{"none", "none"}, {"none", "vec"}, {"vec", "none"}}));
    for (int n = 1; n <= 5; ++n) {
      // (t - 1)^n + n (t - 1)^(n - 1) with t = 3
      const size_t expected = (size_t{1} << n) + static_cast<size_t>(n) * (size_t{1} << (n - 1));
      QCOMPARE(annotations(n, {.policy = "try_unroll_vec"}).size(), expected);
    }
  }
  void words_keep_their_order() { QCOMPARE(annotations(1, {.policy = "try_vec_unroll"}), (Lists{{"none"}, {"vec"}, {"unroll"}})); }
  void single_words() { QCOMPARE(annotations(2, {.policy = "unroll"}), (Lists{{"unroll", "unroll"}})); }
  void bind_gpu() {
    QCOMPARE(annotations(2, {.policy = "bind_gpu"}), (Lists{{"blockIdx.x", "threadIdx.x"}}));
    QCOMPARE(annotations(5, {.policy = "bind_gpu"}), (Lists{{"fuse", "blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"}}));
    QCOMPARE(annotations(7, {.policy = "bind_gpu"}), (Lists{{"fuse", "blockIdx.z", "blockIdx.y", "blockIdx.x", "threadIdx.z", "threadIdx.y", "threadIdx.x"}}));
  }
  void bind_gpu_virtual() {
    QCOMPARE(annotations(4, {.policy = "bind_gpu_virtual"}), (Lists{{"fuse", "blockIdx.x", "vthread", "threadIdx.x"}}));
    QCOMPARE(annotations(6, {.policy = "bind_gpu_virtual"}), (Lists{{"blockIdx.y", "blockIdx.x", "vthread", "vthread", "threadIdx.y", "threadIdx.x"}}));
    QCOMPARE(annotations(9, {.policy = "bind_gpu_virtual"})[0][5], std::string("vthread"));
  }
  void locate_cache_chooses_axes() {
    QCOMPARE(annotations(3, {.policy = "locate_cache", .num_anchor = 2}), (Lists{{"0", "1"}, {"0", "2"}, {"1", "2"}}));
    ConfigSpace s;
    s.define_annotate("at", 3, AnnotateOptions{.policy = "locate_cache", .num_anchor = 2});
    QCOMPARE(dump_json(s.get(1)->to_json()), std::string(R"([["at","an",[0,2]]])"));
    QCOMPARE(s.from_json(s.get(1)->to_json())->index(), 1);
  }
  void wrong_use_is_a_bug() {
    QVERIFY_EXCEPTION_THROWN(annotations(1, {.policy = "bind_gpu"}), InternalError);
    QVERIFY_EXCEPTION_THROWN(annotations(2, {.policy = "bind_gpu_virtual"}), InternalError);
    QVERIFY_EXCEPTION_THROWN(annotations(2, {.policy = "try_fast"}), InternalError);
    QVERIFY_EXCEPTION_THROWN(annotations(2, {.policy = "locate_cache", .num_anchor = 3}), InternalError);
  }
};

QTEST_APPLESS_MAIN(AnnotateTest)
#include "annotate_test.moc"
