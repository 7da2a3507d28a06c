// SPDX-License-Identifier: Apache-2.0
#include "engine/records/log_pieces.h"

#include <QtTest>
#include <string>

using namespace tw;
using namespace tw::records;

class LogPiecesTest : public QObject {
  Q_OBJECT

  struct Entry {
    std::string text;
    int64_t line = 0;
  };
  struct Log {
    std::vector<Entry> records;
    std::vector<LineProblem> problems;
    int64_t lines = 0, comments = 0;
  };
  static Log read(std::string_view text) {
    Log log;
    for_each_line_of(text, [&](const Line& line) {
      ++log.lines;
      if (line.text.starts_with('#'))
        ++log.comments;
      else if (line.text.starts_with('!'))
        log.problems.push_back({line.number, line.offset, line.ended ? "bad" : "cut_off", std::string(line.text)});
      else
        log.records.push_back({std::string(line.text), line.number});
    });
    return log;
  }

 private Q_SLOTS:
  void piecesEndWithLines() {
    const std::string text = "one\ntwo\nthree\nfour";
    for (size_t bytes = 1; bytes < text.size() + 3; ++bytes) {
      std::string joined;
      const auto pieces = pieces_of_lines(text, bytes);
      for (size_t i = 0; i < pieces.size(); ++i) {
        QVERIFY(i + 1 == pieces.size() || pieces[i].ends_with('\n'));
        joined += pieces[i];
      }
      QCOMPARE(QString::fromStdString(joined), QString::fromStdString(text));
    }
    QCOMPARE(pieces_of_lines(text, 4).size(), size_t{4});
    QCOMPARE(pieces_of_lines(text, 100).size(), size_t{1});
    QCOMPARE(pieces_of_lines("", 4).size(), size_t{1});
    QCOMPARE(pieces_of_lines("a\nb\n", 2).size(), size_t{2});
    QCOMPARE(pieces_of_lines("aaaa\n\xEF\xBB\xBF" "b\nc\n", 2).front(), std::string_view("aaaa\n\xEF\xBB\xBF" "b\n"));
  }

  /// Lines and offsets count from the log's beginning, whatever the pieces.
  void piecesAreReadAsOne() {
    std::string text = "\xEF\xBB\xBF";
    for (int i = 0; i < 500; ++i) text += (i % 7 == 3 ? "# remark " : i % 11 == 5 ? "! wrong " : "entry ") + std::to_string(i) + (i % 13 == 0 ? "\r\n" : "\n") + (i % 17 == 0 ? "\n" : "");
    text += "! torn";
    const Log whole = read(text);
    QVERIFY(whole.problems.size() > 30 && whole.problems.back().kind == "cut_off");
    for (const size_t bytes : {1, 10, 100, 1000, 1'000'000}) {
      const Log log = read_in_pieces(text, read, bytes);
      QCOMPARE(log.lines, whole.lines);
      QCOMPARE(log.comments, whole.comments);
      QCOMPARE(log.records.size(), whole.records.size());
      for (size_t i = 0; i < log.records.size(); ++i) QVERIFY(log.records[i].line == whole.records[i].line && log.records[i].text == whole.records[i].text);
      QCOMPARE(log.problems.size(), whole.problems.size());
      for (size_t i = 0; i < log.problems.size(); ++i) {
        const LineProblem &a = log.problems[i], &b = whole.problems[i];
        QVERIFY(a.line == b.line && a.offset == b.offset && a.kind == b.kind && a.reason == b.reason);
      }
    }
  }
};

QTEST_APPLESS_MAIN(LogPiecesTest)
#include "log_pieces_test.moc"
