// SPDX-License-Identifier: Apache-2.0
#include "engine/records/log_json.h"

#include <QtTest>

#include "engine/base/json.h"

using namespace tw;
using namespace tw::records;

/// The reader of log lines says of every document what the library for all other documents says.
class LogJsonTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void textsAreThoseOfDumpJson() {
    LogJson reader;
    for (const char* text :
         {"{}", "[]", "[1,-2,9223372036854775807,18446744073709551615]", "[0.5, 1e-7, 1E+10, 100.0, -0.0, 1600000000.25]", "[true, false, null]",
          "{\"a\": {\"b\": [[], {}, [{}]]}, \"c\": \"d\"}", "[\"quote \\\" slash \\\\ \\/ tab \\t line \\n bell \\u0007 e\\u0301 \\ud83d\\ude00\"]",
          "[\"\xc3\xa9\", \"\x7f\"]", "\"word\"", "7", "null", " [ 1 , 2 ] "}) {
      const auto element = reader.parse(text);
      QVERIFY2(element, text);
      const Json expected = parse_json(text).value();
      QCOMPARE(json_text(*element), dump_json(expected));
      QCOMPARE(to_json(*element), expected);
      QCOMPARE(std::string(type_name(*element)), std::string(expected.type_name()));
    }
  }

  void errorsAreThoseOfParseJson() {
    LogJson reader;
    const std::string deep = std::string(65, '[') + std::string(65, ']');
    for (const std::string& text : {std::string(), std::string("{"), std::string("[1,]"), std::string("{\"a\" 1}"), std::string("[NaN]"), std::string("[1] 2"),
                                    std::string("[\"\xff\"]"), std::string("\"\\ud800\""), deep, std::string("[01]"), std::string("[1e999]")}) {
      const auto element = reader.parse(text);
      const auto expected = parse_json(text);
      QVERIFY2(!element && !expected, text.c_str());
      QCOMPARE(element.error().text(), expected.error().text());
    }
    const auto large = reader.parse("[123456789012345678901234567890]");
    QVERIFY(!large);
    QCOMPARE(large.error().message, std::string("Expected a JSON document, found a value outside the format's limits"));
  }

  void membersAndElements() {
    LogJson reader;
    const JsonElement json = reader.parse(R"({"a": 1, "list": [1, "two", 3.0], "a": 2})").value();
    QCOMPARE(value_of<int64_t>(*member(json, "a")), int64_t{2});  // as Python's reader has it
    QVERIFY(!member(json, "b"));
    const JsonElement list = *member(json, "list");
    QVERIFY(!member(list, "a"));
    QVERIFY(!exactly<2>(list));
    QVERIFY(!exactly<4>(list));
    QVERIFY(!leading<4>(list));
    QVERIFY(!leading<1>(json));
    const auto two = leading<2>(list);
    QVERIFY(two && is_integer((*two)[0]) && string_of((*two)[1]) == "two");
    const auto three = exactly<3>(list);
    QVERIFY(three && is_number((*three)[2]) && !is_integer((*three)[2]));
  }

  void messagesQuoteTheBeginning() {
    LogJson reader;
    const std::string shown_text = shown(reader.parse("\"" + std::string(100, 'x') + "\"").value());
    QCOMPARE(shown_text, "\"" + std::string(56, 'x') + "...");
  }
};

QTEST_APPLESS_MAIN(LogJsonTest)
#include "log_json_test.moc"
