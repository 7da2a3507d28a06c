// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tw::widgets {

/// What one line of assembly does, in words: of x86 processors, or of PTX with `forGpu`. Empty for labels, comments and what is not known.
/// Sources: Intel's Software Developer's Manual, volume 2; NVIDIA's PTX ISA.
QString instructionHelp(const QString& line, bool forGpu);

/// What a line of loops or TIR says: which kind of loop, what an allocation or a store is. Empty for others.
QString loopHelp(const QString& line);

}  // namespace tw::widgets
