// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/array_bytes.h"
#include "engine/base/dtype.h"

namespace tw {

/// One dense row-major tensor in host memory: constants of a graph, inputs and outputs of the interpreters.
struct HostArray {
  DType dtype;
  std::vector<int64_t> shape;
  ArrayBytes data;  ///< num_elements() * dtype.bytes(); float16 and bfloat16 as their bits

  static HostArray make(DType t, std::vector<int64_t> shape);  ///< zero-filled
  int64_t num_elements() const;
  double get(int64_t i) const;    ///< any type as double; integers beyond 2^53 lose digits
  void set(int64_t i, double v);  ///< rounds floats to the type; integers wrap to the type's width
  int64_t get_int(int64_t i) const;
  void set_int(int64_t i, int64_t v);
};

/// Conversions of the 16-bit formats, rounded once, to nearest even.
float half_to_float(uint16_t bits);
uint16_t to_half(double value);
float bfloat16_to_float(uint16_t bits);
uint16_t to_bfloat16(double value);
/// `v` after a round trip through type t.
double round_to(DType t, double v);

}  // namespace tw
