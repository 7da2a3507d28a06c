// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/exercise.h"

#include <QtTest>

#include "engine/ir/lexer.h"

using namespace tw;

namespace {

std::string reversal(const std::string& barrier, const std::string& index = "63 - x", const std::string& extent = "64") {
  return "@T.prim_func\ndef reversal(A: T.Buffer((" + extent + ",), \"float32\"), C: T.Buffer((64,), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n" +
         "    t = T.alloc_buffer((64,), \"float32\", scope=\"shared\")\n    for x in T.thread_binding(64, thread=\"threadIdx.x\"):\n        t[x] = A[x]\n" + barrier + "        C[x] = t[" + index + "]\n";
}
const std::string kBarrier = "        T.tvm_storage_sync(\"shared\")\n";

}  // namespace

class ExerciseTest : public QObject {
  Q_OBJECT
  static void fails(const std::string& text, ErrorCode code, const char* message) {
    const auto done = lesson::run_exercise(text, reversal(kBarrier));
    QVERIFY(!done);
    QVERIFY2(done.error().code == code && done.error().text().find(message) != std::string::npos, done.error().text().c_str());
  }

 private Q_SLOTS:
  void theSolutionIsRight() {
    const auto done = lesson::run_exercise(reversal(kBarrier), reversal(kBarrier));
    QVERIFY2(done.has_value(), done ? "" : done.error().text().c_str());
  }
  void whatIsWrong() {
    fails(reversal(""), ErrorCode::wrong_result, "another thread");
    fails(reversal(kBarrier, "x"), ErrorCode::wrong_result, "Expected element 0 of 'C'");
    fails(reversal(kBarrier, "64 - x"), ErrorCode::wrong_result, "64");
    fails(reversal("        if x < 3:\n            T.tvm_storage_sync(\"shared\")\n"), ErrorCode::wrong_result, "meet at a barrier");
    fails(reversal(kBarrier, "63 - x", "65"), ErrorCode::invalid_argument, "parameters");
    fails(reversal(kBarrier + "        T.tvm_storage_sync(\n"), ErrorCode::parse_error, "Expected");
    fails("", ErrorCode::parse_error, "Expected");
  }
  void hostileTexts() {
    fails(reversal(kBarrier + "        u = T.alloc_buffer((1073741824,), \"float32\", scope=\"local\")\n"), ErrorCode::resource_limit, "4 MiB");
    fails(reversal(kBarrier + "        u = T.alloc_buffer((4294967296, 4294967296,), \"float32\", scope=\"local\")\n"), ErrorCode::parse_error, "2^48");
    std::string many = reversal(kBarrier);
    many.replace(many.find("T.thread_binding(64"), 19, "T.thread_binding(999999");
    fails(many, ErrorCode::resource_limit, "4096");
    QElapsedTimer timer;
    timer.start();
    fails(reversal(kBarrier + "        for i in T.serial(1000000000):\n            t[x] = A[x]\n" + kBarrier), ErrorCode::timeout, "5 seconds");
    QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));
  }
  void stops() {
    StopSource stop;
    stop.request_stop();
    const auto done = lesson::run_exercise(reversal(kBarrier), reversal(kBarrier), stop.get_token());
    QVERIFY(!done);
  }
  void aWrongSolutionIsOurs() { QCOMPARE(lesson::run_exercise(reversal(kBarrier), reversal("")).error().code, ErrorCode::internal); }
};

QTEST_APPLESS_MAIN(ExerciseTest)
#include "exercise_test.moc"
