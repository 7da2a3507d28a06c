// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "engine/base/rng.h"
#include "tests/engine/frontends/onnx/run_model.h"

using namespace tw;
using namespace onnx_test;

/// Operators that ONNX's own cases leave out or touch only in one form, against numbers worked out by hand or by another formula.
class OnnxOpsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void resize_against_aliasing();
  void resize_keeps_the_aspect_ratio();
  void resize_shrinks_first();
  void determinants();
  void transforms_and_back();
  void frames_of_a_signal();
  void scans_backwards();
  void grids_and_samples();
  void cubic_samples_at_the_border();
  void nothing_and_large_integers();
  void columns_to_images();
  void crops_and_pads();
  void regions();
  void empty_parts();
  void attention_by_groups();
  void rows_without_keys();
  void weights_in_blocks();
  void narrow_operands();
  void branches_at_run_time();
  void sequences_unroll();
  void loops_carry_sequences();
  void inputs_and_outputs_without_elements();
  void function_defaults();
  void refusals();
};

void OnnxOpsTest::resize_against_aliasing() {
  onnx::ModelProto m = model(18);
  input(m, "x", {1, 1, 4, 4});
  floats(m, "none", {0}, {});
  floats(m, "scales", {4}, {1, 1, 0.6F, 0.6F});
  onnx::NodeProto* n = node(m, "Resize", {"x", "none", "scales"}, "y");
  text(n, "mode", "linear");
  integer(n, "antialias", 1);
  output(m, "y");
  // Position 1/3 of 0 to 3 takes shares 0.2 + 0.8 and 0.6 of the first two elements: 0.375 on the average.
  compare(run(m, {{"x", counting({1, 1, 4, 4})}}), {1, 1, 2, 2}, {2.875, 4.5, 9.375, 11});
}

void OnnxOpsTest::resize_keeps_the_aspect_ratio() {
  for (const auto& [policy, shape] : {std::pair<const char*, Dims>{"not_larger", {1, 1, 7, 7}}, {"not_smaller", {1, 1, 8, 8}}}) {
    onnx::ModelProto m = model(18);
    input(m, "x", {1, 1, 2, 2});
    longs(m, "sizes", {7, 8});
    onnx::NodeProto* n = node(m, "Resize", {"x", "", "", "sizes"}, "y");
    integers(n, "axes", {2, 3});
    text(n, "keep_aspect_ratio_policy", policy);
    output(m, "y");
    QCOMPARE(run(m, {{"x", counting({1, 1, 2, 2})}}).shape, shape);
  }
}

/// The dimension that shrinks most comes first, the one that grows last; columns behind all that shrink much where those of a vector lie far apart.
void OnnxOpsTest::resize_shrinks_first() {
  using Dims = std::vector<int64_t>;
  for (const auto& [sizes, order] : {std::pair<Dims, Dims>{{8, 9, 28}, {2, 1, 0}}, {{8, 9, 2}, {2, 1, 0}}, {{8, 5, 2}, {1, 2, 0}}}) {
    onnx::ModelProto m = model(18);
    input(m, "x", {4, 10, 32});
    longs(m, "sizes", sizes);
    text(node(m, "Resize", {"x", "", "", "sizes"}, "y"), "mode", "linear");
    output(m, "y");
    const auto g = frontends::read_onnx_bytes(bytes(m), {});
    QVERIFY(g);
    Dims axes;
    for (const graph::Node& n : g->nodes)
      if (n.op == "resample") axes.push_back(n.attrs.integer("axis", 0));
    QCOMPARE(axes, order);
  }
}

void OnnxOpsTest::determinants() {
  onnx::ModelProto m = model();
  input(m, "x", {5, 3, 3});
  node(m, "Det", {"x"}, "y");
  output(m, "y");
  const HostArray x = array({5, 3, 3}, {1, 0,  0, 0, 1, 0, 0, 0, 1,  // identity
                                        0, 1,  0, 1, 0, 0, 0, 0, 1,  // one exchange
                                        0, 0,  2, 3, 0, 0, 0, 4, 0,  // a cycle
                                        1, 2,  3, 2, 4, 6, 1, 1, 1,  // singular
                                        2, -1, 3, 0, 5, 1, 4, 2, -2});
  compare(run(m, {{"x", x}}), {5}, {1, -1, 24, 0, 2 * (-10 - 2) + 1 * (0 - 4) + 3 * (0 - 20)});
}

void OnnxOpsTest::transforms_and_back() {
  onnx::ModelProto m = model(17);
  input(m, "x", {2, 6, 3, 1});
  node(m, "DFT", {"x"}, "f");
  integer(node(m, "DFT", {"f"}, "y"), "inverse", 1);
  output(m, "y");
  const HostArray y = run(m, {{"x", counting({2, 6, 3, 1})}});
  QCOMPARE(y.shape, (Dims{2, 6, 3, 2}));
  for (int64_t i = 0; i < 36; ++i) {
    QVERIFY(std::abs(y.get(2 * i) - static_cast<double>(i + 1)) < 1e-4);
    QVERIFY(std::abs(y.get(2 * i + 1)) < 1e-4);
  }
}

void OnnxOpsTest::frames_of_a_signal() {
  onnx::ModelProto m = model(17);
  input(m, "x", {1, 6, 1});
  longs(m, "step", {2});
  floats(m, "window", {4}, {1, 1, 0, 1});
  node(m, "STFT", {"x", "step", "window"}, "y");
  output(m, "y");
  // Frames 1 2 3 4 and 3 4 5 6 without their third elements: sums, then a - i b + i d, then a - b - d.
  compare(run(m, {{"x", counting({1, 6, 1})}}), {1, 2, 3, 2}, {7, 0, 1, 2, -5, 0, 13, 0, 3, 2, -7, 0});
}

void OnnxOpsTest::scans_backwards() {
  onnx::ModelProto m = model();
  input(m, "s", {2});
  input(m, "x", {2, 3});
  onnx::NodeProto* n = node(m, "Scan", {"s", "x"}, "last");
  n->add_output("y");
  integer(n, "num_scan_inputs", 1);
  integers(n, "scan_input_axes", {1});
  integers(n, "scan_input_directions", {1});
  integers(n, "scan_output_directions", {1});
  integers(n, "scan_output_axes", {-1});
  onnx::AttributeProto* a = n->add_attribute();
  a->set_name("body");
  a->set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto* body = a->mutable_g();
  body->add_input()->set_name("state");
  body->add_input()->set_name("element");
  node(*body, "Add", {"state", "element"}, "sum");
  node(*body, "Mul", {"sum", "element"}, "scaled");
  body->add_output()->set_name("sum");
  body->add_output()->set_name("scaled");
  output(m, "y");
  // Row 1 2 3 from the right: sums 3, 5, 6, times the element: 9, 10, 6, stacked from the end.
  compare(run(m, {{"s", array({2}, {0, 1})}, {"x", array({2, 3}, {1, 2, 3, 1, 1, 1})}}), {2, 3}, {6, 10, 9, 4, 3, 2});
}

void OnnxOpsTest::grids_and_samples() {
  // The identity of an affine grid samples the image itself, in two and three dimensions.
  for (const Dims& size : {Dims{1, 2, 3, 4}, Dims{1, 1, 2, 3, 4}}) {
    const auto dims = static_cast<int64_t>(size.size()) - 2;
    for (const int64_t align : {0, 1}) {
      onnx::ModelProto m = model(20);
      input(m, "x", size);
      std::vector<float> theta(static_cast<size_t>(dims * (dims + 1)), 0);
      for (int64_t d = 0; d < dims; ++d) theta[static_cast<size_t>(d * (dims + 2))] = 1;
      floats(m, "theta", {1, dims, dims + 1}, theta);
      longs(m, "size", size);
      integer(node(m, "AffineGrid", {"theta", "size"}, "grid"), "align_corners", align);
      onnx::NodeProto* n = node(m, "GridSample", {"x", "grid"}, "y");
      integer(n, "align_corners", align);
      text(n, "padding_mode", "reflection");
      output(m, "y");
      const HostArray x = counting(size);
      std::vector<double> want;
      for (int64_t i = 0; i < x.num_elements(); ++i) want.push_back(x.get(i));
      compare(run(m, {{"x", x}}), size, want);
    }
  }
}

/// At the last of four columns and beyond it: a cubic's neighbours outside are the border's, each by itself, as in PyTorch and ONNX Runtime.
void OnnxOpsTest::cubic_samples_at_the_border() {
  onnx::ModelProto m = model(20);
  input(m, "x", {1, 1, 1, 4});
  floats(m, "grid", {1, 1, 3, 2}, {0.75F, 0, 1.25F, 0, 1, 0});  // columns 3, 4 and 3.5
  onnx::NodeProto* n = node(m, "GridSample", {"x", "grid"}, "y");
  text(n, "mode", "cubic");
  text(n, "padding_mode", "border");
  output(m, "y");
  // 3, 5, 5 and 5 with weights -0.09375, 0.59375, 0.59375 and -0.09375.
  compare(run(m, {{"x", array({1, 1, 1, 4}, {1, 2, 3, 5})}}), {1, 1, 1, 3}, {5, 5, 5.1875});
}

/// Of products of nothing the bias is left; integers beyond those that doubles hold are counted as they are.
void OnnxOpsTest::nothing_and_large_integers() {
  onnx::ModelProto m = model(13);
  input(m, "x", {2, 3});
  floats(m, "a", {2, 0}, {});
  floats(m, "b", {0, 3}, {});
  floats(m, "c", {3}, {1, 2, 3});
  node(m, "Gemm", {"a", "b", "c"}, "g");
  node(m, "Add", {"g", "x"}, "y");
  output(m, "y");
  compare(run(m, {{"x", array({2, 3}, {0, 0, 0, 1, 1, 1})}}), {2, 3}, {1, 2, 3, 2, 3, 4});
  const int64_t from = (int64_t{1} << 60) + 1;
  onnx::ModelProto r = model(13);
  input(r, "x", {3}, onnx::TensorProto::INT64);
  for (const auto& [name, value] : {std::pair("start", from), std::pair("limit", from + 3), std::pair("step", int64_t{1})}) longs(r, name, {value});
  for (auto& t : *r.mutable_graph()->mutable_initializer()) t.clear_dims();
  node(r, "Range", {"start", "limit", "step"}, "i");
  node(r, "Sub", {"i", "x"}, "y");
  output(r, "y");
  HostArray x = HostArray::make(kInt64, {3});
  for (int64_t i = 0; i < 3; ++i) x.set_int(i, from);
  compare(run(r, {{"x", x}}), {3}, {0, 1, 2});
}

void OnnxOpsTest::columns_to_images() {
  onnx::ModelProto m = model(18);
  input(m, "x", {1, 4, 4});
  longs(m, "image", {3, 3});
  longs(m, "block", {2, 2});
  node(m, "Col2Im", {"x", "image", "block"}, "y");
  output(m, "y");
  // Four windows of ones: a position counts how many of them hold it.
  compare(run(m, {{"x", array({1, 4, 4}, std::vector<double>(16, 1))}}), {1, 1, 3, 3}, {1, 2, 1, 2, 4, 2, 1, 2, 1});
}

void OnnxOpsTest::crops_and_pads() {
  onnx::ModelProto m = model(18);
  input(m, "x", {5, 2});
  longs(m, "shape", {2, 5});
  node(m, "CenterCropPad", {"x", "shape"}, "y");
  output(m, "y");
  compare(run(m, {{"x", counting({5, 2})}}), {2, 5}, {0, 3, 4, 0, 0, 0, 5, 6, 0, 0});
}

void OnnxOpsTest::regions() {
  onnx::ModelProto m = model(16);
  input(m, "x", {1, 1, 4, 4});
  input(m, "rois", {1, 4});
  input(m, "batch", {1}, onnx::TensorProto::INT64);
  onnx::NodeProto* n = node(m, "RoiAlign", {"x", "rois", "batch"}, "y");
  integer(n, "output_height", 2);
  integer(n, "output_width", 2);
  integer(n, "sampling_ratio", 1);
  output(m, "y");
  // The whole image: cells of two pixels, sampled at their centres, 0.5 and 2.5 in both directions.
  HostArray batch = HostArray::make(kInt64, {1});
  compare(run(m, {{"x", counting({1, 1, 4, 4})}, {"rois", array({1, 4}, {0, 0, 4, 4})}, {"batch", batch}}), {1, 1, 2, 2}, {3.5, 5.5, 11.5, 13.5});
}

void OnnxOpsTest::empty_parts() {
  onnx::ModelProto m = model();
  input(m, "x", {2, 3});
  longs(m, "starts", {9});
  longs(m, "ends", {9});
  longs(m, "axes", {1});
  node(m, "Slice", {"x", "starts", "ends", "axes"}, "nothing");
  integer(node(m, "Concat", {"nothing", "x"}, "y"), "axis", 1);
  output(m, "y");
  compare(run(m, {{"x", counting({2, 3})}}), {2, 3}, {1, 2, 3, 4, 5, 6});
  // Indices without coordinates are the whole of the data; the last update stays, or all are added.
  for (const char* reduction : {"none", "add"}) {
    onnx::ModelProto s = model(18);
    input(s, "x", {2, 3});
    input(s, "updates", {2, 2, 3});
    longs(s, "list", {});
    longs(s, "shape", {2, 0});
    integer(node(s, "Reshape", {"list", "shape"}, "whole"), "allowzero", 1);
    text(node(s, "ScatterND", {"x", "whole", "updates"}, "y"), "reduction", reduction);
    output(s, "y");
    const bool adds = reduction == std::string("add");
    compare(run(s, {{"x", counting({2, 3})}, {"updates", counting({2, 2, 3})}}), {2, 3}, adds ? std::vector<double>{9, 12, 15, 18, 21, 24} : std::vector<double>{7, 8, 9, 10, 11, 12});
  }
  // What is put nowhere changes nothing.
  for (const char* op : {"ScatterND", "ScatterElements"}) {
    onnx::ModelProto s = model(18);
    input(s, "x", {2, 3});
    longs(s, "list", {});
    longs(s, "shape", op == std::string("ScatterND") ? Dims{0, 1} : Dims{0, 3});
    integer(node(s, "Reshape", {"list", "shape"}, "nowhere"), "allowzero", 1);
    floats(s, "none", {0, 3}, {});
    node(s, op, {"x", "nowhere", "none"}, "y");
    output(s, "y");
    compare(run(s, {{"x", counting({2, 3})}}), {2, 3}, {1, 2, 3, 4, 5, 6});
  }
}

/// Two heads on one pair of keys and values, each query with what came before it.
void OnnxOpsTest::attention_by_groups() {
  onnx::ModelProto m = model(23);
  input(m, "q", {1, 2, 3, 4});
  input(m, "k", {1, 1, 3, 4});
  input(m, "v", {1, 1, 3, 2});
  integer(node(m, "Attention", {"q", "k", "v"}, "y"), "is_causal", 1);
  output(m, "y");
  Rng rng(1);
  const auto random = [&](const Dims& shape) {
    HostArray a = HostArray::make(kFloat32, shape);
    for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, rng.normal());
    return a;
  };
  const HostArray q = random({1, 2, 3, 4}), k = random({1, 1, 3, 4}), v = random({1, 1, 3, 2});
  std::vector<double> want;
  for (int64_t row = 0; row < 6; ++row) {
    double total = 0, sum[2] = {0, 0};
    for (int64_t key = 0; key <= row % 3; ++key) {
      double score = 0;
      for (int64_t i = 0; i < 4; ++i) score += q.get(row * 4 + i) * k.get(key * 4 + i) / 2;
      total += std::exp(score);
      for (int64_t i = 0; i < 2; ++i) sum[i] += std::exp(score) * v.get(key * 2 + i);
    }
    for (const double s : sum) want.push_back(s / total);
  }
  compare(run(m, {{"q", q}, {"k", k}, {"v", v}}), {1, 2, 3, 2}, want);
}

void OnnxOpsTest::rows_without_keys() {
  onnx::ModelProto m = model(23);
  input(m, "q", {1, 1, 2, 1});
  input(m, "mask", {2, 2}, onnx::TensorProto::BOOL);
  node(m, "Attention", {"q", "q", "q", "mask"}, "y");
  output(m, "y");
  HostArray mask = HostArray::make(kBool, {2, 2});
  mask.set(0, 1);
  compare(run(m, {{"q", array({1, 1, 2, 1}, {3, 5})}, {"mask", mask}}), {1, 1, 2, 1}, {3, 0});
}

/// Weights of four bits, two in a byte, the first one lowest; one scale for two of them.
void OnnxOpsTest::weights_in_blocks() {
  onnx::ModelProto m = model(21);
  input(m, "x", {1, 4});
  onnx::TensorProto* w = m.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(22);  // INT4
  w->add_dims(4);
  w->add_dims(1);
  w->set_raw_data(std::string("\x87\x1f", 2));  // 7, -8, -1, 1
  floats(m, "scale", {2, 1}, {0.5, 10});
  onnx::NodeProto* n = node(m, "DequantizeLinear", {"w", "scale"}, "numbers");
  integer(n, "axis", 0);
  integer(n, "block_size", 2);
  node(m, "MatMul", {"x", "numbers"}, "y");
  output(m, "y");
  compare(run(m, {{"x", array({1, 4}, {1, 10, 100, 1000})}}), {1, 1}, {3.5 - 40 - 1000 + 10000});
}

void OnnxOpsTest::narrow_operands() {
  onnx::ModelProto m = model(21);
  input(m, "x", {2}, 17);  // FLOAT8E4M3FN
  node(m, "Identity", {"x"}, "same");
  integer(node(m, "Cast", {"same"}, "y"), "to", onnx::TensorProto::FLOAT);
  output(m, "y");
  HostArray codes = HostArray::make(kUInt8, {2});
  codes.set_int(0, 0x38);
  codes.set_int(1, 0xfe);
  compare(run(m, {{"x", codes}}), {2}, {1, -448});
  m.mutable_graph()->mutable_node(0)->set_op_type("Relu");
  const auto g = frontends::read_onnx_bytes(bytes(m), {});
  QVERIFY(!g);
  QVERIFY2(g.error().text().find("operand 0 of element type FLOAT8E4M3FN") != std::string::npos, g.error().text().c_str());
}

void OnnxOpsTest::branches_at_run_time() {
  onnx::ModelProto m = model();
  input(m, "x", {2});
  input(m, "c", {}, onnx::TensorProto::BOOL);
  onnx::NodeProto* n = node(m, "If", {"c"}, "y");
  for (const char* branch : {"then_branch", "else_branch"}) {
    onnx::AttributeProto* a = n->add_attribute();
    a->set_name(branch);
    a->set_type(onnx::AttributeProto::GRAPH);
    node(*a->mutable_g(), branch[0] == 't' ? "Neg" : "Abs", {"x"}, branch);
    a->mutable_g()->add_output()->set_name(branch);
  }
  output(m, "y");
  HostArray c = HostArray::make(kBool, {});
  compare(run(m, {{"x", array({2}, {1, -2})}, {"c", c}}), {2}, {1, 2});
  c.set(0, 1);
  compare(run(m, {{"x", array({2}, {1, -2})}, {"c", c}}), {2}, {-1, 2});
  node(*n->mutable_attribute(1)->mutable_g(), "Size", {"x"}, "count");
  n->mutable_attribute(1)->mutable_g()->mutable_output(0)->set_name("count");
  const auto g = frontends::read_onnx_bytes(bytes(m), {});
  QVERIFY(!g);
  QVERIFY2(g.error().text().find("results of one shape can be chosen") != std::string::npos, g.error().text().c_str());
}

void OnnxOpsTest::sequences_unroll() {
  onnx::ModelProto m = model();
  input(m, "x", {3, 2});
  longs(m, "second", {1});
  integer(node(m, "SplitToSequence", {"x"}, "rows"), "keepdims", 0);
  node(m, "SequenceAt", {"rows", "second"}, "row");
  node(m, "SequenceInsert", {"rows", "row"}, "more");
  integer(node(m, "ConcatFromSequence", {"more"}, "y"), "axis", 0);
  output(m, "y");
  compare(run(m, {{"x", counting({3, 2})}}), {8}, {1, 2, 3, 4, 5, 6, 3, 4});
}

/// A list that grows by a row in every turn, as exporters write loops over slices.
void OnnxOpsTest::loops_carry_sequences() {
  onnx::ModelProto m = model();
  input(m, "x", {3, 2});
  longs(m, "turns", {3});
  onnx::TensorProto* yes = m.mutable_graph()->add_initializer();
  yes->set_name("yes");
  yes->set_data_type(onnx::TensorProto::BOOL);
  yes->add_int32_data(1);
  node(m, "SequenceEmpty", {}, "none");
  onnx::AttributeProto* a = node(m, "Loop", {"turns", "yes", "none"}, "rows")->add_attribute();
  a->set_name("body");
  a->set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto& body = *a->mutable_g();
  for (const char* name : {"turn", "going", "list"}) body.add_input()->set_name(name);
  node(body, "Gather", {"x", "turn"}, "row");
  node(body, "SequenceInsert", {"list", "row"}, "longer");
  node(body, "Identity", {"going"}, "still");
  for (const char* name : {"still", "longer"}) body.add_output()->set_name(name);
  integer(node(m, "ConcatFromSequence", {"rows"}, "y"), "axis", 0);
  output(m, "y");
  compare(run(m, {{"x", counting({3, 2})}}), {6}, {1, 2, 3, 4, 5, 6});
  // What cannot be stacked is said.
  onnx::NodeProto* loop = m.mutable_graph()->mutable_node(1);
  loop->mutable_attribute(0)->mutable_g()->add_output()->set_name("longer");
  loop->add_output("stack");
  const auto refused = frontends::read_onnx_bytes(bytes(m), {});
  QVERIFY(!refused);
  QVERIFY2(refused.error().text().find("to be stacked") != std::string::npos, refused.error().text().c_str());
}

void OnnxOpsTest::inputs_and_outputs_without_elements() {
  onnx::ModelProto m = model();
  input(m, "past", {1, 0, 2});
  input(m, "x", {1, 3, 2});
  integer(node(m, "Concat", {"past", "x"}, "y"), "axis", 1);
  node(m, "Relu", {"past"}, "nothing");
  output(m, "y");
  output(m, "nothing");
  const auto g = frontends::read_onnx_bytes(bytes(m), {}, {.dims = {{"past.1", 0}}});
  QVERIFY2(g.has_value(), g ? "" : g.error().text().c_str());
  const auto got = graph::evaluate(*g, {{"past", HostArray::make(kFloat32, {1, 0, 2})}, {"x", counting({1, 3, 2})}});
  QVERIFY2(got.has_value(), got ? "" : got.error().text().c_str());
  compare((*got)[0], {1, 3, 2}, {1, 2, 3, 4, 5, 6});
  QCOMPARE((*got)[1].shape, (Dims{1, 0, 2}));
}

/// What a function's attribute is where a call names none: a field that is newer than the messages we are built with.
void OnnxOpsTest::function_defaults() {
  onnx::ModelProto m = model();
  input(m, "x", {2});
  onnx::FunctionProto* f = m.add_functions();
  f->set_name("Leaky");
  f->set_domain("own");
  f->add_input("a");
  f->add_output("b");
  f->add_opset_import()->set_version(13);
  onnx::NodeProto* body = f->add_node();
  body->set_op_type("LeakyRelu");
  body->add_input("a");
  body->add_output("b");
  onnx::AttributeProto* alpha = body->add_attribute();
  alpha->set_name("alpha");
  alpha->set_ref_attr_name("slope");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.25);
  f->mutable_unknown_fields()->AddLengthDelimited(11, slope.SerializeAsString());
  node(m, "Leaky", {"x"}, "y")->set_domain("own");
  output(m, "y");
  compare(run(m, {{"x", array({2}, {-8, 8})}}), {2}, {-2, 8});
}

void OnnxOpsTest::refusals() {
  const auto says = [](const onnx::ModelProto& m, const char* part) {
    const auto g = frontends::read_onnx_bytes(bytes(m), {});
    QVERIFY(!g);
    QVERIFY2(g.error().text().find(part) != std::string::npos, g.error().text().c_str());
  };
  onnx::ModelProto training;
  training.set_ir_version(7);
  training.add_opset_import()->set_domain("ai.onnx.preview.training");
  training.mutable_opset_import(0)->set_version(1);
  input(training, "x", {2});
  node(training, "Adagrad", {"x"}, "y")->set_domain("ai.onnx.preview.training");
  output(training, "y");
  says(training, "'Adagrad' of domain 'ai.onnx.preview.training'");
  training.mutable_graph()->mutable_node(0)->clear_domain();
  says(training, "the version of ONNX's operator set");

  // What is selected by values has a bound, which is said with what could be done.
  for (const char* op : {"NonZero", "Unique", "Compress"}) {
    onnx::ModelProto m = model();
    input(m, "x", {3, 4});
    input(m, "c", {3}, onnx::TensorProto::BOOL);
    onnx::NodeProto* n = node(m, op, {"x"}, "y");
    if (op == std::string("Compress")) {
      n->add_input("c");
      integer(n, "axis", 0);
    }
    output(m, "y");
    says(m, op == std::string("Compress") ? "any number of entries up to 3" : "any number of entries up to 12");
    says(m, "Where, or a product with the mask");
  }

  onnx::ModelProto crop = model(13);
  input(crop, "x", {1, 1, 2, 2});
  floats(crop, "roi", {8}, {0, 0, 0, 1e30F, 1, 1, 1, 1});
  longs(crop, "sizes", {1, 1, 2, 2});
  text(node(crop, "Resize", {"x", "roi", "", "sizes"}, "y"), "coordinate_transformation_mode", "tf_crop_and_resize");
  output(crop, "y");
  says(crop, "region of interest");
}

QTEST_APPLESS_MAIN(OnnxOpsTest)
#include "onnx_ops_test.moc"
