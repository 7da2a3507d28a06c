// SPDX-License-Identifier: Apache-2.0
// Runs the *.case files beside it: a pass, a function before, the function after. `--update` rewrites what the passes give now.
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/tir/parse.h"
#include "engine/tir/pass.h"
#include "engine/tir/print.h"
#include "engine/tir/verify.h"

using namespace tw;

namespace {

bool g_update = false;

struct Case {
  std::string name, pass, input, expect;
};

/// Blocks of `== name`, `pass P`, the function, `--`, the expected function.
std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::vector<Case> out;
  std::ifstream in(path);
  std::string line;
  bool after = false;
  while (std::getline(in, line)) {
    if (line.starts_with("== ")) {
      out.push_back({line.substr(3), path.stem().string(), {}, {}});
      after = false;
    } else if (line == "--") {
      after = true;
    } else if (!out.empty() && !line.starts_with("#")) {
      (after ? out.back().expect : out.back().input) += line + "\n";
    }
  }
  return out;
}

std::string run(const Case& c) {
  const auto f = tir::parse_func(c.input);
  if (!f) return "input: " + f.error().text() + "\n";
  for (const tir::Pass& p : tir::passes()) {
    if (p.name != c.pass) continue;
    const tir::Func out = p.run(*f, Target());
    if (auto ok = tir::verify(out); !ok) return "verify: " + ok.error().text() + "\n";
    return tir::print(out);
  }
  return "no pass is called " + c.pass + "\n";
}

std::filesystem::path folder() { return std::filesystem::path(TW_TESTS_DIR) / "engine/tir/passes"; }

}  // namespace

class CasesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void everyPassHasCases();
  void cases_data();
  void cases();
};

void CasesTest::everyPassHasCases() {
  for (const tir::Pass& p : tir::passes()) QVERIFY2(std::filesystem::exists(folder() / (std::string(p.name) + ".case")), p.name);
}

void CasesTest::cases_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<int>("index");
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".case") continue;
    const auto all = read_cases(entry.path());
    for (size_t k = 0; k < all.size(); ++k)
      QTest::newRow((entry.path().stem().string() + ": " + all[k].name).c_str()) << QString::fromStdString(entry.path().string()) << static_cast<int>(k);
  }
}

void CasesTest::cases() {
  QFETCH(QString, file);
  QFETCH(int, index);
  auto all = read_cases(file.toStdString());
  const Case& c = all[static_cast<size_t>(index)];
  const std::string got = run(c);
  if (g_update && got != c.expect) {
    all[static_cast<size_t>(index)].expect = got;
    std::ofstream out(file.toStdString());
    out << "# SPDX-License-Identifier: Apache-2.0\n";
    for (const Case& each : all) out << "== " << each.name << "\n" << each.input << "--\n" << each.expect;
    return;
  }
  QCOMPARE(QString::fromStdString(got), QString::fromStdString(c.expect));
}

int main(int argc, char** argv) {
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i)
    if (std::string_view(argv[i]) == "--update")
      g_update = true;
    else
      rest.push_back(argv[i]);
  CasesTest test;
  return QTest::qExec(&test, static_cast<int>(rest.size()), rest.data());
}
#include "cases_test.moc"
