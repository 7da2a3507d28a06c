// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

Expected<OnnxModel> build_vgg16(const ZooOptions& options) {
  const std::array<int64_t, 5> full = {64, 128, 256, 512, 512}, tiny = {8, 16, 16, 32, 32};
  const std::array<int64_t, 5>& widths = options.tiny ? tiny : full;
  const std::array<int, 5> repeats = {2, 2, 3, 3, 3};
  const int64_t image = options.tiny ? 32 : 224, hidden = options.tiny ? 64 : 4096, classes = options.tiny ? 10 : 1000;
  OnnxBuilder b("vgg16", options.seed);
  std::string x = b.input("input", {options.batch, 3, image, image});
  int64_t in = 3;
  int index = 0;
  for (size_t stage = 0; stage < widths.size(); ++stage) {
    for (int r = 0; r < repeats[stage]; ++r) {
      const std::string name = "features." + std::to_string(index++);
      x = b.relu(name + ".relu", b.conv(name, x, {.in = in, .out = widths[stage], .kernel = 3, .pad = 1, .bias = true}));
      in = widths[stage];
    }
    x = b.max_pool("features." + std::to_string(index++), x, 2, 2, 0);
  }
  x = b.node("Flatten", "flatten", {x}, {OnnxBuilder::integer("axis", 1)});
  const int64_t side = image / 32;
  x = b.node("Dropout", "classifier.2", {b.relu("classifier.1", b.gemm("classifier.0", x, in * side * side, hidden))});
  x = b.node("Dropout", "classifier.5", {b.relu("classifier.4", b.gemm("classifier.3", x, hidden, hidden))});
  b.output(b.gemm("classifier.6", x, hidden, classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
