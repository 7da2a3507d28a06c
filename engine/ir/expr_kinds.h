// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The single list of expression kinds: X(node type, enumerator).
#define TW_EXPR_KINDS(X)       \
  X(IntImmNode, int_imm)       \
  X(FloatImmNode, float_imm)   \
  X(VarNode, var)              \
  X(CastNode, cast)            \
  X(NotNode, not_)             \
  X(BinaryNode, binary)        \
  X(SelectNode, select)        \
  X(LoadNode, load)            \
  X(RampNode, ramp)            \
  X(BroadcastNode, broadcast)  \
  X(CallNode, call)
