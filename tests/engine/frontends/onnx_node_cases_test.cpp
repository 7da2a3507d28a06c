// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <filesystem>
#include <set>

#include "engine/frontends/onnx/onnx_case.h"
#include "engine/graph/evaluate.h"

using namespace tw;

/// ONNX's own operator cases, and those of ONNX Runtime's operators (tests/peers/onnxruntime_fixtures.py): every case is imported and computed with the right numbers, or refused with a reason.
class OnnxNodeCasesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_case_passes_or_is_refused_data();
  void every_case_passes_or_is_refused();
};

namespace {

constexpr const char* kFolder = "/usr/share/libonnx-testdata/data";

/// ONNX's window cases approximate pi with five digits in the model and not in the data; other data are rounded to four digits.
bool is_coarse(const std::string& name) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  return has("window") || has("gridsample") || has("roialign");
}
double tolerance_of(DType t, bool coarse) { return coarse ? 1e-4 : t == kFloat16 ? 2e-3 : t == kBFloat16 ? 1e-2 : 1e-5; }

/// Empty if equal: exactly for integers, within the type's tolerance for floats; NaN equals NaN, infinities their own sign.
std::string difference(const HostArray& got, const HostArray& want, bool coarse) {
  if (got.dtype != want.dtype) return "type " + got.dtype.name() + " instead of " + want.dtype.name();
  if (got.shape != want.shape) return "another shape";
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    if (!want.dtype.is_float()) {
      if (got.get_int(i) != want.get_int(i))
        return "element " + std::to_string(i) + " is " + std::to_string(got.get_int(i)) + ", not " + std::to_string(want.get_int(i));
      continue;
    }
    const double a = got.get(i), b = want.get(i), tol = tolerance_of(want.dtype, coarse);
    const bool same = (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= tol + tol * std::abs(b);
    if (!same) return "element " + std::to_string(i) + " is " + std::to_string(a) + ", not " + std::to_string(b);
  }
  return {};
}

std::string run(const frontends::OnnxCase& c, bool coarse) {
  if (auto ok = graph::verify(c.graph); !ok) return ok.error().text();
  std::map<std::string, HostArray> inputs;
  for (size_t k = 0; k < c.inputs.size(); ++k) inputs.emplace(c.graph.values[static_cast<size_t>(c.graph.inputs[k])].name, c.inputs[k]);
  auto got = graph::evaluate(c.graph, inputs);
  if (!got) return got.error().text();
  for (size_t k = 0; k < c.outputs.size(); ++k)
    if (std::string d = difference((*got)[k], c.outputs[k], coarse); !d.empty()) return "output " + std::to_string(k) + ": " + d;
  return {};
}

}  // namespace

/// Per folder the cases that passed when this was last raised; fewer means that support was lost.
void OnnxNodeCasesTest::every_case_passes_or_is_refused_data() {
  QTest::addColumn<QString>("folder");
  QTest::addColumn<int>("minimum");
  QTest::newRow("operators") << "node" << 845;
  QTest::newRow("converted networks") << "pytorch-converted" << 82;
  QTest::newRow("operators of ONNX Runtime") << TW_TESTS_DIR "/engine/frontends/onnx/runtime_operators" << 52;
}

void OnnxNodeCasesTest::every_case_passes_or_is_refused() {
  QFETCH(QString, folder);
  QFETCH(int, minimum);
  const std::filesystem::path root = std::filesystem::path(kFolder) / folder.toStdString();  // the second alone if it is a whole path
  if (!std::filesystem::exists(root)) QSKIP("the package libonnx-testdata is not installed");
  std::set<std::string> folders;
  for (const auto& e : std::filesystem::directory_iterator(root)) folders.insert(e.path().string());
  int passed = 0, refused = 0;
  QStringList wrong;
  for (const std::string& path : folders) {
    const std::string name = path.substr(path.rfind('/') + 1);
    auto c = frontends::read_onnx_case(path);
    if (!c) {
      ++refused;
      QVERIFY2(!c.error().message.empty() && std::isupper(static_cast<unsigned char>(c.error().message[0])), c.error().text().c_str());
      if (qEnvironmentVariableIsSet("TW_SHOW_REFUSED")) qInfo("%s: %s", name.c_str(), c.error().text().c_str());
      continue;
    }
    const std::string trouble = run(*c, is_coarse(name));
    if (trouble.empty())
      ++passed;
    else
      wrong << QString::fromStdString(name + ": " + trouble);
  }
  qInfo("%d passed, %d refused, %d wrong", passed, refused, static_cast<int>(wrong.size()));
  QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
  QVERIFY2(passed >= minimum, qPrintable(QString("only %1 cases passed").arg(passed)));
}

QTEST_APPLESS_MAIN(OnnxNodeCasesTest)
#include "onnx_node_cases_test.moc"
