// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"

#include <QtTest>

#include "engine/base/error.h"

using namespace tw;

class TextTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void text_of_people_stays_as_it_is() {
    for (const char* text : {"", "dense (1, 256)", "Größe 東京 λ ½", "\U0001F600", "back\\slash", "~\x7e"}) QCOMPARE(printable(text), std::string(text));
  }
  void what_drives_a_terminal_is_escaped() {
    QCOMPARE(printable("a\x1b[31mb\x07\x7f\n"), std::string("a\\x1b[31mb\\x07\\x7f\\x0a"));
    QCOMPARE(printable(std::string_view("\0", 1)), std::string("\\x00"));
    QCOMPARE(printable("\u009b31m\u0085"), std::string("\\u{9b}31m\\u{85}"));  // C1: an escape sequence in one character
  }
  void what_cannot_be_seen_or_turns_the_writing_is_escaped() {
    QCOMPARE(Error(ErrorCode::io_error, "No", "a\x1b[31m\u202E").text(), std::string("No (at a\\x1b[31m\\u{202e})"));
    QCOMPARE(printable("net\u202Exnno."), std::string("net\\u{202e}xnno."));
    QCOMPARE(printable("a\u200Bb\u2060c\uFEFFd\u00ADe"), std::string("a\\u{200b}b\\u{2060}c\\u{feff}d\\u{ad}e"));
    QCOMPARE(printable("\u2028\u2066\u061C\U000E0041"), std::string("\\u{2028}\\u{2066}\\u{61c}\\u{e0041}"));
  }
  void bytes_that_are_no_text_are_escaped_one_by_one() {
    for (const auto& [bytes, expected] : {std::pair<std::string, std::string>{"\x9b", "\\x9b"},
                                          {"\xc0\x9b", "\\xc0\\x9b"},                      // an overlong form
                                          {"\xe2\x82", "\\xe2\\x82"},                      // cut off
                                          {"\xed\xa0\x80", "\\xed\\xa0\\x80"},             // half of a pair of UTF-16
                                          {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},    // beyond the last character
                                          {"\xff" "a", "\\xff" "a"}})
      QCOMPARE(printable(bytes), expected);
  }
  void once_is_enough() {
    const std::string once = printable("\x1b\u202e\xff");
    QCOMPARE(printable(once), once);
  }
};

QTEST_APPLESS_MAIN(TextTest)
#include "text_test.moc"
