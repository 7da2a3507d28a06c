// SPDX-License-Identifier: Apache-2.0

#include <sys/stat.h>

#include <QtTest>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/base/file.h"

using namespace tw;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

class FileTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void replacesWhole() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.bin").toStdString();
    QVERIFY(write_file(path, "first, a longer one"));
    const std::string_view parts[] = {"sec", "ond"};
    QVERIFY(write_file(path, parts));
    QCOMPARE(content(path), std::string("second"));
    QCOMPARE(std::distance(std::filesystem::directory_iterator(dir.path().toStdString()), {}), 1);  // no temporary is left
  }
  void missingFolder() {
    const auto r = write_file("/nonexistent/folder/file", "x");
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::not_found);
  }
  void keepsWhatIsNoRegularFile() {
    QTemporaryDir dir;
    const std::string link = dir.filePath("full").toStdString();
    std::filesystem::create_symlink("/dev/full", link);
    const auto r = write_file(link, "x");
    QVERIFY(!r);
    QCOMPARE(r.error().code, ErrorCode::no_space);
    QVERIFY(std::filesystem::is_symlink(link));
    QVERIFY(std::filesystem::is_character_file("/dev/full"));
  }
};

QTEST_APPLESS_MAIN(FileTest)
#include "file_test.moc"
