// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"
#include "engine/runtime/gpu_code.h"

namespace tw::runtime {

/// A piece of a logical dimension, outermost physical dimension first (see schedule::LayoutStep).
struct LayoutPiece {
  int dim = 0;
  int64_t factor = 0;  ///< 0: the outermost piece, rounded up
  /// Not 0, for an outermost piece: in place of a convolution's r taps along the dimension, the m + r - 1 points of their transform by F(m, r) are stored (see
  /// base/winograd.h), where m is this number. Constants of type float32 only.
  int64_t winograd = 0;
  friend bool operator==(const LayoutPiece&, const LayoutPiece&) = default;
};

/// One argument of a kernel.
struct ArgSpec {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;       ///< logical
  std::vector<LayoutPiece> layout;  ///< empty means row-major
  bool constant = false;            ///< the same in every call: stored in its layout ahead of time
  bool output = false;

  /// Extents in memory.
  std::vector<int64_t> physical_shape() const;
  int64_t physical_bytes() const;
  /// Of the logical shape.
  int64_t num_elements() const;
  friend bool operator==(const ArgSpec&, const ArgSpec&) = default;
};

struct KernelSignature {
  std::string name;           ///< symbol in the object file
  std::vector<ArgSpec> args;  ///< inputs, then outputs
};

/// Compiled code for one target: a relocatable object file and the kernels in it. For a GPU what it runs stands in `gpu`; the object holds what the processor
/// does for it, if anything.
struct Artifact {
  std::string target;       ///< Target::str()
  std::string host_target;  ///< of a GPU's: what the object is for; empty in files of earlier versions
  std::vector<std::byte> object;
  std::vector<KernelSignature> kernels;
  std::vector<GpuFunction> gpu;
};

/// Errors: invalid_argument unless every dimension has exactly one open piece (factor 0), outside its other pieces, and transforms exist.
Expected<void> check_layout(const ArgSpec& spec);

Json to_json(const ArgSpec&);
Expected<ArgSpec> arg_spec_from_json(const Json&);
Json to_json(const KernelSignature&);
Expected<KernelSignature> signature_from_json(const Json&);

/// Copies a row-major array into `layout` (padding is zero-filled, taps are transformed in double precision) or back, where nothing is transformed. The layout
/// must pass check_layout, and the arrays hold num_elements() and physical_bytes() of the spec.
/// Cost: one strided read and one write an element; the last physical dimension is the inner loop.
void pack_layout(const ArgSpec& spec, const std::byte* row_major, std::byte* packed);
void unpack_layout(const ArgSpec& spec, const std::byte* packed, std::byte* row_major);

}  // namespace tw::runtime
