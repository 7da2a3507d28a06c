// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

/// Squeeze by 1x1, then expand by 1x1 and by 3x3 side by side. `expand` counts each side.
std::string fire(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t squeeze, int64_t expand) {
  const std::string s = b.relu(name + ".squeeze.relu", b.conv(name + ".squeeze", x, {.in = in, .out = squeeze, .kernel = 1, .bias = true}));
  const std::string one = b.relu(name + ".expand1x1.relu", b.conv(name + ".expand1x1", s, {.in = squeeze, .out = expand, .kernel = 1, .bias = true}));
  const std::string three =
      b.relu(name + ".expand3x3.relu", b.conv(name + ".expand3x3", s, {.in = squeeze, .out = expand, .kernel = 3, .pad = 1, .bias = true}));
  return b.node("Concat", name + ".concat", {one, three}, {OnnxBuilder::integer("axis", 1)});
}

}  // namespace

Expected<OnnxModel> build_squeezenet1_1(const ZooOptions& options) {
  const int64_t divisor = options.tiny ? 4 : 1, image = options.tiny ? 32 : 224, classes = options.tiny ? 16 : 1000;
  const int64_t first = 64 / divisor;
  OnnxBuilder b("squeezenet1_1", options.seed);
  std::string x = b.input("input", {options.batch, 3, image, image});
  x = b.relu("features.1", b.conv("features.0", x, {.in = 3, .out = first, .kernel = 3, .stride = 2, .bias = true}));
  int64_t in = first;
  int index = 2;
  for (const int64_t squeeze : {16, 32, 48, 64}) {
    if (squeeze != 64) x = b.max_pool("features." + std::to_string(index++), x, 3, 2, 0, true);
    for (int r = 0; r < 2; ++r) {
      const int64_t expand = 4 * squeeze / divisor;
      x = fire(b, "features." + std::to_string(index++), x, in, options.tiny ? squeeze / 2 : squeeze, expand);
      in = 2 * expand;
    }
  }
  x = b.node("Dropout", "classifier.0", {x});
  x = b.relu("classifier.2", b.conv("classifier.1", x, {.in = in, .out = classes, .kernel = 1, .bias = true}));
  x = b.node("GlobalAveragePool", "classifier.3", {x});
  b.output(b.node("Flatten", "flatten", {x}, {OnnxBuilder::integer("axis", 1)}), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
