// SPDX-License-Identifier: Apache-2.0
#include "engine/space/knobs/annotate.h"
#include "engine/base/json.h"

#include <QtTest>
#include <cmath>

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
  void bindings_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<int>("axes");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* policy, int axes, const char* words) { QTest::addRow("%s of %d", policy, axes) << policy << axes << words; };
    row("bind_gpu", 2, "blockIdx.x threadIdx.x");
    row("bind_gpu", 3, "fuse blockIdx.x threadIdx.x");
    row("bind_gpu", 4, "blockIdx.y blockIdx.x threadIdx.y threadIdx.x");
    row("bind_gpu", 5, "fuse blockIdx.y blockIdx.x threadIdx.y threadIdx.x");
    row("bind_gpu", 6, "blockIdx.z blockIdx.y blockIdx.x threadIdx.z threadIdx.y threadIdx.x");
    row("bind_gpu", 8, "fuse fuse blockIdx.z blockIdx.y blockIdx.x threadIdx.z threadIdx.y threadIdx.x");
    row("bind_gpu_virtual", 3, "blockIdx.x vthread threadIdx.x");
    row("bind_gpu_virtual", 5, "fuse fuse blockIdx.x vthread threadIdx.x");
    row("bind_gpu_virtual", 6, "blockIdx.y blockIdx.x vthread vthread threadIdx.y threadIdx.x");
    row("bind_gpu_virtual", 8, "fuse fuse blockIdx.y blockIdx.x vthread vthread threadIdx.y threadIdx.x");
    row("bind_gpu_virtual", 9, "blockIdx.z blockIdx.y blockIdx.x vthread vthread vthread threadIdx.z threadIdx.y threadIdx.x");
    row("bind_gpu_virtual", 10, "fuse blockIdx.z blockIdx.y blockIdx.x vthread vthread vthread threadIdx.z threadIdx.y threadIdx.x");
  }
  void bindings() {
    QFETCH(QString, policy);
    QFETCH(int, axes);
    const Lists found = annotations(axes, {.policy = policy.toStdString()});
    QCOMPARE(found.size(), size_t{1});
    QStringList words;
    for (const std::string& w : found[0]) words << QString::fromStdString(w);
    QTEST(words.join(' '), "words");
  }
  void counts_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<int>("words");
    QTest::addColumn<bool>("vec");
    QTest::newRow("none") << "none" << 1 << false;
    QTest::newRow("unroll") << "unroll" << 1 << false;
    QTest::newRow("vec") << "vec" << 1 << true;
    QTest::newRow("try_unroll") << "try_unroll" << 2 << false;
    QTest::newRow("try_vec") << "try_vec" << 2 << true;
    QTest::newRow("try_unroll_vec") << "try_unroll_vec" << 3 << true;
    QTest::newRow("try_vec_unroll") << "try_vec_unroll" << 3 << true;
  }
  /// t words over n axes, at most one of which is a vector: t^n without that word, else (t - 1)^n + n (t - 1)^(n - 1).
  void counts() {
    QFETCH(QString, policy);
    QFETCH(int, words);
    QFETCH(bool, vec);
    for (int n = 1; n <= 4; ++n) {
      const double t = words, others = t - 1;
      const double expected = vec ? std::pow(others, n) + n * std::pow(others, n - 1) : std::pow(t, n);
      QCOMPARE(annotations(n, {.policy = policy.toStdString()}).size(), static_cast<size_t>(expected));
    }
  }
  void locate_cache_chooses_axes() {
    QCOMPARE(annotations(3, {.policy = "locate_cache", .num_anchor = 2}), (Lists{{"0", "1"}, {"0", "2"}, {"1", "2"}}));
    ConfigSpace s;
    s.define_annotate("at", 3, AnnotateOptions{.policy = "locate_cache", .num_anchor = 2});
    QCOMPARE(s.get(1)->json_text(), std::string(R"([["at","an",[0,2]]])"));
    QCOMPARE(s.from_json(s.get(1)->json_text())->index(), 1);
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
