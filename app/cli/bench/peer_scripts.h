// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tw::cli::bench {

/// Texts of onnxruntime_latency.py, openvino_latency.py and pytorch_latency.py.
std::string_view onnxruntime_script();
std::string_view openvino_script();
std::string_view pytorch_script();

}  // namespace tw::cli::bench
