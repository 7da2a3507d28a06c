// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

Expected<OnnxModel> build_dcgan_discriminator(const ZooOptions& options) {
  constexpr int64_t kKernel = 4;
  const int64_t width = options.tiny ? 4 : 64, colours = 3;
  OnnxBuilder b("dcgan_discriminator", options.seed);
  int64_t in = colours, out = width, image = 64;
  std::string x = b.input("image", {options.batch, colours, image, image});
  for (int layer = 0; layer < 4; ++layer) {
    const std::string name = "main." + std::to_string(layer == 0 ? 0 : 3 * layer - 1);
    x = b.conv(name, x, {.in = in, .out = out, .kernel = kKernel, .stride = 2, .pad = 1});
    if (layer > 0) x = b.batch_norm(name + ".bn", x, out);
    x = b.node("LeakyRelu", name + ".relu", {x}, {OnnxBuilder::real("alpha", 0.2F)});
    image /= 2;
    in = out;
    out *= 2;
  }
  x = b.conv("main.11", x, {.in = in, .out = 1, .kernel = kKernel});
  b.output(b.node("Sigmoid", "real", {x}), {options.batch, 1, image - kKernel + 1, image - kKernel + 1});
  return b.finish();
}

}  // namespace tw::frontends
