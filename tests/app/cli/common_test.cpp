// SPDX-License-Identifier: Apache-2.0
#include "app/cli/common.h"

#include <unistd.h>

#include <cmath>
#include <limits>

#include "app/cli/conformance.h"
#include "app/cli/table.h"
#include "app/cli/tensors.h"
#include "engine/base/json.h"
// Qt's word `slots` is a member of ours, so its headers come last.
#include <QTemporaryDir>
#include <QtTest>

using namespace tw;
using namespace tw::cli;

/// What the subcommands share.
class CommonTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:

  void dims() {
    QCOMPARE(import_options({"N=3", "seq=128"}).value().dims.at("seq"), int64_t{128});
    QCOMPARE(import_options({"past=0"}).value().dims.at("past"), int64_t{0});  // a cache that is empty
    for (const char* text : {"N", "=3", "N=", "N=-1", "N=2x"}) QVERIFY2(!import_options({text}).has_value(), text);
  }

  void inputs_may_have_any_name() {
    const std::vector<std::string> names{"a", "a=b", "x"};
    QCOMPARE(input_name("a=b=e.npy", names), std::string("a=b"));
    QCOMPARE(input_name("a=e.npy", names), std::string("a"));
    QCOMPARE(input_name("y=e.npy", names), std::string("y"));
  }

  void exit_codes() {
    QCOMPARE(exit_code(Error(ErrorCode::invalid_argument, "")), 2);
    QCOMPARE(exit_code(Error(ErrorCode::corrupt, "")), 3);
    QCOMPARE(exit_code(Error(ErrorCode::version, "")), 3);
    QCOMPARE(exit_code(Error(ErrorCode::no_space, "")), 1);
    QCOMPARE(exit_code(Error(ErrorCode::cancelled, "")), 130);
  }

  void files_are_replaced_whole() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("a").toStdString();
    QVERIFY(write_file(path, kAnyOutput, "one").has_value());
    QVERIFY(write_file(path, kAnyOutput, "two").has_value());
    QCOMPARE(read_file(path).value(), std::string("two"));
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 1);
    QVERIFY(write_file(folder.filePath("no/such/folder").toStdString(), kAnyOutput, "x").error().code == ErrorCode::not_found);
    QVERIFY(!read_file(folder.path().toStdString()).has_value());
  }

  void a_full_disk_leaves_the_old_file() {
    if (access("/dev/full", W_OK) != 0) QSKIP("no /dev/full here");
    const auto r = write_file("/dev/full/x", kAnyOutput, "data");
    QVERIFY(!r.has_value());
  }

  void table_aligns() {
    Table t({"name", ">n"});
    t.row({"a", "1"});
    t.row({"long name", "200"});
    QCOMPARE(t.text(), std::string("name         n\na            1\nlong name  200\n"));
  }

  void table_escapes_control_characters() {
    Table t({"x"});
    t.row({"a\x1b[31mb"});
    QVERIFY(t.text().find('\x1b') == std::string::npos);
  }

  void comparison_of_elements() {
    HostArray want = HostArray::make(kFloat32, {3}), got = want;
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    want.set(0, nan), got.set(0, nan);
    want.set(1, inf), got.set(1, inf);
    want.set(2, 1000), got.set(2, 1000.5);
    QVERIFY(compare_elements(got, want, {}).wrong.empty());
    got.set(2, 1002);
    QVERIFY(compare_elements(got, want, {}).wrong.find("Element 2") != std::string::npos);
    got.set(2, 1000);
    got.set(1, -inf);
    QVERIFY(!compare_elements(got, want, {}).wrong.empty());
    got.set(1, inf);
    got.set(0, 0);
    QVERIFY(!compare_elements(got, want, {}).wrong.empty());
  }

  void integers_are_exact() {
    HostArray want = HostArray::make(kInt64, {1}), got = want;
    want.set_int(0, (int64_t{1} << 60) + 1);
    got.set_int(0, int64_t{1} << 60);
    QVERIFY(!compare_elements(got, want, {}).wrong.empty());
    QVERIFY(!compare_elements(HostArray::make(kInt32, {1}), want, {}).wrong.empty());
  }

  void case_results_survive_json() {
    const CaseResult r{"x", "wrong", "Element 0 is 1, expected 2", 1, 0.5};
    const CaseResult back = case_from_json(to_json(r));
    QCOMPARE(back.status, r.status);
    QCOMPARE(back.reason, r.reason);
    QCOMPARE(back.max_abs, 1.0);
  }

  void cases_are_found() {
    QTemporaryDir folder;
    QDir(folder.path()).mkpath("tree/b/test_data_set_0");
    QDir(folder.path()).mkpath("tree/a");
    for (const char* f : {"tree/a/model.onnx", "tree/b/model.onnx"}) QVERIFY(write_file(folder.filePath(f).toStdString(), kAnyOutput, "x").has_value());
    const auto cases = find_cases(folder.path().toStdString());
    QCOMPARE(cases.value().size(), size_t{2});
    QVERIFY(cases.value()[0].ends_with("/a"));
    QCOMPARE(find_cases(folder.filePath("tree/a").toStdString()).value().size(), size_t{1});
    QVERIFY(find_cases(folder.filePath("tree/b/test_data_set_0").toStdString()).error().code == ErrorCode::not_found);
  }
};

QTEST_APPLESS_MAIN(CommonTest)
#include "common_test.moc"
