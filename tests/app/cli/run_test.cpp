// SPDX-License-Identifier: Apache-2.0
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/rng.h"

using namespace tw;

/// `tw run` as a program, on files that only the checksum calls whole.
class RunTest : public QObject {
  Q_OBJECT

  static constexpr size_t kHeader = 16, kTrailer = 16;  // see executable.cpp: the checksum is the last word

  static std::string damaged(std::string bytes, size_t at, int bit) {
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    ContentHasher hasher;
    hasher.add(std::string_view(bytes).substr(0, bytes.size() - kTrailer));
    const uint64_t checksum = hasher.value();
    std::memcpy(bytes.data() + bytes.size() - sizeof checksum, &checksum, sizeof checksum);
    return bytes;
  }

 private Q_SLOTS:
  void damagedFilesDoNotCrashIt() {
    const QTemporaryDir folder;
    const QString model = folder.filePath("m.onnx"), whole = folder.filePath("m.twx"), broken = folder.filePath("broken.twx");
    const auto tw = [](const QStringList& arguments) {
      auto p = std::make_unique<QProcess>();
      p->start(TW_BIN_DIR "/tw", arguments);
      p->waitForFinished(-1);
      return p;
    };
    QCOMPARE(tw({"zoo", "write", "mlp", "--tiny", "-o", model})->exitCode(), 0);
    QCOMPARE(tw({"compile", model, "-o", whole})->exitCode(), 0);
    const std::string bytes = read_file(whole.toStdString()).value();
    Rng rng(7);
    int crashes = 0, refused = 0;
    for (int trial = 0; trial < 60; ++trial) {
      const size_t at = kHeader + rng.uniform(bytes.size() - kHeader - kTrailer);
      QFile file(broken);
      QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
      const std::string now = damaged(bytes, at, static_cast<int>(rng.uniform(8)));
      file.write(now.data(), static_cast<qint64>(now.size()));
      file.close();
      const auto p = tw({"run", broken, "--random-input", "--repeat", "1"});
      QVERIFY2(p->exitStatus() == QProcess::NormalExit, qPrintable(QString("byte %1: %2").arg(at).arg(QString::fromUtf8(p->readAllStandardError()))));
      const QByteArray said = p->readAllStandardError();
      crashes += said.contains("crashes: the file is damaged");
      refused += p->exitCode() == 3;
    }
    QVERIFY(refused >= crashes && refused > 0);
    QCOMPARE(tw({"run", whole, "--random-input", "--repeat", "1", "--trust"})->exitCode(), 0);
  }
};

QTEST_APPLESS_MAIN(RunTest)
#include "run_test.moc"
