// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

namespace {

using Shape = OnnxBuilder::Shape;

/// Branches of convolutions over one value, joined along the channels.
class Inception {
 public:
  Inception(OnnxBuilder& b, int64_t divisor) : b_(b), divisor_(divisor) {}

  /// A value and its channels.
  struct Value {
    std::string name;
    int64_t channels;
  };

  /// Convolution, normalisation and ReLU; `out` are the channels of the full network. A window of {h, w} keeps the extents if `same`.
  Value conv(const std::string& name, const Value& x, int64_t out, const Shape& kernel, int64_t stride = 1, bool same = true) {
    const int64_t channels = out / divisor_;
    const Shape pad = same && stride == 1 ? Shape{kernel[0] / 2, kernel[1] / 2} : Shape{0, 0};
    const std::string y =
        b_.conv(name + ".conv", x.name, OnnxBuilder::WindowConv{.in = x.channels, .out = channels, .kernel = kernel, .stride = {stride, stride}, .pad = pad});
    return {b_.relu(name + ".relu", b_.batch_norm(name + ".bn", y, channels, 1.0, 1e-3F)), channels};
  }

  Value join(const std::string& name, const std::vector<Value>& branches) {
    std::vector<std::string> names;
    int64_t channels = 0;
    for (const Value& v : branches) {
      names.push_back(v.name);
      channels += v.channels;
    }
    return {b_.node("Concat", name, names, {OnnxBuilder::integer("axis", 1)}), channels};
  }

  Value max_pool(const std::string& name, const Value& x) { return {b_.max_pool(name, x.name, 3, 2, 0), x.channels}; }

  /// Mean of 3x3 positions, then a 1x1 convolution.
  Value pool_branch(const std::string& name, const Value& x, int64_t out) {
    return conv(name + ".branch_pool", {b_.average_pool(name + ".pool", x.name, 3, 1, 1), x.channels}, out, {1, 1});
  }

  Value block_a(const std::string& name, const Value& x, int64_t pool_out) {
    const Value one = conv(name + ".branch1x1", x, 64, {1, 1});
    const Value five = conv(name + ".branch5x5_2", conv(name + ".branch5x5_1", x, 48, {1, 1}), 64, {5, 5});
    Value three = conv(name + ".branch3x3dbl_1", x, 64, {1, 1});
    three = conv(name + ".branch3x3dbl_3", conv(name + ".branch3x3dbl_2", three, 96, {3, 3}), 96, {3, 3});
    return join(name, {one, five, three, pool_branch(name, x, pool_out)});
  }

  Value block_b(const std::string& name, const Value& x) {
    const Value three = conv(name + ".branch3x3", x, 384, {3, 3}, 2);
    Value twice = conv(name + ".branch3x3dbl_2", conv(name + ".branch3x3dbl_1", x, 64, {1, 1}), 96, {3, 3});
    twice = conv(name + ".branch3x3dbl_3", twice, 96, {3, 3}, 2);
    return join(name, {three, twice, max_pool(name + ".branch_pool", x)});
  }

  /// 7x7 windows as rows and columns.
  Value block_c(const std::string& name, const Value& x, int64_t width) {
    const Value one = conv(name + ".branch1x1", x, 192, {1, 1});
    Value seven = conv(name + ".branch7x7_1", x, width, {1, 1});
    seven = conv(name + ".branch7x7_3", conv(name + ".branch7x7_2", seven, width, {1, 7}), 192, {7, 1});
    Value twice = conv(name + ".branch7x7dbl_1", x, width, {1, 1});
    twice = conv(name + ".branch7x7dbl_3", conv(name + ".branch7x7dbl_2", twice, width, {7, 1}), width, {1, 7});
    twice = conv(name + ".branch7x7dbl_5", conv(name + ".branch7x7dbl_4", twice, width, {7, 1}), 192, {1, 7});
    return join(name, {one, seven, twice, pool_branch(name, x, 192)});
  }

  Value block_d(const std::string& name, const Value& x) {
    const Value three = conv(name + ".branch3x3_2", conv(name + ".branch3x3_1", x, 192, {1, 1}), 320, {3, 3}, 2);
    Value seven = conv(name + ".branch7x7x3_1", x, 192, {1, 1});
    seven = conv(name + ".branch7x7x3_3", conv(name + ".branch7x7x3_2", seven, 192, {1, 7}), 192, {7, 1});
    seven = conv(name + ".branch7x7x3_4", seven, 192, {3, 3}, 2);
    return join(name, {three, seven, max_pool(name + ".branch_pool", x)});
  }

  /// 3x3 windows as a row and a column side by side.
  Value block_e(const std::string& name, const Value& x) {
    const Value one = conv(name + ".branch1x1", x, 320, {1, 1});
    const Value three = conv(name + ".branch3x3_1", x, 384, {1, 1});
    const Value threes = crossed(name + ".branch3x3_2", three);
    const Value twice = conv(name + ".branch3x3dbl_2", conv(name + ".branch3x3dbl_1", x, 448, {1, 1}), 384, {3, 3});
    return join(name, {one, threes, crossed(name + ".branch3x3dbl_3", twice), pool_branch(name, x, 192)});
  }

 private:
  Value crossed(const std::string& name, const Value& x) { return join(name, {conv(name + "a", x, 384, {1, 3}), conv(name + "b", x, 384, {3, 1})}); }

  OnnxBuilder& b_;
  int64_t divisor_;
};

}  // namespace

Expected<OnnxModel> build_inception_v3(const ZooOptions& options) {
  const int64_t image = options.tiny ? 75 : 299, classes = options.tiny ? 10 : 1000;
  OnnxBuilder b("inception_v3", options.seed);
  Inception net(b, options.tiny ? 16 : 1);
  Inception::Value x{b.input("input", {options.batch, 3, image, image}), 3};
  x = net.conv("Conv2d_1a_3x3", x, 32, {3, 3}, 2);
  x = net.conv("Conv2d_2a_3x3", x, 32, {3, 3}, 1, false);
  x = net.max_pool("maxpool1", net.conv("Conv2d_2b_3x3", x, 64, {3, 3}));
  x = net.conv("Conv2d_4a_3x3", net.conv("Conv2d_3b_1x1", x, 80, {1, 1}), 192, {3, 3}, 1, false);
  x = net.max_pool("maxpool2", x);
  x = net.block_a("Mixed_5b", x, 32);
  x = net.block_a("Mixed_5c", x, 64);
  x = net.block_a("Mixed_5d", x, 64);
  x = net.block_b("Mixed_6a", x);
  x = net.block_c("Mixed_6b", x, 128);
  x = net.block_c("Mixed_6c", x, 160);
  x = net.block_c("Mixed_6d", x, 160);
  x = net.block_c("Mixed_6e", x, 192);
  x = net.block_d("Mixed_7a", x);
  x = net.block_e("Mixed_7b", x);
  x = net.block_e("Mixed_7c", x);
  const std::string pooled = b.node("Flatten", "flatten", {b.node("GlobalAveragePool", "avgpool", {x.name})}, {OnnxBuilder::integer("axis", 1)});
  b.output(b.gemm("fc", b.node("Dropout", "dropout", {pooled}), x.channels, classes), {options.batch, classes});
  return b.finish();
}

}  // namespace tw::frontends
