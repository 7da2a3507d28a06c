// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "engine/frontends/onnx/onnx_inputs.h"
#include "engine/frontends/frontend.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/pass.h"
#include "tests/engine/frontends/onnx/model_text.h"

using namespace tw;
using namespace onnx_test;

/// What the reader makes of small models: shapes, opsets, functions, branches, external data, and what it says when it refuses.
class OnnxReaderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void shape_chains_become_constants();
  void attributes_and_operands_of_different_opsets();
  void functions_and_branches_are_inlined();
  void outputs_get_nodes_of_their_own();
  void outputs_keep_their_names();
  void dynamic_dimensions();
  void missing_dimensions();
  void operators_of_onnx_runtime_are_checked();
  void negative_dimensions();
  void inputs_that_are_one_integer();
  void refusals_data();
  void refusals();
  void weights_beside_the_model();
  void weights_beside_the_model_are_confined();
};

namespace {

Expected<graph::Graph> read(const onnx::ModelProto& m, const frontends::ImportOptions& o = {}) { return frontends::read_onnx_bytes(bytes(m), {}, o); }

/// Text of the error, or "imported".
std::string refusal(const onnx::ModelProto& m, const frontends::ImportOptions& o = {}) {
  const auto g = read(m, o);
  return g ? "imported" : g.error().text();
}

void verify_contains(const std::string& text, const std::string& part) {
  QVERIFY2(text.find(part) != std::string::npos, (text + "\n lacks \n" + part).c_str());
}

onnx::ModelProto one_node(const std::string& op, int64_t opset = 13) {
  onnx::ModelProto m = model(opset);
  input(m, "x", {2, 3});
  node(m, op, {"x"}, "y");
  output(m, "y");
  return m;
}

/// y = x + w with w of [2] in `location`.
onnx::ModelProto with_external(const std::string& location, const std::string& offset = "0", const std::string& length = "8") {
  onnx::ModelProto m = model();
  input(m, "x", {2});
  onnx::TensorProto* t = floats(m, "w", {2}, {});
  t->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", offset), std::pair("length", length)}) {
    auto* e = t->add_external_data();
    e->set_key(key);
    e->set_value(value);
  }
  node(m, "Add", {"x", "w"}, "y");
  output(m, "y");
  return m;
}

void write(const std::filesystem::path& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

}  // namespace

void OnnxReaderTest::shape_chains_become_constants() {
  onnx::ModelProto m = model();
  input(m, "x", {2, 3, 4});
  longs(m, "zero", {0});
  longs(m, "rest", {-1});
  node(m, "Shape", {"x"}, "shape");
  integer(node(m, "Gather", {"shape", "zero"}, "batch"), "axis", 0);
  integer(node(m, "Concat", {"batch", "rest"}, "target"), "axis", 0);
  node(m, "Reshape", {"x", "target"}, "reshaped");
  node(m, "Dropout", {"reshaped"}, "y");
  output(m, "y");
  std::vector<frontends::OperatorReading> reading;
  frontends::ImportOptions options;
  options.reading = &reading;
  const auto g = read(m, options);
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  QStringList became;  // computed, left out, operators
  for (const frontends::OperatorReading& r : reading)
    became << QString("%1 %2 %3 %4 %5").arg(QString::fromStdString(r.name)).arg(r.uses).arg(r.computed).arg(r.left_out).arg(r.operators);
  QCOMPARE(became.join(", "), QString("Concat 1 1 0 0, Dropout 1 0 1 0, Gather 1 1 0 0, Reshape 1 0 0 1, Shape 1 1 0 0"));
  QCOMPARE(g->nodes.size(), size_t{1});
  QCOMPARE(g->nodes[0].op, std::string("reshape"));
  QCOMPARE(g->values[static_cast<size_t>(g->outputs[0])].type.text(), std::string("float32[2, 12]"));
  QCOMPARE(g->values[static_cast<size_t>(g->outputs[0])].name, std::string("y"));
  QCOMPARE(g->values.size(), size_t{2});
}

void OnnxReaderTest::attributes_and_operands_of_different_opsets() {
  onnx::ModelProto old = model(11), recent = model(13);
  for (onnx::ModelProto* m : {&old, &recent}) {
    input(*m, "x", {2, 1, 3});
    output(*m, "y");
  }
  integers(node(old, "Squeeze", {"x"}, "y"), "axes", {1});
  longs(recent, "axes", {-2});
  node(recent, "Squeeze", {"x", "axes"}, "y");
  for (const onnx::ModelProto* m : {&old, &recent}) {
    const auto g = read(*m);
    QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
    QCOMPARE(g->values[static_cast<size_t>(g->outputs[0])].type.text(), std::string("float32[2, 3]"));
  }
  // Softmax runs over all trailing dimensions before opset 13, over one since.
  const auto reductions = [](int64_t opset) {
    onnx::ModelProto m = model(opset);
    input(m, "x", {2, 2, 2});
    integer(node(m, "Softmax", {"x"}, "y"), "axis", 1);
    output(m, "y");
    HostArray x = HostArray::make(kFloat32, {2, 2, 2});
    return graph::evaluate(read(m).value(), {{"x", x}}).value()[0].get(0);
  };
  QCOMPARE(reductions(12), 0.25);
  QCOMPARE(reductions(13), 0.5);
}

void OnnxReaderTest::functions_and_branches_are_inlined() {
  onnx::ModelProto m = model();
  input(m, "x", {2});
  onnx::FunctionProto* f = m.add_functions();
  f->set_name("Scaled");
  f->set_domain("local");
  f->add_input("a");
  f->add_output("b");
  f->add_attribute("alpha");
  f->add_opset_import()->set_version(13);
  onnx::NodeProto* inner = f->add_node();
  inner->set_op_type("LeakyRelu");
  inner->add_input("a");
  inner->add_output("b");
  onnx::AttributeProto* reference = inner->add_attribute();
  reference->set_name("alpha");
  reference->set_ref_attr_name("alpha");
  reference->set_type(onnx::AttributeProto::FLOAT);
  onnx::NodeProto* call = node(m, "Scaled", {"x"}, "scaled");
  call->set_domain("local");
  onnx::AttributeProto* alpha = call->add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  alpha->set_f(0.5F);

  longs(m, "condition", {1});
  onnx::NodeProto* branch = node(m, "If", {"condition"}, "y");
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = branch->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    node(*a->mutable_g(), name[0] == 't' ? "Neg" : "Abs", {"scaled"}, "out");
    a->mutable_g()->add_output()->set_name("out");
  }
  output(m, "y");
  std::vector<frontends::OperatorReading> reading;
  frontends::ImportOptions options;
  options.reading = &reading;
  const auto g = read(m, options);
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  QStringList names;
  for (const frontends::OperatorReading& r : reading) names << QString::fromStdString(r.name);
  QCOMPARE(names, QStringList({"If", "LeakyRelu", "Neg", "Scaled"}));  // what stands in functions and in the branch that is taken
  HostArray x = HostArray::make(kFloat32, {2});
  x.set(0, -2);
  x.set(1, 3);
  const auto y = graph::evaluate(*g, {{"x", x}});
  QVERIFY(y.has_value());
  QCOMPARE((*y)[0].get(0), 1.0);
  QCOMPARE((*y)[0].get(1), -3.0);
}

void OnnxReaderTest::outputs_get_nodes_of_their_own() {
  onnx::ModelProto m = model();
  input(m, "x", {2});
  floats(m, "w", {1}, {4});
  node(m, "Identity", {"x"}, "same");
  node(m, "Relu", {"x"}, "y");
  node(m, "Identity", {"y"}, "again");
  for (const char* name : {"same", "w", "y", "again"}) output(m, name);
  const auto g = read(m);
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  QVERIFY(graph::verify(*g).has_value());
  QCOMPARE(g->outputs.size(), size_t{4});
  for (const int v : g->outputs) QVERIFY(g->values[static_cast<size_t>(v)].producer >= 0);
  const char* const names[] = {"same", "w", "y", "again"};
  for (size_t i = 0; i < 4; ++i) QCOMPARE(g->values[static_cast<size_t>(g->outputs[i])].name, std::string(names[i]));
}

void OnnxReaderTest::outputs_keep_their_names() {
  // The product becomes several nodes, the first of which makes a value that would be called like the output.
  onnx::ModelProto m = model();
  input(m, "x", {1, 3, 4});
  floats(m, "w", {4, 2}, std::vector<float>(8, 1));
  node(m, "MatMul", {"x", "w"}, "product.out")->set_name("product");
  output(m, "product.out");
  const auto g = read(m);
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  QCOMPARE(g->values[static_cast<size_t>(g->outputs[0])].name, std::string("product.out"));
  const auto optimised = graph::run_passes(*g, Target{});
  QVERIFY2(optimised.has_value(), optimised ? "" : optimised.error().text().c_str());
  QCOMPARE(optimised->values[static_cast<size_t>(optimised->outputs[0])].name, std::string("product.out"));
}

void OnnxReaderTest::dynamic_dimensions() {
  onnx::ModelProto m = model();
  onnx::ValueInfoProto* x = input(m, "x", {1, 1, 3});
  x->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("batch_size");
  x->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_param("length");
  node(m, "Relu", {"x"}, "y");
  output(m, "y");
  verify_contains(refusal(m), "Dynamic dimensions of the inputs have no size: 'length' (x.1); give them, such as --dim length=128");
  const auto g = read(m, {.dims = {{"length", 7}}});
  QVERIFY(g.has_value());
  QCOMPARE(g->values[static_cast<size_t>(g->inputs[0])].type.text(), std::string("float32[1, 7, 3]"));
  verify_contains(refusal(m, {.dims = {{"length", 7}, {"width", 2}}}), "No input has a dynamic dimension called 'width'");
  verify_contains(refusal(m, {.dims = {{"length", -1}}}), "at least 0");
  verify_contains(refusal(m, {.dims = {{"length", 7}}, .shapes = {{"x", {{1, 2, 3}}}}}), "found one that has a shape");
  // Without a shape in the file one is given.
  x->mutable_type()->mutable_tensor_type()->clear_shape();
  verify_contains(refusal(m), "unknown rank; give it, such as --input-shape x=");
  const auto shaped = read(m, {.shapes = {{"x", {{2, 3}}}}});
  QVERIFY2(shaped.has_value(), shaped ? "" : shaped.error().text().c_str());
  QCOMPARE(shaped->values[static_cast<size_t>(shaped->inputs[0])].type.text(), std::string("float32[2, 3]"));
  verify_contains(refusal(m, {.shapes = {{"x", {{2, 3}, kInt64}}}}), "Expected float32, as the file has it, found int64");
  verify_contains(refusal(m, {.shapes = {{"x", {{2, 3}}}, {"z", {{2, 3}}}}}), "No input is called 'z'");
}

/// What they are given need not fit: shapes are looked at before they are read.
void OnnxReaderTest::operators_of_onnx_runtime_are_checked() {
  onnx::ModelProto scalar = model();
  input(scalar, "x", {});
  onnx::NodeProto* heads = node(scalar, "MultiHeadAttention", {"x", "x", "x"}, "y");
  heads->set_domain("com.microsoft");
  integer(heads, "num_heads", 2);
  output(scalar, "y");
  verify_contains(refusal(scalar), "expected queries of rank 3, found []");
  onnx::ModelProto bits = model();
  input(bits, "x", {2, 34});
  onnx::NodeProto* product = node(bits, "MatMulNBits", {"x", "x", "x"}, "y");
  product->set_domain("com.microsoft");
  for (const auto& [name, v] : {std::pair{"K", 34}, {"N", 5}, {"block_size", 17}}) integer(product, name, v);
  output(bits, "y");
  verify_contains(refusal(bits), "blocks of 16 or a larger power of two, found 34, 5, 17");
}

void OnnxReaderTest::missing_dimensions() {
  onnx::ModelProto m = model();
  onnx::ValueInfoProto* x = input(m, "x", {1, 3, 1, 1, 1});
  const auto dim = [](onnx::ValueInfoProto* v, int axis) { return v->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(axis); };
  dim(x, 2)->set_dim_param("?");  // no name: each axis is one of its own
  dim(x, 3)->set_dim_param("?");
  dim(x, 4)->set_dim_param("width");
  onnx::ValueInfoProto* z = input(m, "z", {1, 1});
  dim(z, 1)->set_dim_param("width");
  node(m, "Relu", {"x"}, "y");
  output(m, "y");
  verify_contains(refusal(m), "no size: 'x.2', 'x.3', 'width' (x.4); give them, such as --dim x.2=1 --dim x.3=1 --dim width=224");
  onnx::ModelProto image = model();
  onnx::ValueInfoProto* pixels = input(image, "x", {1, 3, -1, -1});
  node(image, "Relu", {"x"}, "y");
  output(image, "y");
  verify_contains(refusal(image), "such as --dim x.2=224 --dim x.3=224");
  dim(pixels, 1)->set_dim_value(-1);
  dim(pixels, 3)->set_dim_value(1);
  verify_contains(refusal(image), "such as --dim x.1=224 --dim x.2=224");
  onnx::ModelProto sound = model();
  onnx::ValueInfoProto* wave = input(sound, "waveforms", {1, -1});
  dim(wave, 0)->set_dim_param("batch");
  dim(wave, 1)->set_dim_param("N");
  node(sound, "Relu", {"waveforms"}, "y");
  output(sound, "y");
  verify_contains(refusal(sound), "such as --dim N=16000");
  verify_contains(refusal(m, {.dims = {{"x.2", 5}, {"width", 2}}}), "no size: 'x.3'; give them");
  const auto g = read(m, {.dims = {{"x.2", 5}, {"x.3", 6}, {"width", 2}}});
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  QCOMPARE(g->values[static_cast<size_t>(g->inputs[0])].type.text(), std::string("float32[1, 3, 5, 6, 2]"));
  // An input that is fixed needs no sizes.
  const auto fixed = read(m, {.dims = {{"width", 2}}, .constants = {{"x", HostArray::make(kFloat32, {1, 3, 4, 4, 2})}}});
  QVERIFY2(fixed.has_value(), fixed ? "" : fixed.error().text().c_str());
}

void OnnxReaderTest::inputs_that_are_one_integer() {
  onnx::ModelProto m = model();
  input(m, "x", {2});
  input(m, "rate", {}, onnx::TensorProto::INT64);
  longs(m, "high", {16});
  node(m, "Equal", {"rate", "high"}, "is_high");
  onnx::NodeProto* branch = node(m, "If", {"is_high"}, "y");
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = branch->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::GRAPH);
    node(*a->mutable_g(), name[0] == 't' ? "Neg" : "Shape", {"x"}, name);
    a->mutable_g()->add_output()->set_name(name);
  }
  output(m, "y");
  verify_contains(refusal(m), "results of one shape can be chosen (a condition that an integer input decides is known with --dim rate=VALUE)");
  const auto high = read(m, {.dims = {{"rate", 16}}}), low = read(m, {.dims = {{"rate", 8}}});
  QVERIFY2(high.has_value(), high ? "" : high.error().text().c_str());
  QVERIFY2(low.has_value(), low ? "" : low.error().text().c_str());
  const auto result = [](const graph::Graph& g) { return g.values[static_cast<size_t>(g.outputs[0])].type.text(); };
  QCOMPARE(result(*high), std::string("float32[2]"));
  QCOMPARE(result(*low), std::string("int64[1]"));
  QCOMPARE(high->inputs.size(), size_t{1});
  const auto sizes = frontends::open_sizes_of(m.graph());
  QCOMPARE(sizes.size(), size_t{1});
  QVERIFY(sizes[0].name == "rate" && sizes[0].is_input && !sizes[0].required);
  m.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT8);
  verify_contains(refusal(m, {.dims = {{"rate", 16000}}}), "Expected a value of int8 for input 'rate', found 16000");
}

void OnnxReaderTest::negative_dimensions() {
  for (const int64_t extent : {-1, -5}) {
    onnx::ModelProto m = model();
    input(m, "x", {3, extent});
    node(m, "Relu", {"x"}, "y");
    output(m, "y");
    verify_contains(refusal(m), extent == -1 ? "Dynamic dimensions of the inputs have no size: 'x.1'; give them, such as --dim x.1=1" : "Expected an extent, or -1 for a dynamic one, as axis 1 of input 'x', found -5");
  }
  onnx::ModelProto batch = model();  // without a name, the first axis is a batch, but not one of -5
  input(batch, "x", {-5, 3});
  node(batch, "Relu", {"x"}, "y");
  output(batch, "y");
  verify_contains(refusal(batch), "as axis 0 of input 'x', found -5");
}

void OnnxReaderTest::refusals_data() {
  QTest::addColumn<QByteArray>("file");
  QTest::addColumn<QString>("text");
  const auto add = [](const char* name, const std::string& file, const char* text) { QTest::newRow(name) << QByteArray::fromStdString(file) << text; };
  add("empty", "", "Expected a serialised ONNX model, found no bytes");
  add("text", "this is no model at all", "Expected a serialised ONNX model");
  add("cut off", bytes(one_node("Relu")).substr(0, 40), "Expected a serialised ONNX model");
  add("newer", bytes(one_node("Relu", 29)), "Expected a model of ONNX opset 1 to 28, found opset 29");
  add("operator", bytes(one_node("Frobnicate")), "Operator 'Frobnicate' is not supported (at node 'y_node' (Frobnicate))");
  onnx::ModelProto several = one_node("Frobnicate");
  node(several, "Frobnicate", {"y"}, "z");
  node(several, "Twiddle", {"z"}, "w")->set_domain("example.org");
  add("operators", bytes(several), "Operators 'Frobnicate' (2 times), 'Twiddle' of domain 'example.org' are not supported (at node 'y_node' (Frobnicate))");
  onnx::ModelProto foreign = one_node("Relu");
  foreign.mutable_graph()->mutable_node(0)->set_domain("example.org");
  add("domain", bytes(foreign), "of domain 'example.org'");
  onnx::ModelProto undefined = model();
  node(undefined, "Relu", {"x"}, "y");
  output(undefined, "y");
  add("undefined", bytes(undefined), "operand 'x' is not defined before it");
  onnx::ModelProto shapes = model();
  input(shapes, "x", {2, 3});
  input(shapes, "z", {4});
  node(shapes, "Add", {"x", "z"}, "y");
  output(shapes, "y");
  add("shapes", bytes(shapes), "expected shapes that broadcast, found [2, 3] and [4] (at node 'y_node' (Add))");
  onnx::ModelProto data = one_node("Relu");
  floats(data, "w", {3}, {1, 2});
  add("data", bytes(data), "Expected 3 elements of data, found 2 (at tensor 'w')");
  onnx::ModelProto huge = one_node("Relu");
  floats(huge, "w", {int64_t{1} << 32, int64_t{1} << 32, 1}, {});
  add("huge", bytes(huge), "Expected at most 2^36 elements");
  onnx::ModelProto open = model();
  input(open, "x", {2, 3});
  input(open, "s", {2}, onnx::TensorProto::INT64);
  node(open, "Reshape", {"x", "s"}, "y");
  output(open, "y");
  add("computed shape", bytes(open), "expected the new shape (operand 1) to be known while importing");
  onnx::ModelProto recursive = one_node("Loop_");
  onnx::FunctionProto* f = recursive.add_functions();
  f->set_name("Loop_");
  f->add_input("a");
  f->add_output("b");
  onnx::NodeProto* inner = f->add_node();
  inner->set_op_type("Loop_");
  inner->add_input("a");
  inner->add_output("b");
  add("recursion", bytes(recursive), "functions are nested deeper than 64");
}

void OnnxReaderTest::refusals() {
  QFETCH(QByteArray, file);
  QFETCH(QString, text);
  const auto g = frontends::read_onnx_bytes(file.toStdString(), {});
  QVERIFY(!g.has_value());
  verify_contains(g.error().text(), text.toStdString());
}

void OnnxReaderTest::weights_beside_the_model() {
  QTemporaryDir folder;
  const std::filesystem::path root = folder.path().toStdString();
  const float w[] = {10, 20, 30};
  std::filesystem::create_directory(root / "sub");
  write(root / "sub" / "w.bin", std::string(reinterpret_cast<const char*>(w), sizeof w));
  write(root / "m.onnx", bytes(with_external("sub/w.bin", "4")));
  const auto g = frontends::read_onnx((root / "m.onnx").string());
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  const auto y = graph::evaluate(*g, {{"x", HostArray::make(kFloat32, {2})}});
  QCOMPARE((*y)[0].get(0), 20.0);
  QCOMPARE((*y)[0].get(1), 30.0);
  std::vector<int64_t> told;
  frontends::ImportOptions options;
  options.on_external_file = [&](int64_t size) { told.push_back(size); };
  QVERIFY(frontends::read_onnx((root / "m.onnx").string(), options));
  QCOMPARE(told, std::vector<int64_t>{sizeof w});
}

void OnnxReaderTest::weights_beside_the_model_are_confined() {
  QTemporaryDir outer;
  const std::filesystem::path root = outer.path().toStdString() + "/models";
  std::filesystem::create_directories(root / "real");
  write(root / ".." / "secret", "0123456789");
  write(root / "real" / "w.bin", "0123456789");
  write(root / "twice", "0123456789");
  std::filesystem::create_symlink(root / ".." / "secret", root / "link");
  std::filesystem::create_directory_symlink(root / "real", root / "folder");
  std::filesystem::create_hard_link(root / "twice", root / "once");
  const auto trouble = [&](const std::string& location, const std::string& offset = "0", const std::string& length = "8") {
    write(root / "m.onnx", bytes(with_external(location, offset, length)));
    const auto g = frontends::read_onnx((root / "m.onnx").string());
    return g ? std::string("imported") : g.error().text();
  };
  verify_contains(trouble("real/w.bin"), "imported");
  verify_contains(trouble("../secret"), "'..' in the path");
  verify_contains(trouble("real/../../secret"), "'..' in the path");
  verify_contains(trouble((root / "real" / "w.bin").string()), "an absolute path");
  verify_contains(trouble("link"), "a link");
  verify_contains(trouble("folder/w.bin"), "below the model's folder");
  verify_contains(trouble("once"), "a second hard link");
  verify_contains(trouble("real"), "not a regular file");
  verify_contains(trouble("absent"), "found none");
  verify_contains(trouble("real/w.bin", "4"), "found 8 bytes from 4");
  verify_contains(trouble("real/w.bin", "9223372036854775807"), "within the 10 bytes");
  verify_contains(trouble("real/w.bin", "-1"), "Expected a number of bytes");
  verify_contains(trouble("real/w.bin", "0", "4"), "Expected 8 bytes of data, found 4");
  const auto g = frontends::read_onnx_bytes(bytes(with_external("real/w.bin")), {});
  verify_contains(g ? "imported" : g.error().text(), "the model was not read from a file");
}

QTEST_APPLESS_MAIN(OnnxReaderTest)
#include "onnx_reader_test.moc"
