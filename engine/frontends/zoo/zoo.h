// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/frontend.h"

/// The bundled networks, one per file. Each returns a serialised ONNX model.
namespace tw::frontends {

/// Three fully connected layers. Source: the perceptron of every textbook.
Expected<std::string> build_mlp(const ZooOptions& options);
/// Source: LeCun et al., "Gradient-based learning applied to document recognition", Proc. IEEE 1998.
Expected<std::string> build_lenet5(const ZooOptions& options);
/// Source: He et al., "Deep residual learning for image recognition", CVPR 2016.
Expected<std::string> build_resnet18(const ZooOptions& options);
/// Source: Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", CVPR 2018.
Expected<std::string> build_mobilenet_v2(const ZooOptions& options);
/// Source: Iandola et al., "SqueezeNet", 2016, in the later variant 1.1 with the smaller first layers.
Expected<std::string> build_squeezenet1_1(const ZooOptions& options);

}  // namespace tw::frontends
