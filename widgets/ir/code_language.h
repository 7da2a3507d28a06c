// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tw::widgets {

/// What a listing is written in. The last is no form of a candidate's code but what a person writes: a computation and its template.
enum class CodeLanguage { steps, loops, tir, llvm, assembly, sass, expression };

}  // namespace tw::widgets
