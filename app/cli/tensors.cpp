// SPDX-License-Identifier: Apache-2.0
#include "app/cli/tensors.h"

#include <cctype>
#include <cmath>

#include "app/cli/common.h"
#include "app/cli/npy.h"
#include "engine/base/output_folder.h"
#include "engine/base/text.h"
#include "engine/frontends/frontend.h"

namespace tw::cli {

std::string input_name(const std::string& option, std::span<const std::string> inputs) {
  std::string name = option.substr(0, option.find('='));
  for (const std::string& input : inputs)
    if (input.size() > name.size() && option.starts_with(input + "=")) name = input;
  return name;
}

Expected<HostArray> read_input(const std::string& option, const std::string& name) {
  if (name.empty() || option.size() < name.size() + 2)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected --input name=file, found '{}'", printable(option)));
  const std::string path = option.substr(name.size() + 1);
  if (!path.ends_with(".npy") && !path.ends_with(".pb")) {
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a .npy or .pb file for --input, found '{}'", printable(path)));
  }
  return path.ends_with(".npy") ? read_npy(path) : frontends::read_onnx_tensor(path);
}

Comparison compare_elements(const HostArray& got, const HostArray& want, const Tolerance& tolerance) {
  Comparison c;
  if (got.dtype != want.dtype || got.shape != want.shape) {
    c.wrong = fmt::format("Expected {} {}, found {} {}", want.dtype.name(), shape_text(want.shape), got.dtype.name(), shape_text(got.shape));
    return c;
  }
  const bool exact = !want.dtype.is_float();
  double largest = 0;
  for (int64_t i = 0, n = want.num_elements(); i < n; ++i)
    if (std::isfinite(want.get(i))) largest = std::max(largest, std::abs(want.get(i)));
  for (int64_t i = 0, n = want.num_elements(); i < n; ++i) {
    const double w = want.get(i), g = got.get(i);
    bool good = (std::isnan(w) && std::isnan(g)) || w == g;
    if (exact) good = want.get_int(i) == got.get_int(i);
    if (std::isfinite(w) && std::isfinite(g)) {
      const double difference = std::abs(g - w);
      c.max_abs = std::max(c.max_abs, difference);
      if (!exact) good = difference <= std::max(tolerance.absolute + tolerance.relative * std::abs(w), tolerance.of_largest * largest);
    }
    if (!good && c.wrong.empty()) c.wrong = fmt::format("Element {} is {}, expected {}", i, g, w);
  }
  if (c.max_abs > 0) c.max_rel = largest > 0 ? c.max_abs / largest : HUGE_VAL;
  return c;
}

Tolerance tolerance_for(DType dtype) {
  if (dtype == kBFloat16) return {3e-2, 1e-2, 3e-2};
  if (dtype == kFloat16) return {1e-2, 1e-3, 1e-2};
  if (dtype == kFloat64) return {1e-3, 1e-7, 1e-6};
  return {1e-3, 1e-7, 2e-4};
}

Expected<void> write_tensors(const std::string& folder, const std::vector<std::string>& names, const std::vector<HostArray>& tensors) {
  OutputFolder out(folder);
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string name = names[i];
    for (char& c : name)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '_';
    TW_CHECK(out.write(fmt::format("{}_{}.npy", i, name), npy_to_bytes(tensors[i])));
  }
  return {};
}

}  // namespace tw::cli
