// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/zoo/onnx_builder.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

Expected<OnnxModel> build_mlp(const ZooOptions& options) {
  const std::vector<int64_t> widths = options.tiny ? std::vector<int64_t>{64, 48, 32, 10} : std::vector<int64_t>{784, 512, 256, 10};
  OnnxBuilder b("mlp", options.seed);
  std::string x = b.input("input", {options.batch, widths[0]});
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string name = "fc" + std::to_string(i + 1);
    x = b.gemm(name, x, widths[i], widths[i + 1]);
    if (i + 2 < widths.size()) x = b.relu(name + ".relu", x);
  }
  b.output(b.node("Softmax", "probabilities", {x}, {OnnxBuilder::integer("axis", 1)}), {options.batch, widths.back()});
  return b.finish();
}

}  // namespace tw::frontends
