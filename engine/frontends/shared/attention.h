// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/frontends/emitter.h"

namespace tw::frontends {

/// softmax(scale * q k^T + bias) v. Source: Vaswani et al., "Attention is all you need", NeurIPS 2017; grouped heads: Ainslie et al., "GQA", EMNLP 2023.
struct Attention {
  int q = -1;        ///< [batch, heads, queries, size]
  int k = -1;        ///< [batch, groups, keys, size]; consecutive heads share a group
  int v = -1;        ///< [batch, groups, keys, value size]
  int mask = -1;     ///< broadcasts to [batch, heads, queries, keys]: added, or booleans that say who takes part
  double scale = 1;  ///< of the products
  double softcap = 0;  ///< scores s become softcap * tanh(s / softcap); 0: they do not
  /// Query i stands at position p = offset + i and sees keys p - left to p + right; -1: without end. `lengths` [batch] int64 gives the number of keys that count,
  /// the last of which is the last query's position.
  int64_t left = -1, right = -1;
  int64_t offset = 0;
  int lengths = -1;
  int sink = -1;     ///< [heads]: scores of one more key, whose value is zero
  DType softmax_type = kFloat32;
  std::function<int(int)> change_scores, change_probabilities;  ///< may be empty
};

/// All of [batch, heads, queries, keys] but for the result.
struct AttentionResult {
  int y = -1;  ///< [batch, heads, queries, value size]
  int products = -1, capped = -1, biased = -1, probabilities = -1;
};

/// Rows that no key takes part in are zeros.
AttentionResult attention(Emitter& n, const Attention& a);

}  // namespace tw::frontends
