// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <map>
#include <set>

#include "engine/api/compile.h"
#include "engine/base/rng.h"
#include "engine/graph/derived_constants.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/pass.h"
#include "engine/space/template.h"
#include "tests/engine/frontends/onnx/model_text.h"
#include "tests/engine/graph/graphs.h"

using namespace tw;
using namespace onnx_test;

namespace {

/// How a program that writes models writes one and the same network: an image through two convolutions with bias and ReLU, a mean, a dense layer.
enum class Form { plain, padded, channels_last, inert, stored_as_half, quantised, computed_in_half };

class Writer {
 public:
  explicit Writer(Form form) : form_(form), m_(model(17)), rng_(3) {}

  onnx::ModelProto write() {
    const bool last = form_ == Form::channels_last;
    input(m_, "image", last ? Dims{1, 14, 14, 8} : Dims{1, 8, 14, 14});
    std::string v = "image";
    if (form_ == Form::computed_in_half) v = cast(v, onnx::TensorProto::FLOAT16);
    v = block(v, 8, 16);
    v = block(v, 16, 24);
    onnx::NodeProto* mean = add("ReduceMean", {v});
    integers(mean, "axes", last ? Dims{1, 2} : Dims{2, 3});
    integer(mean, "keepdims", 0);
    v = mean->output(0);
    if (form_ == Form::inert) v = add("Dropout", {v})->output(0);
    onnx::NodeProto* dense = add("Gemm", {quantised(v), weight({10, 24})});
    integer(dense, "transB", 1);
    v = dense->output(0);
    if (form_ == Form::computed_in_half) v = cast(v, onnx::TensorProto::FLOAT);
    output(m_, v);
    return m_;
  }

 private:
  onnx::NodeProto* add(const std::string& op, const std::vector<std::string>& operands) { return node(m_, op, operands, "v" + std::to_string(++count_)); }
  std::string cast(const std::string& v, int64_t to) {
    onnx::NodeProto* n = add("Cast", {v});
    integer(n, "to", to);
    return n->output(0);
  }

  /// The same numbers in every form, as far as it can hold them.
  std::string weight(const Dims& shape) {
    const std::string name = "w" + std::to_string(++count_);
    int64_t elements = 1;
    for (const int64_t d : shape) elements *= d;
    std::vector<float> v;
    for (int64_t i = 0; i < elements; ++i) v.push_back(static_cast<float>(rng_.range(-127, 127)) / 1024);
    if (form_ == Form::quantised && shape.size() > 1) {
      onnx::TensorProto* t = m_.mutable_graph()->add_initializer();
      t->set_name(name);
      t->set_data_type(onnx::TensorProto::INT8);
      for (const int64_t d : shape) t->add_dims(d);
      for (const float x : v) t->add_int32_data(static_cast<int32_t>(x * 1024));
      floats(m_, name + "s", {shape[0]}, std::vector<float>(static_cast<size_t>(shape[0]), 1.0F / 1024));
      onnx::NodeProto* n = add("DequantizeLinear", {name, name + "s"});
      integer(n, "axis", 0);
      return n->output(0);
    }
    floats(m_, name, shape, v);
    if (form_ != Form::stored_as_half && form_ != Form::computed_in_half) return name;
    onnx::TensorProto* t = m_.mutable_graph()->mutable_initializer(m_.graph().initializer_size() - 1);
    t->clear_float_data();
    t->set_data_type(onnx::TensorProto::FLOAT16);
    for (const float x : v) t->add_int32_data(to_half(x));
    return form_ == Form::computed_in_half ? name : cast(name, onnx::TensorProto::FLOAT);
  }

  /// An activation as eight bits and back.
  std::string quantised(const std::string& v) {
    if (form_ != Form::quantised) return v;
    const std::string name = "q" + std::to_string(++count_);
    floats(m_, name + "s", {}, {1.0F / 32});
    onnx::TensorProto* zero = m_.mutable_graph()->add_initializer();
    zero->set_name(name + "z");
    zero->set_data_type(onnx::TensorProto::UINT8);
    zero->add_int32_data(128);
    return add("DequantizeLinear", {add("QuantizeLinear", {v, name + "s", name + "z"})->output(0), name + "s", name + "z"})->output(0);
  }

  std::string turned(const std::string& v, const Dims& perm) {
    if (form_ != Form::channels_last) return v;
    onnx::NodeProto* n = add("Transpose", {v});
    integers(n, "perm", perm);
    return n->output(0);
  }

  std::string block(std::string v, int64_t in, int64_t out) {
    v = quantised(turned(v, {0, 3, 1, 2}));
    if (form_ == Form::padded) {
      longs(m_, "p" + std::to_string(++count_), {0, 0, 1, 1, 0, 0, 1, 1});
      v = add("Pad", {v, "p" + std::to_string(count_)})->output(0);
    }
    const std::string w = weight({out, in, 3, 3}), b = weight({out});
    onnx::NodeProto* conv = add("Conv", {v, w, b});
    integers(conv, "pads", form_ == Form::padded ? Dims{0, 0, 0, 0} : Dims{1, 1, 1, 1});
    v = turned(conv->output(0), {0, 2, 3, 1});
    if (form_ == Form::inert) v = add("Identity", {v})->output(0);
    return add("Relu", {v})->output(0);
  }

  Form form_;
  onnx::ModelProto m_;
  Rng rng_;
  int count_ = 0;
};

struct Kernels {
  graph::Graph imported, optimized;
  graph::Partition partition;
  std::map<std::string, std::string> templates;  ///< by operator that a kernel is about
  std::set<std::string> keys;
};

Kernels kernels(Form form, const Target& target) {
  Kernels k;
  k.imported = frontends::read_onnx_bytes(bytes(Writer(form).write()), {}).value();
  k.optimized = graph::run_passes(k.imported, target).value();
  k.partition = graph::partition(k.optimized).value();
  for (const graph::Workload& w : k.partition.workloads) {
    k.keys.insert(w.key);
    std::string names;
    for (const space::Template* t : space::alternatives(*w.dag, target)) names += std::string(names.empty() ? "" : " ") + t->name;
    if (w.name.find("conv2d") != std::string::npos) k.templates["conv2d " + std::to_string(w.dag->ops.back().output->shape[1])] = names;
    if (w.name.find("dense") != std::string::npos) k.templates["dense"] = names;
  }
  return k;
}

/// Groups around `op`, and all.
std::pair<int, size_t> around(const Kernels& k, const std::string& op) {
  int count = 0;
  for (const graph::Group& g : k.partition.groups) count += g.name.find(op) != std::string::npos;
  return {count, k.partition.groups.size()};
}

}  // namespace

/// However a producer writes a network, it ends up as the kernels of its plain form.
class ProducerFormsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void same_kernels_data() {
    QTest::addColumn<int>("form");
    QTest::addColumn<int>("others");  // kernels beyond those of the plain form
    QTest::newRow("explicit padding") << static_cast<int>(Form::padded) << 0;
    QTest::newRow("channels last") << static_cast<int>(Form::channels_last) << 1;  // the image that comes in is turned once
    QTest::newRow("dropout and identity") << static_cast<int>(Form::inert) << 0;
    QTest::newRow("weights stored as halves") << static_cast<int>(Form::stored_as_half) << 0;
  }
  void same_kernels() {
    QFETCH(int, form);
    QFETCH(int, others);
    for (const char* name : {"llvm -mcpu=x86-64-v3 -num-cores=4", "llvm -mcpu=sapphirerapids -num-cores=2", "cuda -arch=sm_80 -model=a100"}) {
      const Target target = parse_target(name).value();
      const Kernels plain = kernels(Form::plain, target), theirs = kernels(static_cast<Form>(form), target);
      for (const std::string& key : plain.keys) QVERIFY2(theirs.keys.count(key), (graph::print(theirs.optimized) + name).c_str());
      QCOMPARE(static_cast<int>(theirs.partition.groups.size()), static_cast<int>(plain.partition.groups.size()) + others);
    }
  }

  /// Quantised weights are constants, and a pair around an activation is the end of the kernel before it; what comes in has none before it.
  void quantised_pairs_are_in_the_kernels() {
    const Target target = parse_target("llvm -mcpu=skylake-avx512 -num-cores=2").value();
    const Kernels plain = kernels(Form::plain, target), theirs = kernels(Form::quantised, target);
    QCOMPARE(theirs.templates, plain.templates);
    QCOMPARE(around(theirs, "conv2d").first, 2);
    int ends = 0, integers = 0;
    for (const graph::Group& g : theirs.partition.groups) ends += g.name.find("conv2d") != std::string::npos && g.name.find("round") != std::string::npos;
    for (const graph::Node& n : theirs.optimized.nodes) integers += n.op == "cast";
    QVERIFY2(ends == 1 && integers == 0, graph::print(theirs.optimized).c_str());
    QCOMPARE(kernels(Form::quantised, parse_target("llvm -mcpu=sapphirerapids").value()).templates.at("dense"), std::string("dense_bytes.cpu"));  // with dot products of bytes
    QCOMPARE(theirs.partition.groups.size(), plain.partition.groups.size() + 2);  // the image's, and that of the mean
  }

  void halves_use_the_same_templates() {
    const Target target = parse_target("llvm -mcpu=sapphirerapids -num-cores=2").value();
    const Kernels plain = kernels(Form::plain, target), theirs = kernels(Form::computed_in_half, target);
    QCOMPARE(theirs.templates, plain.templates);
    QCOMPARE(around(theirs, "conv2d").first, around(plain, "conv2d").first);
    // The image and the numbers between kernels are halves; nothing else is added to the plain kernels.
    QVERIFY2(around(theirs, "conv2d").second <= around(plain, "conv2d").second + 2, graph::print(theirs.optimized).c_str());
  }

  /// What the forms have in common is the result.
  void same_numbers() {
    const Target target = host_target();
    const Kernels plain = kernels(Form::plain, target);
    const HostArray x = graph::testing::random_array({kFloat32, {1, 8, 14, 14}}, 5);
    const HostArray want = graph::evaluate(plain.imported, {{"image", x}}).value()[0];
    for (const Form form : {Form::padded, Form::channels_last, Form::inert, Form::stored_as_half, Form::quantised, Form::computed_in_half}) {
      const Kernels k = kernels(form, target);
      const HostArray given = form == Form::channels_last ? graph::transposed(x, {0, 2, 3, 1}) : x;
      const HostArray imported = graph::evaluate(k.imported, {{"image", given}}).value()[0], got = graph::evaluate(k.optimized, {{"image", given}}).value()[0];
      const double coarse = form == Form::quantised ? 0.1 : form == Form::computed_in_half ? 1e-2 : 1e-5;
      QVERIFY2(graph::testing::relative_difference(got, want) < coarse, qPrintable(QString::number(static_cast<int>(form))));
      QVERIFY2(graph::testing::relative_difference(got, imported) < (form == Form::computed_in_half ? 2e-3 : 1e-5), qPrintable(QString::number(static_cast<int>(form))));
    }
  }
};

QTEST_APPLESS_MAIN(ProducerFormsTest)
#include "producer_forms_test.moc"
