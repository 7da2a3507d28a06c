// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/messages.h"

#include <QtTest>

using namespace tw;
using namespace tw::learner;

class MessagesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void optionsComeBack() {
    FitOptions o;
    o.loss = Loss::list_net, o.epochs = 7, o.batch = 33, o.learning_rate = 0.5, o.momentum_free = true, o.across_tasks = true, o.patience = 4, o.seed = uint64_t{1} << 63, o.threads = 3;
    const auto again = fit_options(to_json(o));
    QVERIFY(again);
    QCOMPARE(QString::fromStdString(dump_json(to_json(*again))), QString::fromStdString(dump_json(to_json(o))));
  }
  void otherOptionsAreRefused_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::newRow("loss") << "loss" << "\"guess\"";
    QTest::newRow("kind") << "epochs" << "\"many\"";
    QTest::newRow("batch of one") << "batch" << "1";
    QTest::newRow("no threads") << "threads" << "0";
    QTest::newRow("endless") << "epochs" << "-1";
  }
  void otherOptionsAreRefused() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    Json j = to_json(FitOptions());
    j[key.toStdString()] = parse_json(value.toStdString()).value();
    const auto read = fit_options(j);
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::parse_error);
  }
  void arraysComeBackAndNoMore() {
    const std::vector<float> floats = {1.5F, -2};
    const std::vector<uint32_t> numbers = {7};
    Arrays arrays;
    arrays.add(std::span<const float>(floats));
    arrays.add(std::span<const uint32_t>(numbers));
    ArrayReader reader(arrays.bytes());
    QCOMPARE(reader.take<float>(2).value(), floats);
    QVERIFY(!reader.take<uint32_t>(2));
    QCOMPARE(reader.take<uint32_t>(1).value(), numbers);
    QVERIFY(reader.empty());
    QVERIFY(!reader.take<float>(size_t{1} << 62));
  }
  /// Rows that a message does not have, or that run backwards.
  void candidatesAreChecked() {
    const auto read = [](std::vector<uint32_t> begins, size_t rows) {
      Arrays arrays;
      arrays.add(std::span<const uint32_t>(begins));
      const std::vector<float> values(rows * kRowColumns, 1);
      arrays.add(std::span<const float>(values));
      ArrayReader reader(arrays.bytes());
      return take_candidates(Json{{"candidates", begins.size() - 1}}, reader, mlp());
    };
    QCOMPARE(read({0, 2, 3}, 3).value().count(), size_t{2});
    QVERIFY(!read({0, 2, 3}, 2));
    QVERIFY(!read({1, 2, 3}, 3));
    QVERIFY(!read({0, 3, 2}, 3));
    ArrayReader none({});
    QVERIFY(!take_candidates(Json{{"candidates", -1}}, none, mlp()));
    QVERIFY(!take_candidates(Json::object(), none, mlp()));
  }
  void errorsComeBack() {
    const Error e = error_from_json(error_to_json(Error(ErrorCode::not_found, "No such thing")));
    QCOMPARE(e.code, ErrorCode::not_found);
    QCOMPARE(e.message, std::string("No such thing"));
  }
};

QTEST_APPLESS_MAIN(MessagesTest)
#include "messages_test.moc"
