// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "engine/runtime/executable.h"

using namespace tw;

/// `tw run` as a program, on files that only the checksum calls whole.
class RunTest : public QObject {
  Q_OBJECT

  static constexpr size_t kHeader = 16, kTrailer = 16;  // see executable.cpp: the checksum is the last word

  static std::string damaged(std::string bytes, size_t at, int bit) {
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    return with_checksum(std::move(bytes));
  }
  /// The functions of an object become jumps to themselves.
  static void make_endless(std::vector<std::byte>& object) {
    Elf64_Ehdr header;
    std::memcpy(&header, object.data(), sizeof header);
    for (size_t s = 0; s < header.e_shnum; ++s) {
      Elf64_Shdr section;
      std::memcpy(&section, object.data() + header.e_shoff + s * sizeof section, sizeof section);
      if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0) continue;
      for (size_t at = 0; at + 1 < section.sh_size; at += 2) std::memcpy(object.data() + section.sh_offset + at, "\xeb\xfe", 2);
    }
  }
  static std::string with_checksum(std::string bytes) {
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

  void codeThatNeverEndsIsEnded() {
#if !defined(__x86_64__)
    QSKIP("writes machine code of one architecture");
#endif
    const QTemporaryDir folder;
    const QString model = folder.filePath("m.onnx"), network = folder.filePath("m.twx");
    QCOMPARE(QProcess::execute(TW_BIN_DIR "/tw", {"zoo", "write", "mlp", "--tiny", "-o", model}), 0);
    QCOMPARE(QProcess::execute(TW_BIN_DIR "/tw", {"compile", model, "-o", network}), 0);
    runtime::Executable e = runtime::load_executable(network.toStdString()).value();
    make_endless(e.artifact.object);
    QVERIFY(runtime::save(e, network.toStdString()));
    QProcess p;
    p.start(TW_BIN_DIR "/tw", {"run", network, "--random-input", "--first-run-limit", "1s"});
    QVERIFY(p.waitForFinished(60000));
    QCOMPARE(p.exitStatus(), QProcess::NormalExit);
    QCOMPARE(p.exitCode(), 1);
    QVERIFY2(QString::fromUtf8(p.readAllStandardError()).contains(QStringLiteral("takes more than 1s")), "the reason");
  }
};

QTEST_APPLESS_MAIN(RunTest)
#include "run_test.moc"
