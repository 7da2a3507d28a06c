// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <set>

#include "engine/base/rng.h"
#include "engine/frontends/frontend.h"
#include "engine/frontends/torch/aten.h"
#include "engine/graph/evaluate.h"
#include "engine/graph/pass.h"
#include "tests/engine/frontends/torch/program_text.h"

using namespace tw;
using namespace tw::frontends;
using namespace program_test;

/// What programs mean. Their numbers on whole networks are compared with PyTorch's by app/cli/conformance_test.
class TorchImporterTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder_;

  Expected<graph::Graph> imported(const Json& document, const ImportOptions& options = {}) const {
    return read_pt2(written(folder_, archive(document)), options);
  }
  static std::string fixture(const char* name) { return std::string(TW_TESTS_DIR "/engine/frontends/torch/programs/") + name + "/model.pt2"; }
  /// Elements of `y` for x = 0, 1, ... 5 and w = 0, 1, 2.
  std::vector<double> result(const Json& calls, const Json& values = Json::object()) const {
    const auto g = imported(program(calls, values));
    if (!g) {
      qWarning("%s", g.error().text().c_str());
      return {};
    }
    HostArray x = HostArray::make(kFloat32, {2, 3});
    for (int i = 0; i < 6; ++i) x.set(i, i);
    const auto y = graph::evaluate(*g, {{"x", x}});
    std::vector<double> out;
    for (int64_t i = 0; y && i < (*y)[0].num_elements(); ++i) out.push_back((*y)[0].get(i));
    return out;
  }
  static Json integers(const std::vector<int64_t>& v) { return {{"as_ints", v}}; }
  static Json integer(int64_t v) { return {{"as_int", v}}; }

 private Q_SLOTS:
  void every_function_is_there_once() {
    std::set<std::string> names;
    for (const auto table : {aten_attention(), aten_binary(), aten_composite(), aten_create(), aten_index(), aten_linear(), aten_nn(), aten_norm(),
                             aten_quant(), aten_recurrent(), aten_reduce(), aten_resize(), aten_shape(), aten_symbolic(), aten_unary(), aten_view()})
      for (const AtenOp& op : table) QVERIFY2(names.insert(op.name).second, op.name);
    AtenForm form = AtenForm::plain;
    QVERIFY(find_aten_op("aten.add_", &form) == find_aten_op("aten.add") && form == AtenForm::writes);
    QVERIFY(find_aten_op("aten.view_copy", &form) == find_aten_op("aten.view") && form == AtenForm::copies);
    QVERIFY(find_aten_op("aten.index_copy", &form) != find_aten_op("aten.index") && form == AtenForm::plain);
    for (const char* none : {"aten.nothing_of_the_kind_", "aten.nothing_of_the_kind_copy", "aten._copy", "aten.__and___"})
      QVERIFY2(find_aten_op(none) == nullptr, none);
  }

  /// A view of a view sees what is written to what it shows, and the other way round.
  void writes_through_views() {
    const Json rows = call("torch.ops.aten.select.int", {{"self", tensor("c")}, {"dim", integer(0)}, {"index", integer(1)}}, "row");
    const Json some = call("torch.ops.aten.slice.Tensor",
                           {{"self", tensor("row")}, {"dim", integer(0)}, {"start", integer(0)}, {"end", integer(3)}, {"step", integer(2)}}, "some");
    const Json copy = call("torch.ops.aten.clone.default", {{"self", tensor("x")}}, "c");
    const Json write = call("torch.ops.aten.mul_.Scalar", {{"self", tensor("some")}, {"other", {{"as_float", 10.0}}}}, "m");
    const Json read = call("torch.ops.aten.add.Tensor", {{"self", tensor("c")}, {"other", tensor("p_w")}}, "y");
    QCOMPARE(result(Json::array({copy, rows, some, write, read})), (std::vector<double>{0, 2, 4, 30, 5, 52}));
    const Json transposed = call("torch.ops.aten.t.default", {{"self", tensor("c")}}, "t");
    const Json filled = call("torch.ops.aten.fill_.Scalar", {{"self", tensor("row")}, {"value", integer(7)}}, "f");
    const Json flat = call("torch.ops.aten.reshape.default", {{"self", tensor("t")}, {"shape", integers({-1})}}, "y");
    QCOMPARE(result(Json::array({copy, transposed, rows, filled, flat}), {{"t", {{"dtype", 7}, {"sizes", sizes({3, 2})}, {"strides", sizes({1, 3})}}}}),
             (std::vector<double>{0, 7, 1, 7, 2, 7}));
  }

  /// Each of them adds a cast, so that the graph's values move while one of them is looked at.
  void many_writes_of_another_type() {
    Json calls = Json::array({call("torch.ops.aten.clone.default", {{"self", tensor("x")}}, "c"),
                              call("torch.ops.aten.to.dtype", {{"self", tensor("x")}, {"dtype", {{"as_scalar_type", 5}}}}, "i")});
    for (int k = 0; k < 100; ++k) calls.push_back(call("torch.ops.aten.copy_.default", {{"self", tensor("c")}, {"src", tensor("i")}}, fmt::format("w{}", k)));
    calls.push_back(call("torch.ops.aten.add.Tensor", {{"self", tensor("c")}, {"other", tensor("p_w")}}, "y"));
    QCOMPARE(result(calls, {{"i", meta({2, 3}, 5)}}), (std::vector<double>{0, 2, 4, 3, 5, 7}));
  }

  /// Integers and numbers take the type that PyTorch gives them.
  void types() {
    const Json whole = call("torch.ops.aten.to.dtype", {{"self", tensor("x")}, {"dtype", {{"as_scalar_type", 5}}}}, "i");
    const Json half = call("torch.ops.aten.mul.Tensor", {{"self", tensor("i")}, {"other", {{"as_float", 0.5}}}}, "y");
    const Json described = {{"i", meta({2, 3}, 5)}};
    QCOMPARE(result(Json::array({whole, half}), described), (std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5}));
    const Json floored =
        call("torch.ops.aten.div.Tensor_mode", {{"self", tensor("i")}, {"other", integer(-2)}, {"rounding_mode", {{"as_string", "floor"}}}}, "y");
    QCOMPARE(result(Json::array({whole, floored}), described), (std::vector<double>{0, -1, -1, -2, -2, -3}));
  }

  /// Where something other than 0 stands, in two dimensions.
  void places_of_values() {
    const Json identity = call("torch.ops.aten.eye.default", {{"n", integer(3)}}, "e");
    const Json places = call("torch.ops.aten.nonzero.default", {{"self", tensor("e")}}, "p");
    const Json as_numbers = call("torch.ops.aten.to.dtype", {{"self", tensor("p")}, {"dtype", {{"as_scalar_type", 7}}}}, "y");
    QCOMPARE(result(Json::array({identity, places, as_numbers}), {{"e", meta({3, 3})}, {"p", meta({3, 2}, 5)}, {"y", meta({3, 2})}}),
             (std::vector<double>{0, 0, 1, 1, 2, 2}));
  }

  /// Values are called as in the program, those of its first call too.
  void names_of_values() {
    const auto g = imported(program(Json::array(
        {call("torch.ops.aten.relu.default", {{"self", tensor("x")}}, "first"), call("torch.ops.aten.neg.default", {{"self", tensor("first")}}, "y")})));
    QVERIFY2(g, g ? "" : g.error().text().c_str());
    std::set<std::string> names;
    for (const graph::Node& n : g->nodes) names.insert(g->values[static_cast<size_t>(n.outputs[0])].name);
    QCOMPARE(names, (std::set<std::string>{"first", "y"}));
  }

  /// Close to 0 as well as far from it, to the digits that numbers of 64 bits have there.
  void logarithms_near_one() {
    const auto g =
        imported(program(Json::array({call("torch.ops.aten.log1p.default", {{"self", tensor("x")}}, "y")}), {{"x", meta({2, 3}, 8)}, {"y", meta({2, 3}, 8)}}));
    QVERIFY2(g, g ? "" : g.error().text().c_str());
    HostArray x = HostArray::make(kFloat64, {2, 3});
    const double values[] = {1e-12, -0.2, 0.24, 0.26, -0.9, 50};
    for (int i = 0; i < 6; ++i) x.set(i, values[i]);
    const HostArray y = graph::evaluate(*g, {{"x", x}}).value()[0];
    for (int i = 0; i < 6; ++i) QVERIFY2(std::abs(y.get(i) / std::log1p(values[i]) - 1) < 1e-9, QByteArray::number(values[i]));
  }

  /// What few programs call: one line each, with the numbers that it gives for x = [[0, 1, 2], [3, 4, 5]] and w = [0, 1, 2].
  void rare_functions() {
    using Arguments = std::vector<std::pair<std::string, Json>>;
    const auto number = [](double v) { return Json{{"as_float", v}}; };
    const auto yes = Json{{"as_bool", true}};
    const Json x = tensor("x"), w = tensor("p_w"), both = {{"as_tensors", Json::array({{{"name", "p_w"}}, {{"name", "p_w"}}})}};
    const double inf = std::numeric_limits<double>::infinity();
    struct Case {
      const char* name;
      Arguments arguments;
      std::vector<int64_t> shape;
      std::vector<double> expected;
      int type = 7;
    };
    const Case cases[] = {
        {"addr.default", {{"self", integer(0)}, {"vec1", w}, {"vec2", w}, {"beta", integer(0)}, {"alpha", integer(2)}}, {3, 3}, {0, 0, 0, 0, 2, 4, 0, 4, 8}},
        {"kron.default", {{"self", w}, {"other", x}}, {2, 9}, {0, 0, 0, 0, 1, 2, 0, 2, 4, 0, 0, 0, 3, 4, 5, 6, 8, 10}},
        {"kron.default", {{"self", x}, {"other", w}}, {2, 9}, {0, 0, 0, 0, 1, 2, 0, 2, 4, 0, 3, 6, 0, 4, 8, 0, 5, 10}},
        {"vdot.default", {{"self", w}, {"other", w}}, {}, {5}},
        {"linalg_multi_dot.default", {{"tensors", both}}, {}, {5}},
        {"trace.default", {{"self", x}}, {}, {4}},
        {"dist.default", {{"self", x}, {"other", w}, {"p", number(1)}}, {}, {9}},
        {"linalg_norm.default", {{"self", w}}, {}, {std::sqrt(5.0)}},
        {"frobenius_norm.dim", {{"self", x}, {"dim", integers({0, 1})}, {"keepdim", yes}}, {1, 1}, {std::sqrt(55.0)}},
        {"nansum.default", {{"self", w}}, {}, {3}},
        {"median.default", {{"self", x}}, {}, {2}},
        {"median.dim", {{"self", x}, {"dim", integer(0)}}, {3}, {0, 1, 2}},
        {"kthvalue.default", {{"self", x}, {"k", integer(3)}, {"dim", integer(1)}, {"keepdim", yes}}, {2, 1}, {2, 5}},
        {"diagonal.default", {{"self", x}, {"offset", integer(1)}}, {2}, {1, 5}},
        {"diagonal.default", {{"self", x}, {"offset", integer(-1)}}, {1}, {3}},
        {"diagonal.default", {{"self", x}, {"offset", integer(7)}}, {0}, {}},
        {"diag_embed.default", {{"self", w}}, {3, 3}, {0, 0, 0, 0, 1, 0, 0, 0, 2}},
        {"diag_embed.default", {{"self", x}, {"offset", integer(-1)}}, {2, 4, 4}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0,
                                                                                   0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5, 0}},
        {"diag_embed.default",
         {{"self", w}, {"offset", integer(1)}, {"dim1", integer(1)}, {"dim2", integer(0)}},
         {4, 4},
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0}},
        {"diagflat.default", {{"self", w}}, {3, 3}, {0, 0, 0, 0, 1, 0, 0, 0, 2}},
        {"atleast_2d.default", {{"self", w}}, {1, 3}, {0, 1, 2}},
        {"atleast_3d.default", {{"self", x}}, {2, 3, 1}, {0, 1, 2, 3, 4, 5}},
        {"view_copy.default", {{"self", x}, {"size", integers({3, 2})}}, {3, 2}, {0, 1, 2, 3, 4, 5}},
        {"isin.Tensor_Tensor", {{"elements", x}, {"test_elements", w}}, {2, 3}, {1, 1, 1, 0, 0, 0}, 12},
        {"isin.Tensor_Scalar", {{"elements", w}, {"test_element", integer(2)}, {"invert", yes}}, {3}, {1, 1, 0}, 12},
        {"isposinf.default", {{"self", w}}, {3}, {0, 0, 0}, 12},
        {"special_xlogy.default", {{"self", w}, {"other", w}}, {3}, {0, 0, 2 * std::log(2.0)}},
        {"special_softmax.default",
         {{"self", tensor("x")}, {"dim", integer(0)}},
         {2, 3},
         {0.04742587, 0.04742587, 0.04742587, 0.95257413, 0.95257413, 0.95257413}},
    };
    for (const Case& c : cases) {
      const std::vector<double> y = result(Json::array({call("torch.ops.aten." + std::string(c.name), c.arguments, "y")}), {{"y", meta(c.shape, c.type)}});
      QVERIFY2(y.size() == c.expected.size(), c.name);
      for (size_t i = 0; i < y.size(); ++i) QVERIFY2(std::abs(y[i] - c.expected[i]) < 1e-6, qPrintable(QString("%1 [%2]: %3").arg(c.name).arg(i).arg(y[i])));
    }
    const Json down = call("torch.ops.aten.neg.default", {{"self", w}}, "down"),
               leaky = call("torch.ops.aten.rrelu.default", {{"self", tensor("down")}, {"lower", number(0.25)}, {"upper", number(0.75)}}, "y");
    QCOMPARE(result(Json::array({down, leaky}), {{"y", meta({3})}}), (std::vector<double>{0, -0.5, -1}));
    // The first elements of the source where the mask holds.
    const Json odd = call("torch.ops.aten.remainder.Scalar", {{"self", x}, {"other", integer(2)}}, "odd"),
               mask = call("torch.ops.aten.eq.Scalar", {{"self", tensor("odd")}, {"other", integer(1)}}, "mask");
    const Json put = call("torch.ops.aten.masked_scatter.default", {{"self", x}, {"mask", tensor("mask")}, {"source", w}}, "y");
    QCOMPARE(result(Json::array({odd, mask, put}), {{"mask", meta({2, 3}, 12)}, {"y", meta({2, 3})}}), (std::vector<double>{0, 0, 2, 1, 4, 2}));
    // Places are multiplied by 7, where a division by 1 / 7 in 32 bits would give 6.
    const Json line = call("torch.ops.aten.arange.default", {{"end", integer(14)}}, "line"),
               image = call("torch.ops.aten.view.default", {{"self", tensor("line")}, {"size", integers({1, 1, 14})}}, "image");
    QCOMPARE(result(Json::array({line, image, call("torch.ops.aten.upsample_nearest1d.default", {{"self", tensor("image")}, {"output_size", integers({2})}}, "y")}),
                    {{"line", meta({14})}, {"y", meta({1, 1, 2})}}),
             (std::vector<double>{0, 7}));
    // Not a number where one is among them; infinities are counted as ever.
    const Json some = call("torch.ops.aten.log.default", {{"self", tensor("shifted")}}, "logs"),
               shifted = call("torch.ops.aten.sub.Scalar", {{"self", x}, {"other", integer(1)}}, "shifted");
    QCOMPARE(result(Json::array({shifted, some, call("torch.ops.aten.isneginf.default", {{"self", tensor("logs")}}, "y")}), {{"y", meta({2, 3}, 12)}}),
             (std::vector<double>{0, 1, 0, 0, 0, 0}));
    const std::vector<double> middle =
        result(Json::array({shifted, some, call("torch.ops.aten.median.dim", {{"self", tensor("logs")}, {"dim", integer(0)}}, "y")}), {{"y", meta({3})}});
    QVERIFY(middle.size() == 3 && std::isnan(middle[0]) && middle[1] == -inf && middle[2] == 0);
    const std::vector<double> mean = result(
        Json::array({shifted, some, call("torch.ops.aten.nanmean.default", {{"self", tensor("logs")}, {"dim", integers({0})}}, "y")}), {{"y", meta({3})}});
    QVERIFY(mean.size() == 3 && std::abs(mean[0] - std::log(2.0)) < 1e-6 && mean[1] == -inf && std::abs(mean[2] - std::log(4.0) / 2) < 1e-6);
  }

  /// What is written to a diagonal is seen in its matrix; `unsqueeze_` changes the tensor itself.
  void writes_to_diagonals() {
    const Json copy = call("torch.ops.aten.clone.default", {{"self", tensor("x")}}, "y"),
               line = call("torch.ops.aten.diagonal.default", {{"self", tensor("y")}, {"offset", integer(1)}}, "line");
    const Json write = call("torch.ops.aten.fill_.Scalar", {{"self", tensor("line")}, {"value", integer(9)}}, "written");
    QCOMPARE(result(Json::array({copy, line, write})), (std::vector<double>{0, 9, 2, 3, 4, 9}));
    const Json own = call("torch.ops.aten.clone.default", {{"self", tensor("x")}}, "c"),
               more = call("torch.ops.aten.unsqueeze_.default", {{"self", tensor("c")}, {"dim", integer(0)}}, "u");
    const Json same = call("torch.ops.aten.add.Tensor", {{"self", tensor("c")}, {"other", tensor("u")}}, "y");
    QCOMPARE(result(Json::array({own, more, same}), {{"u", meta({1, 2, 3})}, {"y", meta({1, 2, 3})}}), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  }

  /// Windows that overlap are added up; what falls into the padding is left.
  void images_of_columns() {
    const Json columns = call("torch.ops.aten.view.default", {{"self", tensor("x")}, {"size", integers({1, 2, 3})}}, "v");
    const auto image = [&](int64_t length, int64_t padding) {
      const Json sum = call("torch.ops.aten.col2im.default",
                            {{"self", tensor("v")},
                             {"output_size", integers({1, length})},
                             {"kernel_size", integers({1, 2})},
                             {"dilation", integers({1, 1})},
                             {"padding", integers({0, padding})},
                             {"stride", integers({1, 1})}},
                            "y");
      return result(Json::array({columns, sum}), {{"v", meta({1, 2, 3})}, {"y", meta({1, 1, 1, length})}});
    };
    QCOMPARE(image(4, 0), (std::vector<double>{0, 1 + 3, 2 + 4, 5}));
    QCOMPARE(image(2, 1), (std::vector<double>{1 + 3, 2 + 4}));
    QVERIFY(image(5, 0).empty());  // has four windows
  }

  /// A window that is larger than the image and may reach beyond it holds it whole.
  void windows_larger_than_the_image() {
    const Json image = call("torch.ops.aten.view.default", {{"self", tensor("x")}, {"size", integers({1, 1, 2, 3})}}, "v");
    const auto pooled = [&](bool beyond, int64_t padding) {
      const Json mean = call("torch.ops.aten.avg_pool2d.default",
                             {{"self", tensor("v")},
                              {"kernel_size", integers({99, 99})},
                              {"stride", integers({})},
                              {"padding", integers({padding, padding})},
                              {"ceil_mode", {{"as_bool", beyond}}}},
                             "y");
      return result(Json::array({image, mean}), {{"v", meta({1, 1, 2, 3})}, {"y", meta({1, 1, 1, 1})}});
    };
    QCOMPARE(pooled(true, 0), (std::vector<double>{2.5}));
    QCOMPARE(pooled(true, 1), (std::vector<double>{15.0 / 20}));  // the padding counts
    QVERIFY(pooled(false, 0).empty());
  }

  /// Programs name results that nothing reads; one that is read and not computed is refused.
  void results_that_are_not_computed() {
    const Json whole = call("torch.ops.aten.view.default", {{"self", tensor("x")}, {"size", integers({1, 2, 3})}}, "v");
    for (const bool read : {false, true}) {
      Json pool = call("torch.ops.aten.adaptive_max_pool1d.default", {{"self", tensor("v")}, {"output_size", integers({1})}}, read ? "m" : "y");
      pool["outputs"].push_back(tensor(read ? "y" : "places"));
      const Json values = {{"v", meta({1, 2, 3})}, {"m", meta({1, 2, 1})}, {"places", meta({1, 2, 1}, 5)}, {"y", meta({1, 2, 1}, read ? 5 : 7)}};
      if (!read) {
        QCOMPARE(result(Json::array({whole, pool}), values), (std::vector<double>{2, 5}));
        continue;
      }
      const auto g = imported(program(Json::array({whole, pool}), values));
      QVERIFY(!g);
      QVERIFY2(g.error().text().find("Result 'y' is not supported") != std::string::npos, g.error().text().c_str());
    }
  }

  /// All that is missing at once, in graphs inside of the graph too.
  void missing_functions() {
    const Json strange = call("torch.ops.aten.strange.default", {{"self", tensor("x")}}, "y");
    Json inner = {{"inputs", Json::array()},
                  {"outputs", Json::array()},
                  {"nodes", Json::array({call("torch.ops.mylib.fast.default", {}, "z")})},
                  {"tensor_values", Json::object()}};
    const Json outer = call("torch.ops.higher_order.wrap_with_set_grad_enabled", {{"", {{"as_graph", {{"name", "g"}, {"graph", inner}}}}}}, "y");
    const auto g = imported(program(Json::array({strange, strange, outer})));
    QVERIFY(!g);
    QVERIFY2(g.error().text().find("'aten.strange' (2 times), 'mylib.fast' are not supported") != std::string::npos, g.error().text().c_str());
  }

  void dimensions() {
    const auto shape = [](const Expected<graph::Graph>& g) { return g ? g->values[static_cast<size_t>(g->inputs[0])].type.shape : Dims{}; };
    QCOMPARE(shape(read_pt2(fixture("convolutions"))), (Dims{2, 3, 16, 16}));
    QCOMPARE(shape(read_pt2(fixture("convolutions"), {.dims = {{"x.0", 5}}})), (Dims{5, 3, 16, 16}));
    QCOMPARE(shape(read_pt2(fixture("transformer"), {.dims = {{"tokens.1", 4}}})), (Dims{2, 4}));
    QVERIFY(read_pt2(fixture("convolutions"), {.dims = {{"x.0", 17}}}).error().message.find("from 1 to 16, found 17") != std::string::npos);
    QVERIFY(read_pt2(fixture("convolutions"), {.dims = {{"x.2", 17}}}).error().message.find("No input has a dynamic dimension called 'x.2'") !=
            std::string::npos);
  }

  void open_sizes_are_listed() {
    const auto sizes = open_sizes(fixture("transformer"));
    QVERIFY2(sizes, sizes ? "" : sizes.error().text().c_str());
    QCOMPARE(sizes->size(), size_t{1});
    QCOMPARE(sizes->front().places, (std::vector<std::string>{"tokens.1", "mask.1"}));
    QCOMPARE(sizes->front().least, int64_t{1});
    QCOMPARE(sizes->front().most, int64_t{12});
    QCOMPARE(sizes->front().proposal, int64_t{7});
    QVERIFY(!sizes->front().required);
    QVERIFY(read_pt2(fixture("transformer"), {.dims = {{sizes->front().name, 5}}}).has_value());
    QVERIFY(open_sizes(fixture("writes"))->empty());
  }

  /// Modules and lines come along, and stay through the text form.
  void origins() {
    const auto g = read_pt2(fixture("convolutions"));
    QVERIFY(g.has_value());
    const auto found = std::find_if(g->nodes.begin(), g->nodes.end(), [](const graph::Node& n) { return n.origin.module == "layer1.1.conv"; });
    QVERIFY(found != g->nodes.end());
    QCOMPARE(found->op, std::string("conv2d"));
    QVERIFY2(found->origin.source.starts_with("torch_fixtures.py:"), found->origin.source.c_str());
    std::map<std::string, std::shared_ptr<const HostArray>> constants;
    for (const graph::Value& v : g->values)
      if (v.constant) constants[graph::constant_key(*v.constant)] = v.constant;
    const auto back = graph::parse(graph::print(*g), constants);
    QVERIFY2(back, back ? "" : back.error().text().c_str());
    QCOMPARE(back->nodes[static_cast<size_t>(found - g->nodes.begin())].origin.module, std::string("layer1.1.conv"));
    const auto optimized = graph::run_passes(*g, *parse_target("znver4"));
    QVERIFY(optimized.has_value());
    for (const graph::Node& n : optimized->nodes)
      if (n.op == "conv2d") QVERIFY2(!n.origin.source.empty(), n.name.c_str());
  }

  /// An error or a graph that verifies, whatever a file says.
  void damaged() {
    QFile f(QString::fromStdString(fixture("branches")));
    QVERIFY(f.open(QIODevice::ReadOnly));
    QTemporaryDir folder;
    const QByteArray whole = f.readAll();
    const Json document = program(Json::array({call("torch.ops.aten.view.default", {{"self", tensor("x")}, {"size", integers({3, -1})}}, "y")}));
    Rng rng(11);
    for (int round = 0; round < 800; ++round) {
      std::string bytes = archive(document);
      if (round % 2 == 0) {  // in the text, with its checksum right
        std::string text = document.dump();
        for (uint64_t k = 0; k <= rng.uniform(3); ++k) text[rng.uniform(text.size())] = "0123456789-\"{}[],:ax"[rng.uniform(20)];
        bytes = archive_test::zip({{"m/models/model.json", text},
                                   {"m/data/weights/model_weights_config.json", weights(meta({3})).dump()},
                                   {"m/data/weights/weight_0", std::string(12, '\0')}});
      } else {
        for (uint64_t k = 0; k <= rng.uniform(3); ++k) bytes[rng.uniform(bytes.size())] ^= static_cast<char>(1 << rng.uniform(8));
      }
      const auto g = read_model(written(folder_, bytes));
      if (g) QVERIFY(graph::verify(*g).has_value());
      if (!g) QVERIFY2(!g.error().message.empty() && g.error().code != ErrorCode::internal, g.error().text().c_str());
    }
    for (qsizetype n = 0; n < whole.size(); n += 97) QVERIFY(!read_model(written(folder_, whole.left(n).toStdString())));
  }
};

QTEST_APPLESS_MAIN(TorchImporterTest)
#include "torch_importer_test.moc"
