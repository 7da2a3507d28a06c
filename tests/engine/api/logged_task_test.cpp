// SPDX-License-Identifier: Apache-2.0
#include "engine/api/logged_task.h"

#include <QtTest>

#include "engine/api/log_trials.h"
#include "engine/base/json.h"
#include "engine/records/autotvm_log.h"
#include "engine/records/autotvm_task.h"
#include "engine/space/template.h"

using namespace tw;

namespace {

records::AutotvmRecord logged(const char* name, const char* args, const char* target = "llvm -mcpu=core-avx2") {
  records::AutotvmRecord r;
  r.target = target;
  r.name = name;
  r.args = dump_json(Json::parse(args));
  return r;
}

constexpr const char* kConvArguments = R"([["TENSOR",[1,16,14,14],"float32"],["TENSOR",[32,16,3,3],"float32"],[1,1],[1,1,1,1],[1,1],"NCHW","NCHW","float32"])";

}  // namespace

class LoggedTaskTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void computations_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("args");
    QTest::addColumn<qlonglong>("flops");
    QTest::newRow("dense") << "dense_pack.x86"
                           << R"([["TENSOR",[4,64],"float32"],["TENSOR",[32,64],"float32"],null,"float32"])" << 2LL * 4 * 32 * 64;
    QTest::newRow("nopack") << "dense_nopack.x86"
                            << R"([["TENSOR",[4,64],"float32"],["TENSOR",[32,64],"float32"],null,"float32"])" << 2LL * 4 * 32 * 64;
    QTest::newRow("conv") << "conv2d_NCHWc.x86" << kConvArguments << 2LL * 14 * 14 * 32 * 16 * 9;
    QTest::newRow("depthwise") << "depthwise_conv2d_NCHWc.x86"
                               << R"([["TENSOR",[1,16,14,14],"float32"],["TENSOR",[16,1,3,3],"float32"],[2,2],[1,1,1,1],[1,1],"NCHW","NCHW","float32"])"
                               << 2LL * 7 * 7 * 16 * 9;
    QTest::newRow("batched") << "batch_matmul.x86"
                             << R"([["TENSOR",[2,8,16],"float32"],["TENSOR",[2,16,4],"float32"],[2,8,4],"float32",0,0])" << 2LL * 2 * 8 * 16 * 4;
    QTest::newRow("transposed") << "batch_matmul.x86"
                                << R"([["TENSOR",[2,8,16],"float32"],["TENSOR",[2,4,16],"float32"],[2,8,4],"float32",false,true])" << 2LL * 2 * 8 * 16 * 4;
  }
  void computations() {
    QFETCH(QString, name);
    QFETCH(QString, args);
    QFETCH(qlonglong, flops);
    const auto r = logged(qPrintable(name), qPrintable(args));
    const auto task = api::logged_task(r, Target{});
    QVERIFY2(task, task ? "" : task.error().text().c_str());
    QCOMPARE(task->flops, flops);
    QVERIFY(records::same_workload(records::autotvm_task(*task->dag, task->target), r.name, records::args_of(r)));
  }

  void computationsForGpus_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("args");
    QTest::addColumn<qlonglong>("flops");
    const char* image = R"([["TENSOR",[1,16,14,14],"float32"],["TENSOR",[32,16,3,3],"float32"],[1,1],[1,1,1,1],[1,1],"float32"])";
    QTest::newRow("conv") << "conv2d_nchw.cuda" << image << 2LL * 14 * 14 * 32 * 16 * 9;
    QTest::newRow("Winograd") << "conv2d_nchw_winograd.cuda" << image << 2LL * 14 * 14 * 32 * 16 * 9;
    QTest::newRow("channels last") << "conv2d_nhwc.gpu"
                                   << R"([["TENSOR",[1,14,14,16],"float32"],["TENSOR",[3,3,16,32],"float32"],[1,1],[1,1,1,1],[1,1],"float32"])"
                                   << 2LL * 14 * 14 * 32 * 16 * 9;
    QTest::newRow("depthwise, channels last") << "depthwise_conv2d_nhwc.cuda"
                                              << R"([["TENSOR",[1,14,14,16],"float32"],["TENSOR",[3,3,16,2],"float32"],[2,2],[1,1,1,1],[1,1],"float32"])"
                                              << 2LL * 7 * 7 * 32 * 9;
    QTest::newRow("line") << "conv1d_ncw.cuda"
                          << R"([["TENSOR",[1,16,20],"float32"],["TENSOR",[8,16,3],"float32"],[1],[1,1],[1],"float32"])" << 2LL * 20 * 8 * 16 * 3;
    QTest::newRow("dense") << "dense_small_batch.gpu"
                           << R"([["TENSOR",[1,2048],"float32"],["TENSOR",[1000,2048],"float32"],null,"float32"])" << 2LL * 1000 * 2048;
    QTest::newRow("batched") << "batch_matmul.cuda"
                             << R"([["TENSOR",[12,128,128],"float32"],["TENSOR",[12,64,128],"float32"],[12,128,64],null,0,1])" << 2LL * 12 * 128 * 128 * 64;
  }
  void computationsForGpus() {
    QFETCH(QString, name);
    QFETCH(QString, args);
    QFETCH(qlonglong, flops);
    const Target gpu = parse_target("cuda:t4").value();
    const auto r = logged(qPrintable(name), qPrintable(args), "cuda -model=t4");
    const auto task = api::logged_task(r, gpu);
    QVERIFY2(task, task ? "" : task.error().text().c_str());
    QCOMPARE(task->flops, flops);
    QVERIFY(space::find_template(*task->dag, gpu, r.name));
    QVERIFY(!api::logged_task(r, Target{}));
  }

  void whatCannotBeToldIsRefused() {
    for (const auto& r :
         {logged("winograd.x86", kConvArguments), logged("conv2d_NCHWc.x86", "[1,2]"), logged("conv2d_NCHWc.x86", kConvArguments, "cuda -model=v100"),
          logged("dense_pack.x86", R"([["TENSOR",[4,64],"float32"],["TENSOR",[32,65],"float32"],null,"float32"])"),
          logged("dense_pack.x86", R"([["TENSOR",[4,9223372036854775807],"float32"],["TENSOR",[32,64],"float32"],null,"float32"])"),
          logged("dense_pack.x86", R"([["TENSOR",[4,-64],"float32"],["TENSOR",[32,64],"float32"],null,"float32"])"), logged("dense_pack.x86", "[]")})
      QVERIFY(!api::logged_task(r, Target{}));
  }

  void aLogOfAnotherProgramNeedsNoNetwork() {
    const std::string text =
        R"({"input": ["llvm", "dense_pack.x86", [["TENSOR", [4, 64], "float32"], ["TENSOR", [32, 64], "float32"], null, "float32"], {}], )"
        R"("config": {"index": 0, "code_hash": null, "entity": [["tile_y", "sp", [-1, 1, 4]], ["tile_x", "sp", [-1, 1, 16]], ["tile_k", "sp", [-1, 8]], )"
        R"(["tile_inner", "sp", [-1, 1]]]}, "result": [[0.001], 0, 0.5, 1600000000.0], "version": 0.2, "tvm_version": "0.9.0"})";
    const auto log = records::read_autotvm(text);
    QCOMPARE(log.records.size(), size_t{1});
    QVERIFY(api::match_log(log, {}, "a").tasks.empty());
    const Target target;
    const auto found = api::match_log(log, {}, "a", &target);
    QVERIFY2(found.problems.empty(), found.problems.empty() ? "" : found.problems[0].reason.c_str());
    QCOMPARE(found.tasks.size(), size_t{1});
    QCOMPARE(found.tasks[0].records[0].candidate.space, std::string("dense_pack.x86"));
  }
};

QTEST_APPLESS_MAIN(LoggedTaskTest)
#include "logged_task_test.moc"
