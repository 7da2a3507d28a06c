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
  const std::string again = tvm_workload_key(**dag);
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

void TopiTest::othersAreUnknown() {
  for (const char* key : {"", "{}", "[]", "[3]"}) QCOMPARE(topi_definition(key).error().code, ErrorCode::parse_error);
  for (const char* key : {R"(["matmul_add", 1024, 1024, 1024, "float32"])", R"(["9847f8cc0b305137f49f2c5c0c8ab25d", 1, 512, 1000, 511, 1000, 1, 1000])",
                          R"(["f4380bb1dc62422a69ad4a1a9771f928", 1, 28, 28, 512, 1, 1, 512, 1024, 1, 14, 14, 1024])", R"(["f4380bb1dc62422a69ad4a1a9771f927"])"})
    QCOMPARE(topi_definition(key).error().code, ErrorCode::unsupported);
}

QTEST_APPLESS_MAIN(TopiTest)
#include "topi_test.moc"
