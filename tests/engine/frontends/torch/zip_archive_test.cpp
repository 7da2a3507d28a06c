// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/file.h"
#include "engine/base/rng.h"
#include "engine/frontends/torch/zip_archive.h"
#include "tests/engine/frontends/torch/archive.h"

using namespace tw;
using archive_test::Member;
using frontends::ZipArchive;

class ZipArchiveTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  std::string written(const std::string& bytes) const {
    QFile f(folder_.filePath("a.pt2"));
    if (!f.open(QIODevice::WriteOnly | QIODevice::Truncate)) return {};
    f.write(bytes.data(), static_cast<qint64>(bytes.size()));
    return f.fileName().toStdString();
  }
  std::string refusal(const std::vector<Member>& members) const {
    const auto a = ZipArchive::open(written(archive_test::zip(members)));
    return a ? "opened" : a.error().text();
  }

 private Q_SLOTS:
  void members_are_read() {
    const auto a = ZipArchive::open(written(archive_test::zip({{"m/one", "first"}, {"m/two", std::string("a\0b", 3)}, {"m/", ""}, {"empty", ""}})));
    QVERIFY2(a, a ? "" : a.error().text().c_str());
    QCOMPARE(a->members().size(), size_t{3});
    const auto two = a->read("m/two");
    QVERIFY(two.has_value());
    QCOMPARE(std::string(reinterpret_cast<const char*>(two->data()), two->size()), std::string("a\0b", 3));
    QVERIFY(a->read("empty")->empty());
    QVERIFY(a->find("three") == nullptr);
    QCOMPARE(a->read("three").error().code, ErrorCode::not_found);
  }

  void refused_data() {
    QTest::addColumn<QString>("wanted");
    QTest::addColumn<int>("kind");
    const char* rows[] = {"climbing: stay in the archive, found '../etc/passwd'",
                          "climbing inside: stay in the archive, found 'a/../../b'",
                          "absolute: relative names of members, found '/etc/passwd'",
                          "backslash: relative names of members",
                          "twice: 'a' twice",
                          "overlapping: overlap",
                          "more than there is: outside",
                          "elsewhere: outside",
                          "compressed: 'a' compressed or encrypted",
                          "other bytes: checksum and size"};
    int kind = 0;
    for (const QString row : rows) QTest::newRow(qPrintable(row.section(": ", 0, 0))) << row.section(": ", 1) << kind++;
  }
  void refused() {
    QFETCH(QString, wanted);
    QFETCH(int, kind);
    const std::vector<Member> all[] = {
        {{"../etc/passwd", "x"}},
        {{"a/../../b", "x"}},
        {{"/etc/passwd", "x"}},
        {{"a\\b", "x"}},
        {{"a", "x"}, {"a", "y"}},
        {{"a", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}, {"b", "y", 0, -1, 0}},
        {{"a", "x", 0, 1 << 20}},
        {{"a", "x", 0, -1, 1 << 20}},
        {{"a", "x", 8}},
    };
    std::string found;
    if (kind < static_cast<int>(std::size(all))) {
      found = refusal(all[kind]);
    } else {
      std::string bytes = archive_test::zip({{"a", "sound"}});
      bytes[bytes.find("sound")] = 'p';
      const auto a = ZipArchive::open(written(bytes));
      const auto member = a ? a->read("a") : Expected<std::vector<std::byte>>(a.error());
      found = member ? "read" : member.error().text();
    }
    QVERIFY2(found.find(wanted.toStdString()) != std::string::npos, found.c_str());
  }

  void other_files() {
    QCOMPARE(ZipArchive::open(written("PK but nothing else")).error().code, ErrorCode::parse_error);
    QCOMPARE(ZipArchive::open(folder_.filePath("none").toStdString()).error().code, ErrorCode::not_found);
    QCOMPARE(ZipArchive::open(folder_.path().toStdString()).error().code, ErrorCode::invalid_argument);
  }

  /// Cut off or damaged anywhere: an error, or members that can be read or are refused.
  void damaged() {
    const std::string whole = archive_test::zip({{"m/one", "first"}, {"m/two", "second"}});
    const auto harmless = [&](const std::string& bytes) {
      const auto a = ZipArchive::open(written(bytes));
      if (!a) return !a.error().message.empty();
      for (const auto& [name, member] : a->members())
        if (const auto r = a->read(name); !r && r.error().message.empty()) return false;
      return true;
    };
    for (size_t n = 0; n < whole.size(); ++n) QVERIFY2(harmless(whole.substr(0, n)), qPrintable(QString::number(n)));
    Rng rng(7);
    for (int round = 0; round < 600; ++round) {
      std::string bytes = whole;
      for (uint64_t k = 0; k <= rng.uniform(3); ++k) bytes[rng.uniform(bytes.size())] ^= static_cast<char>(1 << rng.uniform(8));
      QVERIFY2(harmless(bytes), qPrintable(QString::number(round)));
    }
  }
};

QTEST_APPLESS_MAIN(ZipArchiveTest)
#include "zip_archive_test.moc"
