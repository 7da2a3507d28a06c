// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/size_texts.h"

#include <QtTest>

using namespace tw;

class SizeTextsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_and_numbers() {
    const auto sizes = frontends::sizes_from_texts({"batch=4", "x.2=0", "a=b=7", "batch=9223372036854775807"});
    QVERIFY2(sizes.has_value(), sizes ? "" : sizes.error().text().c_str());
    QCOMPARE(*sizes, (std::map<std::string, int64_t>{{"a=b", 7}, {"batch", INT64_MAX}, {"x.2", 0}}));
  }

  void anything_else_is_refused() {
    for (const char* text : {"", "batch", "=4", "batch=", "batch=four", "batch=4 ", "batch=-1", "batch=1.5", "batch=9223372036854775808", "batch= 4"}) {
      const auto size = frontends::size_from_text(text);
      QVERIFY2(!size, text);
      QVERIFY(size.error().code == ErrorCode::invalid_argument);
      QVERIFY(size.error().message.find(std::string("found '") + text + "'") != std::string::npos);
    }
  }
};

QTEST_APPLESS_MAIN(SizeTextsTest)
#include "size_texts_test.moc"
