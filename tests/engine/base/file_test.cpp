// SPDX-License-Identifier: Apache-2.0

#include <sys/stat.h>

#include <cctype>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/base/file.h"
#include "engine/base/file_in_use.h"

using namespace tw;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// Text that begins with a letter.
const FileKind kText{"a text", [](std::string_view beginning) { return std::isalpha(static_cast<unsigned char>(beginning[0])) != 0; }};

}  // namespace

class FileTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void replacesWhole() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.bin").toStdString();
    QVERIFY(write_file(path, kText, "first, a longer one"));
    const std::string_view parts[] = {"sec", "ond"};
    QVERIFY(write_file(path, kText, parts));
    QCOMPARE(content(path), std::string("second"));
    QCOMPARE(std::distance(std::filesystem::directory_iterator(dir.path().toStdString()), {}), 1);  // no temporary is left
  }
  void missingFolder() {
    const auto r = write_file("/nonexistent/folder/file", kText, "x");
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::not_found);
  }
  void keepsWhatIsNoRegularFile() {
    QTemporaryDir dir;
    const std::string link = dir.filePath("full").toStdString();
    std::filesystem::create_symlink("/dev/full", link);
    const auto r = write_file(link, kText, "x");
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::no_space);
    QVERIFY(std::filesystem::is_symlink(link));
    QVERIFY(std::filesystem::is_character_file("/dev/full"));
  }
  void replacesItsOwnKindOnly() {
    QTemporaryDir dir;
    const auto in = [&](const char* name) { return dir.filePath(name).toStdString(); };
    const auto put = [](const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
    const auto refused = [](const std::string& path, const FileKind& kind) {
      const std::string before = content(path);
      const auto r = write_file(path, kind, "text");
      return !r && r.error().code == ErrorCode::invalid_argument && content(path) == before;
    };
    put(in("number"), "42");
    put(in("empty"), "");
    const std::string database("SQLite format 3\0 and so on", 26);
    put(in("database"), database);
    std::filesystem::create_symlink(in("database"), in("link"));
    std::filesystem::create_hard_link(in("database"), in("hard"));
    QVERIFY(refused(in("number"), kText));
    QVERIFY(write_file(in("number"), kAnyOutput, "7"));
    QVERIFY(write_file(in("empty"), kText, "text"));
    for (const char* name : {"database", "link", "hard"}) QVERIFY(refused(in(name), kAnyOutput));
    QVERIFY(std::filesystem::is_symlink(in("link")));
    QVERIFY(check_output(dir.path().toStdString(), kAnyOutput).error().code == ErrorCode::invalid_argument);
  }
  void whatCameInBetweenStays() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString();
    auto writer = FileWriter::open(path, kText);
    QVERIFY(writer && writer->write("text"));
    std::ofstream(path) << "42";
    QVERIFY(!writer->commit());
    QCOMPARE(content(path), std::string("42"));
  }
  void writesThroughSymbolicLinks() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString(), link = dir.filePath("b").toStdString();
    QVERIFY(write_file(path, kText, "first"));
    std::filesystem::create_symlink("a", link);
    QVERIFY(write_file(link, kText, "second"));
    QVERIFY(std::filesystem::is_symlink(link));
    QCOMPARE(content(path), std::string("second"));
    const std::string dangling = dir.filePath("c").toStdString(), circle = dir.filePath("d").toStdString();
    std::filesystem::create_symlink("new", dangling);
    QVERIFY(write_file(dangling, kText, "third"));
    QVERIFY(std::filesystem::is_symlink(dangling));
    QCOMPARE(content(dir.filePath("new").toStdString()), std::string("third"));
    std::filesystem::create_symlink("d", circle);
    QVERIFY(write_file(circle, kText, "x").error().code == ErrorCode::io_error);
  }
  void whatIsInUseStays() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a").toStdString(), link = dir.filePath("b").toStdString();
    QVERIFY(write_file(path, kText, "first"));
    std::filesystem::create_hard_link(path, link);
    {
      const FileInUse twice(path, FileUse::input), use(link, FileUse::input);
      QVERIFY(!write_file(path, kText, "second") && !write_file(link, kText, "second"));
      QCOMPARE(*read_file(path), std::string("first"));
      const FileInUse database(path, FileUse::database);
      QVERIFY(read_file(link).error().code == ErrorCode::io_error);
    }
    QVERIFY(write_file(path, kText, "second"));
  }
  void pipesDoNotBlockForEver() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("pipe").toStdString();
    QCOMPARE(mkfifo(path.c_str(), 0600), 0);
    QVERIFY(read_file(path).error().code == ErrorCode::io_error);
    QVERIFY(!FileWriter::open(path, kText));
    std::thread writing([&] { QVERIFY(write_file(path, kText, std::string(300000, 'x'))); });
    const auto read = read_file(path);
    writing.join();
    QCOMPARE(read->size(), size_t{300000});
  }
};

QTEST_APPLESS_MAIN(FileTest)
#include "file_test.moc"
