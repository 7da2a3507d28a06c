// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tw::cli::bench {

/// Text of onnxruntime_latency.py.
std::string_view onnxruntime_script();

}  // namespace tw::cli::bench
