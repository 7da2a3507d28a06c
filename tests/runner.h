// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>
#include <functional>

/// The tests of a layer are one program, which takes the path of a file below tests/ without `.cpp`, or as much of its end as no other has, and Qt Test's
/// arguments: t_engine_tune finals_test -v1.
/// Test files end with Qt Test's own QTEST_MAIN, QTEST_GUILESS_MAIN or QTEST_APPLESS_MAIN, which this header makes entries of that program's table; the
/// compiler reads it before each of them.
namespace tw::test_runner {

enum class Application { none, core, gui };

/// Enters a test class into the table. `file` is its source file's path.
struct TestEntry {
  TestEntry(const char* file, Application application, std::function<int(int, char**)> run);
};

template <class Test>
int run_test(int argc, char** argv) {
  Test test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace tw::test_runner

#undef QTEST_MAIN
#undef QTEST_GUILESS_MAIN
#undef QTEST_APPLESS_MAIN
#define TW_TEST_ENTRY(Test, application) \
  static const tw::test_runner::TestEntry Test##Entry(__FILE__, tw::test_runner::Application::application, tw::test_runner::run_test<Test>);
#define QTEST_MAIN(Test) TW_TEST_ENTRY(Test, gui)
#define QTEST_GUILESS_MAIN(Test) TW_TEST_ENTRY(Test, core)
#define QTEST_APPLESS_MAIN(Test) TW_TEST_ENTRY(Test, none)
