// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

Expected<OnnxModel> build_lenet5(const ZooOptions& options) {
  const int64_t image = options.tiny ? 16 : 28;
  const int64_t c1 = options.tiny ? 8 : 6, c2 = 16;
  const int64_t f1 = options.tiny ? 32 : 120, f2 = options.tiny ? 24 : 84;
  OnnxBuilder b("lenet5", options.seed);
  std::string x = b.input("input", {options.batch, 1, image, image});
  x = b.conv("conv1", x, {.in = 1, .out = c1, .kernel = 5, .pad = 2, .bias = true});
  x = b.average_pool("pool1", b.node("Tanh", "tanh1", {x}), 2, 2);
  x = b.conv("conv2", x, {.in = c1, .out = c2, .kernel = 5, .bias = true});
  x = b.average_pool("pool2", b.node("Tanh", "tanh2", {x}), 2, 2);
  x = b.node("Flatten", "flatten", {x}, {OnnxBuilder::integer("axis", 1)});
  const int64_t side = (image / 2 - 4) / 2;
  x = b.node("Tanh", "tanh3", {b.gemm("fc1", x, c2 * side * side, f1)});
  x = b.node("Tanh", "tanh4", {b.gemm("fc2", x, f1, f2)});
  b.output(b.gemm("fc3", x, f2, 10), {options.batch, 10});
  return b.finish();
}

}  // namespace tw::frontends
