// SPDX-License-Identifier: Apache-2.0
#include "engine/records/task.h"

#include <QtTest>

using namespace tw;
using namespace tw::records;

namespace {

te::DagPtr dense(const std::string& prefix, int64_t k) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder(prefix + "x", {4, k}, kFloat32), w = b.placeholder(prefix + "w", {8, k}, kFloat32, te::Role::constant);
  return std::move(b).finish({b.reduce(
      prefix + "y", {4, 8}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense")});
}

Target cpu(const std::string& name, int cores = 2) {
  Target t;
  t.cpu = name;
  t.cores = cores;
  return t;
}

}  // namespace

class TaskTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void names_are_no_part_of_the_key() { QCOMPARE(make_task("a", dense("", 16), cpu("znver4")).key, make_task("b", dense("other_", 16), cpu("znver4")).key); }
  void shapes_and_targets_are() {
    const std::string key = make_task("a", dense("", 16), cpu("znver4")).key;
    QCOMPARE(key.size(), size_t{32});
    QVERIFY(make_task("a", dense("", 32), cpu("znver4")).key != key);
    QVERIFY(make_task("a", dense("", 16), cpu("skylake-avx512")).key != key);
    QVERIFY(make_task("a", dense("", 16), cpu("znver4", 1)).key != key);
  }
  void the_key_survives_the_text_form() {
    const Task task = make_task("a", dense("", 16), cpu("znver4"));
    const auto dag = te::parse_dag(te::print(*task.dag));
    const auto target = parse_target(task.target.str());
    QVERIFY(dag && target);
    QCOMPARE(make_task("again", *dag, *target).key, task.key);
  }
  void operations_are_counted() { QCOMPARE(make_task("a", dense("", 16), cpu("znver4")).flops, 2 * 4 * 8 * 16); }
};

QTEST_APPLESS_MAIN(TaskTest)
#include "task_test.moc"
