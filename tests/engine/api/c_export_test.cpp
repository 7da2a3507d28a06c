// SPDX-License-Identifier: Apache-2.0
#include "engine/api/c_export.h"

#include "engine/api/compile.h"
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/runtime/graph_executor.h"
#include "tests/engine/graph/graphs.h"

#include <QtTest>

using namespace tw;

namespace {

runtime::ArgSpec& spec_of(runtime::Executable& e, int slot) { return e.slots[static_cast<size_t>(slot)].spec; }
const runtime::ArgSpec& spec_of(const runtime::Executable& e, int slot) { return e.slots[static_cast<size_t>(slot)].spec; }

/// A folder with an exported network and programs around it.
struct Project {
  QTemporaryDir folder_;
  Target target_;

  std::string path(const std::string& name) const { return folder_.filePath(QString::fromStdString(name)).toStdString(); }
  void write(const std::string& name, std::string_view text) const { write_file(path(name), kAnyOutput, text).value(); }
  void write(const std::string& name, std::span<const std::byte> bytes) const { write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}); }

  runtime::Executable compile(const std::string& model, const std::string& symbols = {}) const {
    frontends::write_zoo_model(model, {.tiny = true}, path(model + ".onnx")).value();
    const api::Network n = api::import_network(path(model + ".onnx"), target_).value();
    api::CompileOptions options;
    options.symbols = symbols;
    return api::compile(n, target_, nullptr, options).value();
  }
  std::map<std::string, HostArray> inputs_of(const runtime::Executable& e) const {
    std::map<std::string, HostArray> inputs;
    uint64_t seed = 7;
    for (const int s : e.inputs) {
      const runtime::ArgSpec& spec = spec_of(e, s);
      inputs.emplace(spec.name, graph::testing::random_array({spec.dtype, spec.shape}, seed++));
    }
    return inputs;
  }
  std::vector<HostArray> execute(const runtime::Executable& e, const std::map<std::string, HostArray>& inputs) const {
    auto executor = runtime::GraphExecutor::create(std::make_shared<const runtime::Executable>(e), codegen::load_object(e.artifact.object).value(), 1).value();
    executor->set_inputs(inputs).value();
    executor->run().value();
    return executor->outputs().value();
  }
  void write_export(const api::CExport& c) const {
    write(c.name + ".h", c.header);
    write(c.name + ".o", c.kernels);
    write(c.name + "_data.o", c.data);
    write("tilewright_runtime.c", c.runtime);
  }
  void write_inputs(const runtime::Executable& e, const std::map<std::string, HostArray>& inputs) const {
    for (size_t i = 0; i < e.inputs.size(); ++i) write(fmt::format("in{}", i), inputs.at(spec_of(e, e.inputs[i]).name).data);
  }
  /// Builds a program in the folder and runs it; its standard error is the test's message.
  void build_and_run(const QStringList& sources, const QStringList& arguments = {}, const QStringList& flags = {}) const {
    const auto call = [&](const QString& program, const QStringList& args) {
      QProcess process;
      process.setWorkingDirectory(folder_.path());
      process.start(program, args);
      QVERIFY2(process.waitForFinished(300'000), qPrintable(program));
      QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, process.readAllStandardError().constData());
    };
    call("cc", QStringList{"-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"} + flags + sources +
                   QStringList{"tilewright_runtime.c", "-o", "program", "-lpthread", "-lm"});
    if (!QTest::currentTestFailed()) call(folder_.filePath("program"), arguments);
  }
  void compare_outputs(const std::vector<HostArray>& want) const {
    for (size_t i = 0; i < want.size(); ++i) {
      QFile file(QString::fromStdString(path(fmt::format("out{}", i))));
      QVERIFY(file.open(QIODevice::ReadOnly));
      const QByteArray got = file.readAll();
      QCOMPARE(static_cast<size_t>(got.size()), want[i].data.size());
      QVERIFY2(std::memcmp(got.constData(), want[i].data.data(), want[i].data.size()) == 0, QByteArray::number(static_cast<int>(i)));
    }
  }

  /// A program that reads its inputs from files and writes its outputs, with arrays `shift` bytes off a multiple of 64.
  std::string program(const runtime::Executable& e, const api::CExport& c) const {
    std::string text = fmt::format("#include \"{}.h\"\n{}", c.name, R"(#include <stdio.h>
#include <stdlib.h>
static char memory[64 << 20];
static size_t used;
static char* array(size_t bytes, int shift) {
  char* p = memory + used;
  p += (64 - (size_t)p % 64) % 64 + (size_t)shift;
  used = (size_t)(p - memory) + bytes;
  return p;
}
static char* read_array(const char* path, size_t bytes, int shift) {
  char* p = array(bytes, shift);
  FILE* f = fopen(path, "rb");
  if (f == NULL || fread(p, 1, bytes, f) != bytes || fclose(f) != 0) exit(10);
  return p;
}
static void write_array(const char* path, const void* p, size_t bytes) {
  FILE* f = fopen(path, "wb");
  if (f == NULL || fwrite(p, 1, bytes, f) != bytes || fclose(f) != 0) exit(11);
}
int main(int argc, char** argv) {
  const int threads = atoi(argv[1]), shift = atoi(argv[2]);
)");
    text += fmt::format("  struct {0}_inputs in;\n  struct {0}_outputs out;\n  struct tw_instance* net = {0}_create(threads);\n", c.name);
    const auto member = [&](int s) { return api::c_identifier(spec_of(e, s).name); };
    const auto size = [&](const std::string& where, int s) {
      return fmt::format("{}_{}_ELEMENTS * sizeof *{}.{}", QString::fromStdString(c.name).toUpper().toStdString(),
                         QString::fromStdString(member(s)).toUpper().toStdString(), where, member(s));
    };
    text += "  if (argc != 3 || net == NULL) return 12;\n";
    for (size_t i = 0; i < e.inputs.size(); ++i)
      text += fmt::format("  in.{} = (const void*)read_array(\"in{}\", {}, shift);\n", member(e.inputs[i]), i, size("in", e.inputs[i]));
    for (const int s : e.outputs) text += fmt::format("  out.{} = (void*)array({}, shift);\n", member(s), size("out", s));
    // The second run starts from what the first left behind.
    text += fmt::format("  if ({0}_run(net, &in, &out) != 0 || {0}_run(net, &in, &out) != 0) return 13;\n", c.name);
    for (size_t i = 0; i < e.outputs.size(); ++i)
      text += fmt::format("  write_array(\"out{}\", out.{}, {});\n", i, member(e.outputs[i]), size("out", e.outputs[i]));
    return text + fmt::format("  {}_destroy(net);\n  return 0;\n}}\n", c.name);
  }

  void rename(runtime::Executable& e, const std::string& input, const std::string& output) const {
    spec_of(e, e.inputs[0]).name = input;
    spec_of(e, e.outputs[0]).name = output;
  }
};

}  // namespace

/// Real C programs, compiled and linked with `cc`, give the bits that GraphExecutor gives.
class CExportTest : public QObject {
  Q_OBJECT

  Project p_;

 private Q_SLOTS:
  void initTestCase() {
    p_.target_ = host_target();
    QVERIFY(p_.folder_.isValid());
    if (QStandardPaths::findExecutable("cc").isEmpty()) QSKIP("no C compiler `cc`");
  }

  void programsGiveTheSameBits_data() {
    QTest::addColumn<std::string>("model");
    for (const char* name : {"lenet5", "resnet18", "shufflenet_v2", "bert_base", "gpt2_small", "dcgan"}) QTest::newRow(name) << std::string(name);
  }
  void programsGiveTheSameBits() {
    QFETCH(std::string, model);
    const runtime::Executable e = p_.compile(model);
    const auto inputs = p_.inputs_of(e);
    const std::vector<HostArray> want = p_.execute(e, inputs);
    const api::CExport c = api::export_c(e, model).value();
    QCOMPARE(c.name, model);
    p_.write_export(c);
    p_.write_inputs(e, inputs);
    p_.write("main.c", p_.program(e, c));
    const QStringList sources{"main.c", QString::fromStdString(c.name + ".o"), QString::fromStdString(c.name + "_data.o")};
    for (const QStringList& arguments : {QStringList{"1", "0"}, QStringList{"3", "0"}, QStringList{"2", "4"}}) {
      p_.build_and_run(sources, arguments);
      if (QTest::currentTestFailed()) return;
      p_.compare_outputs(want);
    }
  }

  /// Inputs below the smallest normal number give what zeros give, in the executor and in programs.
  void tinyNumbersAreZero() {
    const runtime::Executable e = p_.compile("lenet5");
    auto zeros = p_.inputs_of(e), tiny = zeros;
    for (auto& [name, array] : zeros) std::fill(array.data.begin(), array.data.end(), std::byte{0});
    for (auto& [name, array] : tiny)
      for (int64_t k = 0; k < array.num_elements(); ++k) array.set(k, 1e-39);
    const std::vector<HostArray> want = p_.execute(e, zeros), got = p_.execute(e, tiny);
    for (size_t i = 0; i < want.size(); ++i) QVERIFY(got[i].data == want[i].data);
    const api::CExport c = api::export_c(e, "lenet5").value();
    p_.write_export(c);
    p_.write_inputs(e, tiny);
    p_.write("main.c", p_.program(e, c));
    p_.build_and_run({"main.c", "lenet5.o", "lenet5_data.o"}, {"2", "0"});
    if (!QTest::currentTestFailed()) p_.compare_outputs(want);
  }

  void memoryAndThreadsAreClean() {
    const runtime::Executable e = p_.compile("lenet5");
    const auto inputs = p_.inputs_of(e);
    const api::CExport c = api::export_c(e, "lenet5").value();
    p_.write_export(c);
    p_.write_inputs(e, inputs);
    p_.write("main.c", p_.program(e, c));
    p_.build_and_run({"main.c", "lenet5.o", "lenet5_data.o"}, {"3", "4"}, {"-fsanitize=address,undefined", "-g"});
    if (!QTest::currentTestFailed()) p_.compare_outputs(p_.execute(e, inputs));
  }

  void twoNetworksInOneProgram() {
    const runtime::Executable one = p_.compile("mlp", "first"), two = p_.compile("mlp", "second");
    p_.write_export(api::export_c(one, "first").value());
    p_.write_export(api::export_c(two, "second").value());
    const auto include = [](const std::string& header) { return "#include \"" + header + "\"\n"; };
    p_.write("main.c", include("stddef.h") + include("first.h") + include("second.h") + R"(
int main(void) {
  struct tw_instance *a = first_create(1), *b = second_create(1);
  const int good = a != NULL && b != NULL;
  first_destroy(a);
  second_destroy(b);
  return good ? 0 : 1;
}
)");
    p_.build_and_run({"main.c", "first.o", "first_data.o", "second.o", "second_data.o"});
  }

  void anotherVersionOfTheTablesIsRefused() {
    p_.write("tilewright_runtime.c", api::export_c(p_.compile("mlp"), "mlp").value().runtime);
    p_.write("main.c", R"(#include <stddef.h>
#include <stdint.h>
struct tw_network;
struct tw_instance* tw_create(const struct tw_network* network, int threads);
int main(void) {
  static const int64_t tables[16] = {99};
  return tw_create((const struct tw_network*)tables, 1) == NULL ? 0 : 1;
}
)");
    p_.build_and_run({"main.c"});
  }

  void namesBecomeIdentifiers() {
    QCOMPARE(api::c_identifier("resnet18"), std::string("resnet18"));
    QCOMPARE(api::c_identifier("torch-jit/export.1"), std::string("torch_jit_export_1"));
    QCOMPARE(api::c_identifier("3d"), std::string("n3d"));
    QCOMPARE(api::c_identifier(""), std::string("n"));
    QCOMPARE(api::c_identifier("float"), std::string("float_"));
  }

  void headersSurviveHostileNames() {
    runtime::Executable e = p_.compile("lenet5");
    e.name = "evil */ int x;";
    p_.rename(e, "x*/\ny", "X*/\nY");  // the same but for case
    const api::CExport c = api::export_c(e, "class").value();
    QCOMPARE(c.name, std::string("class_"));
    p_.write_export(c);
    p_.write(
        "main.c",
        "#include \"class_.h\"\nint main(void) { class__destroy(class__create(1)); return CLASS__X___Y_ELEMENTS > 0 && CLASS__X___Y_1_ELEMENTS > 0 ? 0 : 1; "
        "}\n");
    p_.build_and_run({"main.c", "class_.o", "class__data.o"});
  }
};

QTEST_APPLESS_MAIN(CExportTest)
#include "c_export_test.moc"
