// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "engine/te/dag.h"

namespace tw::te {

/// How large a definition is once the definitions of what it reads are written in place of their reads, as inlining does: a sum of a value with itself doubles.
struct WrittenSize {
  double nodes = 0;          ///< operations, constants, variables and reads of the expression as a tree; infinite beyond all numbers
  std::vector<double> uses;  ///< how often it names each of its axes, spatial ones first

  /// Of a read of something stored, instead of its definition.
  static WrittenSize stored(size_t rank) { return {static_cast<double>(1 + rank), std::vector<double>(rank, 1)}; }
};

/// Of the body of an op. `read` is what a read of a buffer stands for: WrittenSize::stored, or the size of what is written in its place.
WrittenSize written_size(const Op& op, const std::function<WrittenSize(const ir::BufferNode&)>& read);

/// Beyond so many nodes nothing is written into its readers any more: compiling takes some 40 us a node. Layers and activations of networks have up to some hundred.
inline constexpr double kMostWrittenNodes = 4096;

}  // namespace tw::te
