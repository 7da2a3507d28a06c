// SPDX-License-Identifier: Apache-2.0
#include "engine/records/json_lines.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>

using namespace tw;
using namespace tw::records;

namespace {

std::string contents(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : "cannot open";
}

void write_file(const QString& path, const std::string& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(bytes.data(), static_cast<qint64>(bytes.size()));
}

struct Seen {
  int64_t number, offset;
  std::string text;
  bool ended, too_long;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> lines_of(std::string_view text) {
  std::vector<Seen> seen;
  for_each_line_of(text, [&](const Line& l) { seen.push_back({l.number, l.offset, std::string(l.text), l.ended, l.too_long}); });
  return seen;
}

}  // namespace

class JsonLinesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void line_ends_and_byte_order_marks_are_dropped() {
    const std::vector<Seen> expected = {{1, 0, "a", true, false}, {2, 6, "", true, false}, {3, 7, "b", false, false}};
    QCOMPARE(lines_of("\xEF\xBB\xBF"
                      "a\r\n\nb"),
             expected);
    QCOMPARE(lines_of("").size(), size_t{0});
    QCOMPARE(lines_of("a\n").size(), size_t{1});
  }
  void long_lines_are_skipped_not_kept() {
    const std::string text = "x\n" + std::string(kMaxLineBytes + 1, 'y') + "\nz\n";
    const auto lines = lines_of(text);
    QCOMPARE(lines.size(), size_t{3});
    QVERIFY(lines[1].too_long);
    QVERIFY(lines[1].text.empty());
    QCOMPARE(lines[2].text, std::string("z"));
    QCOMPARE(lines[2].offset, static_cast<int64_t>(kMaxLineBytes) + 4);
  }
  void files_read_as_their_text() {
    QTemporaryDir dir;
    const QString path = dir.filePath("log");
    std::string text;
    for (int i = 0; i < 20000; ++i) text += std::string(static_cast<size_t>(i % 97), 'q') + std::to_string(i) + "\n";
    write_file(path, text);
    std::string back;
    QVERIFY(for_each_line(path.toStdString(), [&](const Line& l) { back += std::string(l.text) + "\n"; }));
    QVERIFY(back == text);
    const auto missing = for_each_line(dir.filePath("none").toStdString(), [](const Line&) {});
    QVERIFY(!missing);
    QCOMPARE(missing.error().code, ErrorCode::not_found);
  }
  void objects_on_one_line_are_told_apart() {
    using Pieces = std::vector<std::string_view>;
    QCOMPARE(split_objects(R"({"a":"}{"}{"b":{}} {"c":[{}]})"), (Pieces{R"({"a":"}{"})", R"({"b":{}})", R"({"c":[{}]})"}));
    QCOMPARE(split_objects(R"({"a":1})"), (Pieces{R"({"a":1})"}));
    QCOMPARE(split_objects(R"({"a":1}{"b":)"), (Pieces{R"({"a":1}{"b":)"}));
    QCOMPARE(split_objects(R"({"a":1} x {"b":1})"), (Pieces{R"({"a":1} x {"b":1})"}));
    QCOMPARE(split_objects("}{"), (Pieces{"}{"}));
  }
  void a_torn_line_is_ended_before_the_first_append() {
    QTemporaryDir dir;
    const QString path = dir.filePath("log");
    write_file(path, "{\"torn");
    {
      auto appender = LineAppender::open(path.toStdString());
      QVERIFY(appender);
      QVERIFY(appender->append("{}"));
      QVERIFY(appender->append("[]"));
      QVERIFY(appender->sync());
    }
    QCOMPARE(contents(path), std::string("{\"torn\n{}\n[]\n"));
  }
  void two_writers_never_mix_lines() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("log").toStdString();
    std::vector<pid_t> children;
    for (const char letter : {'a', 'b'}) {
      const pid_t child = fork();
      if (child == 0) {
        auto appender = LineAppender::open(path);
        bool good = appender.has_value();
        for (int i = 0; good && i < 300; ++i) good = appender->append("{" + std::string(19999, letter)).has_value();
        _exit(good ? 0 : 1);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = -1;
      waitpid(child, &status, 0);
      QCOMPARE(status, 0);
    }
    int count = 0;
    QVERIFY(for_each_line(path, [&](const Line& l) {
      ++count;
      QCOMPARE(l.text.size(), size_t{20000});
      QCOMPARE(l.text.find_first_not_of(l.text[1], 1), std::string_view::npos);
    }));
    QCOMPARE(count, 600);
  }
  void a_full_disk_is_no_space() {
    auto appender = LineAppender::open("/dev/full");
    if (!appender) QSKIP("/dev/full is not here");
    const auto result = appender->append("{}");
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::no_space);
  }
  void nothing_is_appended_to_what_holds_no_lines() {
    QTemporaryDir dir;
    const QString path = dir.filePath("letter");
    for (const std::string& text : {std::string("Dear reader\n"), std::string("SQLite format 3\0 {", 18)}) {
      write_file(path, text);
      QCOMPARE(LineAppender::open(path.toStdString()).error().code, ErrorCode::invalid_argument);
      QCOMPARE(contents(path), text);
    }
    write_file(path, "# a comment\n");
    QVERIFY(LineAppender::open(path.toStdString()));
  }
  void a_missing_folder_is_not_found() {
    const auto appender = LineAppender::open("/nonexistent/folder/log");
    QVERIFY(!appender);
    QCOMPARE(appender.error().code, ErrorCode::not_found);
  }
};

QTEST_APPLESS_MAIN(JsonLinesTest)
#include "json_lines_test.moc"
