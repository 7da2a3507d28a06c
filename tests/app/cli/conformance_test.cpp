// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "app/cli/conformance.h"
#include "app/cli/npy.h"

using namespace tw;
using namespace tw::cli;

/// Folders of cases from import to numbers.
class ConformanceTest : public QObject {
  Q_OBJECT

  static QString programs() { return TW_TESTS_DIR "/engine/frontends/torch/programs"; }
  QTemporaryDir all_;  ///< every program as a case

  /// A copy that may be changed, unpacked where it is kept packed.
  static QString copied(const QTemporaryDir& folder, const QString& name) {
    const QString to = folder.filePath(name), data = "/test_data_set_0";
    QDir().mkpath(to + data);
    for (const QString& part : {QString(), data})
      for (const QFileInfo& f : QDir(programs() + "/" + name + part).entryInfoList(QDir::Files)) {
        if (f.suffix() == "z") {
          QFile packed(f.filePath()), whole(to + part + "/" + f.completeBaseName());
          if (packed.open(QIODevice::ReadOnly) && whole.open(QIODevice::WriteOnly)) whole.write(qUncompress(packed.readAll()));
          continue;
        }
        QFile::copy(f.filePath(), to + part + "/" + f.fileName());
        QFile::setPermissions(to + part + "/" + f.fileName(), QFile::ReadOwner | QFile::WriteOwner);
      }
    return to;
  }

 private Q_SLOTS:
  void initTestCase() {
    for (const QString& name : QDir(programs()).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) copied(all_, name);
  }

  /// Programs that PyTorch exported give the numbers that PyTorch computed (tests/peers/torch_fixtures.py).
  void exported_programs_data() {
    QTest::addColumn<QString>("folder");
    const auto cases = find_cases(all_.path().toStdString());
    QVERIFY(cases.has_value());
    QCOMPARE(cases->size(), size_t(QDir(programs()).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size()));
    QVERIFY(cases->size() >= 9);
    for (const std::string& c : *cases) QTest::newRow(c.substr(c.rfind('/') + 1).c_str()) << QString::fromStdString(c);
  }
  void exported_programs() {
    QFETCH(QString, folder);
    const CaseResult r = run_case(folder.toStdString(), host_target());
    QVERIFY2(r.status == "passed", r.reason.c_str());
    QVERIFY(r.max_rel < 1e-5);
  }

  /// A TorchScript file beside libtorch's own numbers.
  void torchscript_files() {
#ifdef TW_SCRIPT_FILES
    QTemporaryDir folder;
    QProcess writer;
    writer.start(TW_SCRIPT_FILES, {folder.path()});
    QVERIFY(writer.waitForFinished(60'000) && writer.exitCode() == 0);
    const std::string file = folder.filePath("resnet18.pt").toStdString();
    QCOMPARE(find_cases(file)->size(), size_t{1});
    CaseOptions options;
    options.shapes = {"x=1,3,96,96"};
    const CaseResult r = run_case(file, host_target(), options);
    QVERIFY2(r.status == "passed", r.reason.c_str());
    QVERIFY(r.max_rel < 1e-5);
    options.shapes = {};
    const CaseResult without = run_case(file, host_target(), options);
    QVERIFY2(without.status == "unsupported" && without.reason.find("--input-shape x=1,3,224,224") != std::string::npos, without.reason.c_str());
#else
    QSKIP("tw-learner is not built: libtorch is not here");
#endif
  }

  void what_differs_is_wrong() {
    QTemporaryDir folder;
    const QString to = copied(folder, "branches");
    const std::string path = to.toStdString() + "/test_data_set_0/output_0.npy";
    HostArray y = *read_npy(path);
    y.set(2, y.get(2) + 0.01);
    QVERIFY(write_npy(y, path).has_value());
    const CaseResult wrong = run_case(to.toStdString(), host_target());
    QCOMPARE(wrong.status, std::string("wrong"));
    QVERIFY(wrong.reason.find("Element 2") != std::string::npos);
    QVERIFY(std::abs(wrong.max_abs - 0.01) < 1e-4);
    QCOMPARE(run_case(to.toStdString(), host_target(), {.atol = 0.02}).status, std::string("passed"));
  }

  /// Bare elements have the type and the shape of the program's inputs and outputs.
  void bare_elements() {
    QTemporaryDir folder;
    const QString to = copied(folder, "branches");
    for (const char* name : {"input_0", "output_0"}) {
      const QString stem = to + "/test_data_set_0/" + name;
      const HostArray a = *read_npy(stem.toStdString() + ".npy");
      QFile f(stem + ".bin");
      QVERIFY(f.open(QIODevice::WriteOnly));
      f.write(reinterpret_cast<const char*>(a.data.data()), static_cast<qint64>(a.data.size()));
      QVERIFY(QFile::remove(stem + ".npy"));
    }
    QCOMPARE(run_case(to.toStdString(), host_target()).status, std::string("passed"));
    QFile f(to + "/test_data_set_0/input_0.bin");
    QVERIFY(f.open(QIODevice::Append));
    f.write("x");
    f.close();
    QVERIFY(run_case(to.toStdString(), host_target()).reason.find("Expected 48 bytes") != std::string::npos);
  }
};

QTEST_GUILESS_MAIN(ConformanceTest)
#include "conformance_test.moc"
