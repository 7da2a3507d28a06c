// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <fstream>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/cost/features/features.h"
#include "engine/schedule/schedule.h"
#include "engine/space/sketch/draw.h"
#include "engine/space/sketch/mutate.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

namespace {

struct Layer {
  const char* name;
  Make make;
};

Make convolution(Dims x, Dims w, int64_t stride, int64_t pad, int64_t groups = 1, const char* op = "conv2d") {
  return [=](Net& n) {
    const int y = conv(n, x, w, stride, pad, groups, op);
    return n.op("relu", {n.op("add", {y, n.weight(Dims(x.size() - 1, 1))})});
  };
}
Make product(Dims a, Dims b, const char* op = "matmul", DType t = kFloat32) {
  return [=](Net& n) { return n.op(op, {n.input(a, t), op == std::string("dense") ? n.weight(b, t) : n.input(b, t)}); };
}
Make one(const char* op, Dims shape, Values attrs = {}, DType t = kFloat32) {
  return [=](Net& n) { return n.op(op, {n.input(shape, t)}, attrs); };
}

/// Layers as networks have them, in their sizes, and some that fit nothing.
std::vector<Layer> layers() {
  const auto window = [](int64_t kernel, int64_t stride, int64_t pad) { return Values{{"kernel", Dims(2, kernel)}, {"strides", Dims(2, stride)}, {"pads", Dims(4, pad)}}; };
  const auto over = [](Dims axes) { return Values{{"axes", axes}, {"keepdims", int64_t{1}}}; };
  return {
      {"conv2d 7x7, first", convolution({1, 3, 224, 224}, {64, 3, 7, 7}, 2, 3)},
      {"conv2d 3x3, wide image", convolution({1, 64, 56, 56}, {64, 64, 3, 3}, 1, 1)},
      {"conv2d 3x3, strided", convolution({1, 128, 56, 56}, {128, 128, 3, 3}, 2, 1)},
      {"conv2d 3x3, small image", convolution({1, 512, 7, 7}, {512, 512, 3, 3}, 1, 1)},
      {"conv2d 3x3, batch", convolution({16, 256, 14, 14}, {256, 256, 3, 3}, 1, 1)},
      {"conv2d 1x1", convolution({1, 256, 56, 56}, {64, 256, 1, 1}, 1, 0)},
      {"conv2d 1x1, odd channels", convolution({1, 58, 28, 28}, {58, 58, 1, 1}, 1, 0)},
      {"conv2d 5x5", convolution({1, 48, 35, 35}, {64, 48, 5, 5}, 1, 2)},
      {"conv2d 1x7", convolution({1, 128, 17, 17}, {192, 128, 1, 7}, 1, 0)},
      {"conv2d, grouped", convolution({1, 128, 28, 28}, {128, 4, 3, 3}, 1, 1, 32)},
      {"conv2d, depthwise", convolution({1, 96, 112, 112}, {96, 1, 3, 3}, 2, 1, 96)},
      {"conv2d, depthwise 5x5", convolution({1, 240, 14, 14}, {240, 1, 5, 5}, 1, 2, 240)},
      {"conv1d", convolution({1, 64, 400}, {128, 64, 3}, 1, 1, 1, "conv1d")},
      {"conv3d", convolution({1, 64, 8, 28, 28}, {64, 64, 3, 3, 3}, 1, 1, 1, "conv3d")},
      {"conv2d_transpose",
       [](Net& n) {
         return n.op("conv2d_transpose", {n.input({1, 512, 4, 4}), n.weight({512, 256, 4, 4})}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
       }},
      {"dense, one row", product({1, 2048}, {1000, 2048}, "dense")},
      {"dense, many rows", product({128, 768}, {3072, 768}, "dense")},
      {"dense, odd", product({37, 131}, {77, 131}, "dense")},
      {"dense of float16", product({256, 512}, {512, 512}, "dense", kFloat16)},
      {"dense of int8", product({64, 1024}, {1024, 1024}, "dense", kInt8)},
      {"matmul of heads", product({12, 128, 64}, {12, 64, 128})},
      {"matmul of heads, odd", product({9, 13, 70}, {9, 70, 19})},
      {"matmul of float16", product({8, 128, 64}, {8, 64, 128}, "matmul", kFloat16)},
      {"matmul, large", product({1024, 1024}, {1024, 1024})},
      {"attention",
       [](Net& n) {
         const int scores = n.op("matmul", {n.input({12, 197, 64}), n.input({12, 64, 197})});
         return n.op("matmul", {n.op("softmax", {scores}), n.input({12, 197, 64})});
       }},
      {"max_pool2d", one("max_pool2d", {1, 64, 112, 112}, window(3, 2, 1))},
      {"max_pool2d, far apart", one("max_pool2d", {1, 64, 113, 113}, window(4, 4, 0))},
      {"max_pool2d, farther apart", one("max_pool2d", {1, 64, 113, 113}, window(5, 5, 0))},
      {"max_pool2d, very far apart", one("max_pool2d", {1, 16, 65, 129}, window(8, 8, 0))},
      {"avg_pool2d", one("avg_pool2d", {1, 192, 35, 35}, window(3, 1, 1))},
      {"global mean", one("reduce_mean", {1, 2048, 7, 7}, over({2, 3}))},
      {"sum of rows", one("reduce_sum", {512, 4096}, over({1}))},
      {"sum of columns", one("reduce_sum", {16000, 133}, over({0}))},
      {"sum of all", one("reduce_sum", {1500, 1433}, over({0, 1}))},
      {"maximum of float64", one("reduce_max", {300, 77}, over({1}), kFloat64)},
      {"softmax", one("softmax", {12, 128, 128}, {{"axis", int64_t{2}}})},
      {"softmax, long rows", one("softmax", {4, 50257}, {{"axis", int64_t{1}}})},
      {"softmax of columns", one("softmax", {33, 1800}, {{"axis", int64_t{0}}})},
      {"layer_norm",
       [](Net& n) {
         return n.op("layer_norm", {n.input({128, 768}), n.weight({768}), n.weight({768})}, {{"axis", int64_t{1}}});
       }},
      {"argmax", one("argmax", {64, 1000}, {{"axis", int64_t{1}}})},
      {"transpose", one("transpose", {512, 768}, {{"perm", Dims{1, 0}}})},
      {"transpose of heads", one("transpose", {1, 128, 12, 64}, {{"perm", Dims{0, 2, 1, 3}}})},
      {"exp", one("exp", {1, 3000, 77})},
      {"relu, small", one("relu", {31})},
      {"tanh of float16", one("tanh", {64, 1024}, {}, kFloat16)},
      {"chain by channel",
       [](Net& n) {
         return n.op("relu", {n.op("add", {n.op("mul", {n.input({1, 256, 28, 28}), n.weight({256, 1, 1})}), n.input({1, 256, 28, 28})})});
       }},
      {"concat",
       [](Net& n) {
         return n.op("concat", {n.input({1, 64, 28, 28}), n.input({1, 128, 28, 28}), n.input({1, 32, 28, 28})}, {{"axis", int64_t{1}}});
       }},
      {"gather",
       [](Net& n) {
         return n.op("gather", {n.input({3000, 768}), n.input({1, 128}, kInt64)}, {{"axis", int64_t{0}}});
       }},
  };
}

std::string key(const std::string& text) { return content_key(text).substr(0, 12); }

std::string text_of(const Expected<schedule::Schedule>& s) { return s ? schedule::print_steps(*s) : s.error().text() + "\n"; }

/// Every knob with its values; then what the template makes of its own point and of some at random.
std::string text_of(const space::Template& t, const te::DagPtr& dag, const Target& target) {
  const space::ConfigSpace space = t.space(*dag, target);
  std::string out;
  for (const space::Knob& k : space.knobs())
    for (const space::KnobValue& v : k.candidates) space::append_knob(out, k.name, k.kind, v);
  Rng rng(5);
  std::vector<space::ConfigEntity> points{t.fallback(*dag, target)};
  for (int n = 0; n < 6 && space.size() > 0; ++n) points.push_back(space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))).value());
  for (const space::ConfigEntity& e : points) {
    if (e.index() < 0) continue;
    out += fmt::format("\n{} {}\n", e.text(), space.filtered_reason(e));
    if (space.filtered_reason(e).empty()) out += text_of(t.apply(dag, target, e));
  }
  return fmt::format("{} {} points, {} by rule, {}", t.name, space.size(), points[0].index(), key(out));
}

/// Sketches, what is drawn of each, and what a change makes of that.
std::string text_of_sketches(const te::DagPtr& dag, const Target& target) {
  std::string out;
  size_t count = 0;
  for (const bool exact : {false, true})
    for (const space::Sketch& sketch : space::sketches(dag, target, {.exact = exact})) {
      ++count;
      for (uint64_t seed = 0; seed < 3; ++seed) {
        Rng rng(seed + 100 * count);
        const space::DrawOptions options{.exact = exact};
        const auto s = space::random_schedule(sketch, target, options, rng);
        out += text_of(s);
        if (!s) continue;
        const auto child = space::random_mutation(target, rng).apply({dag, s->steps(), target, options, rng});
        out += child ? schedule::json_text(*child) : child.error().text() + "\n";
      }
    }
  return fmt::format("{} sketches, {}", count, key(out));
}

std::string text_of_features(const schedule::Schedule& s, const te::DagPtr& dag, const Target& target) {
  std::string out;
  for (const cost::FeatureDef& f : cost::features()) {
    if (f.name == std::string("knob")) continue;
    const auto rows = f.extract({.dag = dag, .target = target, .steps = &s.steps()});
    std::string numbers = rows ? std::to_string(rows->count) : rows.error().text();
    if (rows)
      for (const float v : rows->values) numbers += fmt::format(" {:.4g}", v);
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", f.name, key(numbers));
  }
  return out;
}

/// Windows over images of many widths, data and results in blocks of a vector's channels.
std::string text_of_blocks(const Target& target) {
  std::string out;
  const int64_t block = target.lanes(kFloat32);
  for (int64_t width = 1; width <= 40; ++width) {
    const te::DagPtr dag = dag_of(one("avg_pool2d", {1, 64, 9, width}, {{"kernel", Dims{3, 3}}, {"strides", Dims{1, 1}}, {"pads", Dims{1, 1, 1, 1}}}));
    std::vector<schedule::LayoutStep> layouts;
    for (const int stage : {0, dag->outputs.front()}) layouts.push_back({stage, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, block}}});
    out += text_of(space::rule_schedule(dag, target, layouts));
  }
  return key(out);
}

std::string all_choices() {
  std::string out;
  for (const char* name : {"llvm -mcpu=x86-64-v3 -num-cores=4", "llvm -mcpu=znver4 -num-cores=16", "cuda:t4", "cuda:a100,tf32"}) {
    const Target target = parse_target(name).value();
    if (!target.gpu) out += fmt::format("{}: blocks of channels {}\n", target.cpu, text_of_blocks(target));
    for (const Layer& l : layers()) {
      const te::DagPtr dag = dag_of(l.make);
      const schedule::Schedule s = space::default_schedule(dag, target);
      out += fmt::format("{}: {}\n  untuned {} steps, {}\n  {}\n  {}\n", target.gpu ? name : target.cpu, l.name, s.steps().size(), key(text_of(s)), text_of_sketches(dag, target),
                         text_of_features(s, dag, target));
      for (const space::Template* t : space::find_templates(*dag, target)) out += "  " + text_of(*t, dag, target) + "\n";
    }
  }
  return out;
}

}  // namespace

/// What rules choose is seen in times alone, which tests do not look at; so it is written down: chosen.txt holds for layers of networks, on two processors and two
/// GPUs, the schedule without tuning, the sketches and draws of them, the features of that schedule, and the spaces of templates with some of their points, as keys of
/// their texts. Who changes what is chosen says so by changing the file.
class ChosenTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void isWhatIsWrittenDown() {
    const std::string found = all_choices(), path = TW_TESTS_DIR "/engine/space/chosen.txt", actual = TW_BIN_DIR "/chosen.actual";
    const auto wanted = read_file(path);
    if (wanted && *wanted == found) return;
    std::ofstream(actual) << found;
    const std::vector<std::string_view> a = split_lines(wanted ? *wanted : std::string_view()), b = split_lines(found);
    size_t at = 0, layer = 0;
    for (; at < a.size() && at < b.size() && a[at] == b[at]; ++at)
      if (!b[at].starts_with(' ')) layer = at;
    const auto line = [&](const auto& lines, size_t n) { return n < lines.size() ? std::string(lines[n]) : std::string("no more lines"); };
    QFAIL(qPrintable(QString::fromStdString(fmt::format("line {}, {}\n  expected {}\n  found    {}\nAll that was found is in {}", at + 1, line(b, layer), line(a, at), line(b, at), actual))));
  }
};

QTEST_APPLESS_MAIN(ChosenTest)
#include "chosen_test.moc"
