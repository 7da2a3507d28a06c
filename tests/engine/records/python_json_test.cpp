// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"
#include "engine/records/python_json.h"

#include <QtTest>

using namespace tw;
using namespace tw::records;

class PythonJsonTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void spells_as_json_dumps_data() {
    QTest::addColumn<QString>("text");
    // Each text is what CPython's json.dumps prints for it.
    for (const char* text :
         {"{\"a\": [1, -1, null, true, false], \"b\": {}}", "[]", "[[], {}]", "0.2", "1000000000.0", "1e-05", "0.0001", "4.15678960273747e-06",
          "1655872996.1723332", "1234567890123456.0", "1e+16", "1.5e+300", "\"\\u00e9\\n\\\"\\\\\"", "9007199254740993"}) {
      QTest::newRow(text) << text;
    }
  }
  void spells_as_json_dumps() {
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(python_json(Json::parse(text.toStdString()))), text);
  }
};

QTEST_APPLESS_MAIN(PythonJsonTest)
#include "python_json_test.moc"
