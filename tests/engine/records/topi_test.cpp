// SPDX-License-Identifier: Apache-2.0
#include "engine/records/topi.h"

#include <QtTest>

#include "engine/base/json.h"
#include "engine/base/md5.h"

using namespace tw;
using namespace tw::records;

class TopiTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void keysOfPublishedRecords_data();
  void keysOfPublishedRecords();
  void textsAreTvms();
  void othersAreFoundByWhatTheyCompute();
  void othersAreUnknown();
};

/// Hash and flattened shapes as TVM's records have them.
void TopiTest::keysOfPublishedRecords_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<QString>("ops");
  const auto add = [](const char* key, const char* ops) { QTest::newRow(ops) << key << ops; };
  add(R"(["9847f8cc0b305137f49f2c5c0c8ab25d", 1, 512, 1000, 512, 1000, 1, 1000])", "T_dense T_add");
  add(R"(["d7b65649a4dd54becea0a52aabbc5af5", 1, 1000, 1, 1000])", "T_softmax_maxelem T_softmax_exp T_softmax_expsum T_softmax_norm");
  add(R"(["69115f188984ae34ede37c3b8ca40b43", 1, 7, 7, 2048, 1, 1, 1, 2048])", "tensor tensor_1");
  add(R"(["f4380bb1dc62422a69ad4a1a9771f927", 1, 28, 28, 512, 1, 1, 512, 1024, 1, 14, 14, 1024])", "PaddedInput Conv2dOutput");
  add(R"(["12b88bedece6984af589a28b43e0f3c4", 1, 224, 224, 3, 7, 7, 3, 64, 1, 1, 1, 64, 1, 112, 112, 64])", "PaddedInput Conv2dOutput T_add T_relu");
  add(R"(["1b524af89dd867d26059e1f621cf987c", 1, 14, 14, 256, 1, 1, 256, 1024, 1, 14, 14, 1024, 1, 1, 1, 1024, 1, 14, 14, 1024])",
      "PaddedInput Conv2dOutput T_add T_add_1 T_relu");
  add(R"(["875556d12d0be2269206a7775d5296a6", 1, 7, 7, 512, 1, 1, 512, 2048, 1, 7, 7, 2048, 1, 1, 1, 2048, 1, 1, 1, 2048, 1, 7, 7, 2048])",
      "PaddedInput Conv2dOutput T_add T_multiply T_add_1 T_relu");
  add(R"(["3a69f9fbc63760d99e36b4c17b3bfc57", 1, 7, 7, 512, 4, 4, 512, 512, 1, 1, 1, 512, 1, 7, 7, 512])",
      "data_pad input_tile B data_pack bgemm A inverse conv2d_winograd T_add T_relu");
  add(R"(["3ea73fb9b0364374730d09e068821f95", 1, 56, 56, 64, 6, 6, 64, 64, 1, 56, 56, 64, 1, 56, 56, 64])",
      "data_pad input_tile B data_pack bgemm A inverse conv2d_winograd T_add");
  // TVM 0.16's, from its own task extraction.
  add(R"(["37389210e56d4762627b7bcf9edb56dc", 1, 14, 14, 16, 3, 3, 16, 32, 1, 1, 1, 32, 1, 7, 7, 32, 1, 7, 7, 32])", "pad_temp conv2d_nhwc T_add T_add_1 T_relu");
  add(R"(["386542256404a2bd055df65e0713bc8d", 1, 14, 14, 16, 3, 3, 16, 32, 1, 7, 7, 32])", "pad_temp conv2d_nhwc");
  add(R"(["fa181f391f61b842bf273ba527e4a060", 1, 14, 14, 16, 3, 3, 16, 32, 1, 1, 1, 32, 1, 7, 7, 32])", "pad_temp conv2d_nhwc T_add compute");
  add(R"(["98cde4888c94ec7beaa9972f806856d0", 1, 14, 14, 16, 3, 3, 16, 1, 1, 1, 1, 16, 1, 14, 14, 16])", "PaddedInput DepthwiseConv2d T_add T_relu");
  add(R"(["023dee82f41c4b3ee991e7ec3fe00350", 4, 32, 10, 32, 1, 10, 4, 10])", "T_matmul_NT T_add");
  add(R"(["7d79c516e212fe1d73f5dbb90eaca2cf", 4, 32, 4, 32])", "T_softmax_maxelem T_softmax_exp T_softmax_expsum T_softmax_norm");
  add(R"(["3d479ed97ca20d2da8a12f3813e5f1c3", 1, 14, 14, 16, 1, 1, 1, 16])", "adaptive_pool_sum adaptive_pool_avg");
}

/// The definition that is found gives the key again, with its shapes nested as TVM 0.9 has them.
void TopiTest::keysOfPublishedRecords() {
  QFETCH(QString, key);
  QFETCH(QString, ops);
  const auto dag = topi_definition(key.toStdString());
  QVERIFY2(dag, dag ? "" : dag.error().text().c_str());
  const auto valid = te::verify(**dag);
  QVERIFY2(valid, valid ? "" : valid.error().text().c_str());
  QStringList names;
  for (const te::Op& op : (*dag)->ops)
    if (!op.is_placeholder()) names << QString::fromStdString(op.name);
  QCOMPARE(names.join(' '), ops);
  QCOMPARE(tvm_workload_keys(**dag).size(), size_t{1});
  const std::string again = tvm_workload_keys(**dag).front();
  const Json nested = *parse_json(again), flat = *parse_json(key.toStdString());
  QCOMPARE(nested[0], flat[0]);
  Json numbers = Json::array({nested[0]});
  for (size_t k = 1; k < nested.size(); ++k) numbers.insert(numbers.end(), nested[k].begin(), nested[k].end());
  QCOMPARE(numbers, flat);
  QCOMPARE((*topi_definition(again))->ops.size(), (*dag)->ops.size());
}

void TopiTest::textsAreTvms() {
  const auto dense = topi_definition(R"(["9847f8cc0b305137f49f2c5c0c8ab25d", [1, 512], [1000, 512], [1000], [1, 1000]])");
  QVERIFY(dense);
  QCOMPARE(tvm_text(**dense), std::string("placeholder = PLACEHOLDER \n"
                                          "placeholder = PLACEHOLDER \n"
                                          "T_dense(i, j) += (placeholder[i, k]*placeholder[j, k])\n"
                                          "placeholder = PLACEHOLDER \n"
                                          "T_add(ax0, ax1) = (T_dense[ax0, ax1] + placeholder[ax1])\n"));
}

/// A computation with other names has the keys of all spellings, the latest first; one that is no definition has that of its own text.
void TopiTest::othersAreFoundByWhatTheyCompute() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("rows", {4, 32}, kFloat32), w = b.placeholder("w", {10, 32}, kFloat32, te::Role::constant), bias = b.placeholder("b", {1, 10}, kFloat32);
  const te::Tensor y = b.reduce("layer", {4, 10}, {32}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  const te::Tensor sum = b.compute("sum", {4, 10}, [&](const te::Indices& i) { return y.at(i) + bias(0, i[1]); });
  const auto limited = [&](bool upper_first) {
    te::DagBuilder c = b;
    const auto body = [&](const te::Indices& i) {
      const ir::Expr zero = ir::fimm(kFloat32, 0), six = ir::fimm(kFloat32, 6);
      return upper_first ? ir::max(ir::min(sum.at(i), six), zero) : ir::min(ir::max(sum.at(i), zero), six);
    };
    const te::Tensor out = c.compute("limited", {4, 10}, body);
    return tvm_workload_keys(*std::move(c).finish({out}));
  };
  QCOMPARE(limited(true), limited(false));
  QCOMPARE(limited(true).size(), size_t{2});
  te::DagBuilder doubling = b;
  const te::Tensor twice = doubling.compute("twice", {4, 10}, [&](const te::Indices& i) { return sum.at(i) + sum.at(i); });
  QCOMPARE(tvm_workload_keys(*std::move(doubling).finish({twice})).size(), size_t{1});
  const auto keys = tvm_workload_keys(*std::move(b).finish({sum}));
  QCOMPARE(keys.size(), size_t{2});
  QCOMPARE(keys[0], std::string(R"(["023dee82f41c4b3ee991e7ec3fe00350",[4,32],[10,32],[1,10],[4,10]])"));
  for (const std::string& key : keys) QVERIFY(topi_definition(key));
}

void TopiTest::othersAreUnknown() {
  for (const char* key : {"", "{}", "[]", "[3]"}) QCOMPARE(topi_definition(key).error().code, ErrorCode::parse_error);
  for (const char* key : {R"(["matmul_add", 1024, 1024, 1024, "float32"])", R"(["9847f8cc0b305137f49f2c5c0c8ab25d", 1, 512, 1000, 511, 1000, 1, 1000])",
                          R"(["f4380bb1dc62422a69ad4a1a9771f928", 1, 28, 28, 512, 1, 1, 512, 1024, 1, 14, 14, 1024])", R"(["f4380bb1dc62422a69ad4a1a9771f927"])"})
    QCOMPARE(topi_definition(key).error().code, ErrorCode::unsupported);
}

QTEST_APPLESS_MAIN(TopiTest)
#include "topi_test.moc"
