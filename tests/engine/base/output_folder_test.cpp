// SPDX-License-Identifier: Apache-2.0
#include "engine/base/output_folder.h"

#include <QtTest>

#include "engine/base/file.h"

using namespace tw;

class OutputFolderTest : public QObject {
  Q_OBJECT
  QTemporaryDir m_dir;
  std::string path(const char* name) const { return m_dir.filePath(QLatin1String(name)).toStdString(); }

 private Q_SLOTS:
  void whatWasWrittenMayBeWrittenAgain() {
    for (const char* text : {"one", "two"}) {
      OutputFolder out(path("own"));  // another run of the program
      QVERIFY(out.write("deep/a.txt", text));
      QCOMPARE(*read_file(path("own/deep/a.txt")), std::string(text));
    }
  }
  void filesOfOthersStay() {
    QVERIFY(OutputFolder(path("theirs")).write("ours.txt", "ours"));
    QFile file(QString::fromStdString(path("theirs/a.txt")));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("theirs") == 6);
    file.close();
    const auto written = OutputFolder(path("theirs")).write("a.txt", "ours");
    QVERIFY(!written);
    QCOMPARE(written.error().code, ErrorCode::invalid_argument);
    QCOMPARE(*read_file(path("theirs/a.txt")), std::string("theirs"));
    QVERIFY(OutputFolder(path("theirs")).write("ours.txt", "again"));
  }
  void aListThatIsNoneOfOursIsNotWrittenTo() {
    QVERIFY(make_parent_folder(path("odd/x")));
    QFile list(QString::fromStdString(path("odd/.tilewright")));
    QVERIFY(list.open(QIODevice::WriteOnly) && list.write("a.txt\n") > 0);
    list.close();
    QVERIFY(!OutputFolder(path("odd")).write("a.txt", "x"));
  }
};

QTEST_APPLESS_MAIN(OutputFolderTest)
#include "output_folder_test.moc"
