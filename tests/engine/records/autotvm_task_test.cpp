// SPDX-License-Identifier: Apache-2.0
#include "engine/records/autotvm_task.h"
#include "engine/base/json.h"

#include <QtTest>

using namespace tw;
using namespace tw::records;
using te::Indices;

namespace {

/// A padded convolution of [1, 8, 14, 14] with `groups`, tagged as the operators tag it.
te::DagPtr conv_dag(const std::string& tag, int64_t groups) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 8, 14, 14}, kFloat32), w = b.placeholder("w", {16, 8 / groups, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor bias = b.placeholder("bias", {16}, kFloat32, te::Role::constant);
  const te::Tensor padded = b.compute(
      "pad", {1, 8, 16, 16}, [&](const Indices& i) { return x.at(i); }, "pad");
  const te::Tensor y =
      b.reduce(tag, {1, 16, 7, 7}, {8 / groups, 3, 3}, te::Reducer::sum,
               [&](const Indices& s, const Indices& r) { return padded(s[0], r[0], s[2] * 2 + r[1], s[3] * 2 + r[2]) * w(s[1], r[0], r[1], r[2]); }, tag,
               {{"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}, {"dilations", {1, 1}}, {"groups", {groups}}});
  return std::move(b).finish({b.compute("add", y.shape(), [&](const Indices& i) { return y.at(i) + bias(i[1]); })});
}

std::string text(const te::Dag& dag, const Target& target = {}) {
  const AutotvmTask t = autotvm_task(dag, target);
  std::string names;
  for (const std::string& name : t.names) names += name + " ";
  return names + dump_json(t.args);
}

}  // namespace

namespace {

te::DagPtr conv3d_dag() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 4, 6, 7, 8}, kFloat32), w = b.placeholder("w", {8, 4, 3, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor y =
      b.reduce("y", {1, 8, 4, 5, 6}, {4, 3, 3, 3}, te::Reducer::sum,
               [&](const Indices& s, const Indices& r) { return x(s[0], r[0], s[2] + r[1], s[3] + r[2], s[4] + r[3]) * w(s[1], r[0], r[1], r[2], r[3]); },
               "conv3d", {{"groups", {1}}});
  return std::move(b).finish({y});
}

}  // namespace

class AutotvmTaskTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void convolutions_take_the_unpadded_input() {
    QCOMPARE(
        text(*conv_dag("conv2d", 1)),
        std::string(R"(conv2d_NCHWc.x86 [["TENSOR",[1,8,14,14],"float32"],["TENSOR",[16,8,3,3],"float32"],[2,2],[1,1,1,1],[1,1],"NCHW","NCHW","float32"])"));
    QCOMPARE(
        text(*conv_dag("depthwise_conv2d", 8)),
        std::string(
            R"(depthwise_conv2d_NCHWc.x86 [["TENSOR",[1,8,14,14],"float32"],["TENSOR",[16,1,3,3],"float32"],[2,2],[1,1,1,1],[1,1],"NCHW","NCHW","float32"])"));
    QCOMPARE(text(*conv3d_dag()),
             std::string(R"(conv3d_ncdhw.x86 [["TENSOR",[1,4,6,7,8],"float32"],["TENSOR",[8,4,3,3,3],"float32"],[1,1,1],[0,0,0,0,0,0],[1,1,1],1,"float32"])"));
    QCOMPARE(text(*conv_dag("grouped_conv2d", 2)),
             std::string(R"(group_conv2d_nchw.x86 [["TENSOR",[1,8,14,14],"float32"],["TENSOR",[16,4,3,3],"float32"],[2,2],[1,1,1,1],[1,1],2,"float32"])"));
  }
  void batch_matmul_has_its_output_shape() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {12, 128, 64}, kFloat32), y = b.placeholder("y", {12, 64, 128}, kFloat32);
    const auto dag = std::move(b).finish({b.reduce(
        "m", {12, 128, 128}, {64}, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x(s[0], s[1], r[0]) * y(s[0], r[0], s[2]); },
        "batch_matmul")});
    QCOMPARE(text(*dag), std::string(R"(batch_matmul.x86 [["TENSOR",[12,128,64],"float32"],["TENSOR",[12,64,128],"float32"],[12,128,128],"float32",0,0])"));
  }
  void workloads_are_the_same_in_other_spellings() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {12, 128, 64}, kFloat32), y = b.placeholder("y", {12, 64, 96}, kFloat32);
    const AutotvmTask t = autotvm_task(*std::move(b).finish({b.reduce(
                                           "m", {12, 128, 96}, {64}, te::Reducer::sum,
                                           [&](const Indices& s, const Indices& r) { return x(s[0], s[1], r[0]) * y(s[0], r[0], s[2]); }, "batch_matmul")}),
                                       Target{});
    const auto same = [&](const char* args) { return same_workload(t, "batch_matmul.x86", Json::parse(args)); };
    QVERIFY(same(R"([["TENSOR",[12,128,64],"float32"],["TENSOR",[12,64,96],"float32"],[12,128,96],"float32",0,0])"));
    QVERIFY(same(R"([["TENSOR",[12,128,64],"float32"],["TENSOR",[12,96,64],"float32"],[12,128,96],null,false,true])"));
    QVERIFY(!same(R"([["TENSOR",[12,128,64],"float32"],["TENSOR",[12,96,64],"float32"],[12,128,96],null,0,0])"));
    QVERIFY(!same(R"([["TENSOR",[12,128,64],"float32"],["TENSOR",[12,64,96],"float32"],[12,128,96],"float16",0,0])"));
    for (const char* args : {"[]", "[1]", "[[],[]]", R"([["TENSOR",[12,128,64],"float32"],["TENSOR",[12],"float32"],[],null,0,1])"}) QVERIFY(!same(args));
    QVERIFY(!same_workload(t, "batch_matmul.cuda", t.args));
  }
  void gpus_have_names_of_their_own() {
    const Target gpu = parse_target("cuda:t4").value();
    const std::string arguments = R"([["TENSOR",[1,8,14,14],"float32"],["TENSOR",[16,8,3,3],"float32"],[2,2],[1,1,1,1],[1,1],"float32"])";
    QCOMPARE(text(*conv_dag("conv2d", 1), gpu), "conv2d_nchw.cuda conv2d_nchw_winograd.cuda " + arguments);
    QCOMPARE(text(*conv_dag("grouped_conv2d", 2), gpu),
             std::string(R"(group_conv2d_nchw.cuda [["TENSOR",[1,8,14,14],"float32"],["TENSOR",[16,4,3,3],"float32"],[2,2],[1,1,1,1],[1,1],2,"float32"])"));
    QCOMPARE(text(*conv3d_dag(), gpu).substr(0, 18), std::string("conv3d_ncdhw.cuda "));
  }
  void others_have_no_name() {
    te::DagBuilder b;
    const te::Tensor x = b.placeholder("x", {4, 8}, kFloat32);
    const te::Tensor m = b.reduce(
        "m", {4}, {8}, te::Reducer::max, [&](const Indices& s, const Indices& r) { return x(s[0], r[0]); }, "max_pool");
    const auto dag = std::move(b).finish({b.compute("y", {4}, [&](const Indices& i) { return m.at(i) + m.at(i); })});
    QCOMPARE(text(*dag), std::string(R"([["TENSOR",[4,8],"float32"]])"));
  }
};

QTEST_APPLESS_MAIN(AutotvmTaskTest)
#include "autotvm_task_test.moc"
