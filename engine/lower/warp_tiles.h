// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lower/placement.h"

/// Tiles of sums that the threads of a warp hold together, and products by its tensor cores.
namespace tw::lower {

/// Lays a stage with a `warp_product` out over the threads of a warp. Errors: illegal_schedule, naming the stage.
Expected<void> place_warp_tile(const Plan& plan, int stage, Placement& place);
/// Adds the product of the tiles to the sums of the warp. Errors: illegal_schedule where tensor cores do not find the operands in such an order.
Expected<tir::Stmt> warp_product(const Plan& plan, const Arrays& arrays, int stage);
/// Every thread sets the sums that it holds.
tir::Stmt clear_warp_tile(const Arrays& arrays, int stage);
/// Whether the thread of a stage that reads element (row, column) of a warp's tile is the one that holds it.
bool holds_element(const Plan& plan, int stage, const ir::Expr& row, const ir::Expr& column);
Error warp_error(const Plan& plan, int stage, const std::string& expected);

}  // namespace tw::lower
