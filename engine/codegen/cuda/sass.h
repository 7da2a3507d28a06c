// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/expected.h"

/// Machine code of a GPU as text, by NVIDIA's disassembler where it is installed: nvdisasm, part of the CUDA toolkit, a program of its own.
namespace tw::codegen {

struct Sass {
  std::string text;                 ///< functions, labels and instructions
  std::vector<int> line_to_source;  ///< per line of `text` (0-based) the line of the source (0-based) that it came from, or -1
};

/// Errors: not_found, in one sentence, where there is no nvdisasm; it is looked for in $PATH, $CUDA_HOME/bin and /usr/local/cuda*/bin. infrastructure with its
/// own words if it fails.
Expected<Sass> disassemble(const std::vector<std::byte>& cubin);

/// What `nvdisasm --print-code --print-line-info` prints, without its frame. Lines of the source come from "//## File ..., line N" above instructions; those of
/// a function that a line calls count as that line's.
Sass parse_sass(const std::string& printed);

}  // namespace tw::codegen
