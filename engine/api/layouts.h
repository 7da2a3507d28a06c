// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/kernel_plan.h"

namespace tw::api {

/// For every value, the layout that a reader from a template wants it in, looking through groups scheduled by rule, reductions among them; nothing if none
/// cares. `fixed` holds the argument layouts of each group whose schedule comes from a template and nothing for the others.
std::vector<std::optional<Layout>> wanted_layouts(const graph::Graph& g, const graph::Partition& p,
                                                  const std::vector<std::optional<std::vector<Layout>>>& fixed);

/// Whether the kernel may write a blocked layout where it reads one: it works on each position by itself or on windows of the image, or moves elements.
bool keeps_layout(const graph::Graph& g, const graph::Group& group);
/// Whether a kernel by rule reads each element so often, along an axis, that a copy in order costs less than finding it in blocks.
bool reads_in_order(const graph::Graph& g, const graph::Group& group);
/// Whether a kernel by rule has its vectors along rows: a convolution in groups, whose channels in a block may belong to several.
bool works_in_rows(const graph::Graph& g, const graph::Group& group);
/// Whether a kernel does nothing but to write its operand under another shape, no dimension of which begins where the rows that blocks of channels have do: it
/// would fetch each element by itself, where a copy in order leaves it little or nothing to do.
bool takes_rows_apart(const graph::Graph& g, const graph::Group& group, const Layout& blocks);
/// Whether each element that it writes comes of many that it reads, as sums and norms do: where these lie in rows, it walks along them and leaves blocks to a
/// copy.
bool reduces(const graph::Graph& g, const graph::Group& group);
/// Whether a kernel takes every second or so of the elements of its operands' rows: whole vectors of them where rows are written, and where blocks are, one by
/// one.
bool steps_along_rows(const graph::Graph& g, const graph::Group& group);
/// Whether a tensor of this type may be stored so: same rank, and less of each dimension is padding than is not.
bool fits(const Layout& layout, const graph::TensorType& type);

}  // namespace tw::api
