// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json_text.h"

#include <QtTest>

#include "engine/base/json.h"

using namespace tw;

class JsonTextTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void partsAreThoseOfDumpJson() {
    for (const std::string& text : {std::string(), std::string("word"), std::string("a \"b\" \\ c"), std::string("line\nbreak\x01"), std::string("\xc3\xa9"),
                                    std::string("\xff"), std::string("\x7f"), std::string("nul\0in", 6)}) {
      std::string out = "[";
      append_json(out, text);
      QCOMPARE(out, "[" + dump_json(Json(text)));
    }
    std::string out;
    append_json(out, std::vector<std::vector<int64_t>>{{}, {1, -2}, {INT64_MIN, INT64_MAX}});
    QCOMPARE(out, std::string("[[],[1,-2],[-9223372036854775808,9223372036854775807]]"));
    out.clear();
    append_json(out, std::vector<std::string>{"a", "b"});
    append_json(out, "c");
    append_json(out, uint64_t{18446744073709551615u});
    QCOMPARE(out, std::string("[\"a\",\"b\"]\"c\"18446744073709551615"));
  }
};

QTEST_APPLESS_MAIN(JsonTextTest)
#include "json_text_test.moc"
