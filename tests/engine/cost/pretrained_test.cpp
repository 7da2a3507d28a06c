// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/pretrained.h"

#include <QtTest>
#include <filesystem>
#include <fstream>

using namespace tw;
using namespace tw::cost;

class PretrainedTest : public QObject {
  Q_OBJECT

  static Target named(const char* name) { return parse_target(name).value(); }

 private Q_SLOTS:
  void devicesHaveNames() {
    QCOMPARE(pretrained_name(named("cuda:a100")), std::string("a100"));
    QCOMPARE(pretrained_name(named("llvm -mcpu=znver4")), std::string("avx512"));
    QCOMPARE(pretrained_name(named("llvm -mcpu=haswell")), std::string("avx2"));
    QCOMPARE(pretrained_name(named("llvm -mcpu=x86-64")), std::string());
  }
  /// That of the device itself, or of the one that others begin with; a sentence where there is none.
  void theRightFileIsFound() {
    QTemporaryDir folder;
    const std::string at = folder.path().toStdString();
    for (const char* file : {"pam-a100.model", "pam-k80.model", "tenset-mlp-avx512.model", "pam-t4.md"}) std::ofstream(at + "/" + file) << "x";
    const ModelDef &pam = *find_model("pam"), &mlp = *find_model("tenset-mlp");
    const auto find = [&](const ModelDef& def, const char* target, PretrainedFor use) { return find_pretrained(def, named(target), use, at); };
    QCOMPARE(find(pam, "cuda:a100", PretrainedFor::itself).value(), at + "/pam-a100.model");
    QCOMPARE(find(pam, "cuda:a100", PretrainedFor::others).value(), at + "/pam-k80.model");
    QCOMPARE(find(mlp, "llvm -mcpu=znver4", PretrainedFor::itself).value(), at + "/tenset-mlp-avx512.model");
    QCOMPARE(find(mlp, "llvm -mcpu=haswell", PretrainedFor::others).value(), at + "/tenset-mlp-avx512.model");
    const auto none = find(pam, "cuda:t4", PretrainedFor::itself);
    QVERIFY(!none);
    QCOMPARE(none.error().code, ErrorCode::not_found);
    QVERIFY2(none.error().text().find("'pam' for t4, found those for a100, k80") != std::string::npos, none.error().text().c_str());
    QVERIFY(!find(mlp, "llvm -mcpu=haswell", PretrainedFor::itself));
    QVERIFY(!find_pretrained(pam, named("cuda:a100"), PretrainedFor::itself, at + "/none"));
  }
  /// Those that come with the program can be read, each has its card, and all are small.
  void thoseOfTheProgramFit() {
    constexpr auto kItself = PretrainedFor::itself;
    for (const auto& [model, target] : {std::pair("pam", "cuda:a100"), {"pam", "cuda:k80"}, {"tenset-mlp", "cuda:a100"}, {"felix", "cuda:a100"}, {"tenset-mlp", "llvm -mcpu=znver4"},
                                        {"tenset-mlp", "llvm -mcpu=sapphirerapids"}, {"tenset-mlp", "llvm -mcpu=haswell"}, {"felix", "llvm -mcpu=znver4"}}) {
      const auto file = find_pretrained(*find_model(model), named(target), kItself);
      QVERIFY2(file, file ? "" : file.error().text().c_str());
      const auto loaded = load_model(*file);
      QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
      QVERIFY((*loaded)->samples() > 0);
    }
    const auto any = find_pretrained(*find_model("pam"), named("cuda:a100"), kItself);
    uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(*any).parent_path())) {
      if (file.path().extension() != ".model") continue;
      bytes += file.file_size();
      QVERIFY2(std::filesystem::exists(std::filesystem::path(file.path()).replace_extension(".md")), file.path().c_str());
    }
    QVERIFY(bytes <= uintmax_t{8} << 20);
  }
};

QTEST_APPLESS_MAIN(PretrainedTest)
#include "pretrained_test.moc"
