// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tw::widgets {

/// What a listing is written in.
enum class CodeLanguage { steps, loops, tir, llvm, assembly, sass };

}  // namespace tw::widgets
