// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

/// Transposed convolution with 4x4 windows: doubles the image with stride 2 and padding 1, makes one of 4x4 from a point with stride 1 and none.
std::string up(OnnxBuilder& b, const std::string& name, const std::string& x, int64_t in, int64_t out, int64_t stride) {
  constexpr int64_t kKernel = 4;
  const int64_t pad = stride == 2 ? 1 : 0;
  // Each result sums in * (kernel / stride)^2 products.
  const double terms = static_cast<double>(in * (stride == 2 ? kKernel : 1));
  const std::string weight = b.random(name + ".weight", {in, out, kKernel, kKernel}, 0, std::sqrt(2 / terms));
  return b.node("ConvTranspose", name, {x, weight},
                {OnnxBuilder::integers("kernel_shape", {kKernel, kKernel}), OnnxBuilder::integers("pads", {pad, pad, pad, pad}),
                 OnnxBuilder::integers("strides", {stride, stride})});
}

}  // namespace

Expected<OnnxModel> build_dcgan(const ZooOptions& options) {
  const int64_t noise = options.tiny ? 20 : 100, width = options.tiny ? 4 : 64, colours = 3;
  OnnxBuilder b("dcgan", options.seed);
  std::string x = b.input("noise", {options.batch, noise, 1, 1});
  int64_t in = noise, out = 8 * width, image = 1;
  for (int layer = 0; layer < 4; ++layer) {
    const std::string name = "main." + std::to_string(3 * layer);
    x = up(b, name, x, in, out, layer == 0 ? 1 : 2);
    x = b.relu(name + ".relu", b.batch_norm(name + ".bn", x, out));
    image = layer == 0 ? 4 : 2 * image;
    in = out;
    out /= 2;
  }
  b.output(b.node("Tanh", "image", {up(b, "main.12", x, in, colours, 2)}), {options.batch, colours, 2 * image, 2 * image});
  return b.finish();
}

}  // namespace tw::frontends
