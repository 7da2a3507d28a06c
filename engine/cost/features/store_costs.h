// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "engine/cost/features/features.h"
#include "engine/space/sketch/program.h"

namespace tw::cost {

inline constexpr size_t kAnsorColumns = 164, kAnsorFloatColumns = 7;
inline constexpr size_t kAnsorArrays = 5, kAnsorArrayColumns = 18, kAnsorFirstArray = 57, kAnsorCurve = 147, kAnsorCurveSamples = 10;

/// Which code's numbers: they are close, and a model of the one is of no use with the other.
enum class StoreDialect : uint8_t {
  tvm,    ///< TVM 0.9: reuse by the first loop outside that moves nothing; arrays by lines, then bytes, the greatest first
  tenset  ///< TenSet's fork: reuse by all such loops that follow each other; arrays by the distance of their reuse, the nearest first
};

/// Ansor's row of 164 numbers for each stage that stores, in the stages' order: operations of all runs on floats (0-6) and integers (7-13), on truths and choices
/// (14, 15); number, product and innermost length of the loops that are vectorised (16-26), written out (27-37) and parallel (38-48), each with its place; threads
/// (49-56); five arrays (57-146); ten samples of the arithmetic intensity (147-156); the array that is stored to (157-160); runs, loops and stores up to which
/// loops are written out (161-163). Logarithms sign(x) log2(|x| + 1) but for flags and intensities. Indices count as what lowering writes for them: a product for
/// each coefficient, an addition for each further part, a division for each digit of a joined loop.
/// Other than TVM's, the whole lines of an array are counted by its own shape, and a choice that pads counts as one.
/// Source: per-store features of Ansor (Zheng et al., OSDI 2020), in the numbers of TVM 0.9's feature.cc and of TenSet's.
FeatureRows store_costs(const space::Program& program, const space::Evaluated& e, StoreDialect dialect);

/// What a column of those rows is, in words.
std::string store_column_name(size_t column);

/// What one statement of the program does with one array, in the order of the program; of a statement what it reads last stands first, what it stores to at the end.
struct ArrayStep {
  size_t statement = 0;  ///< counted over those of the program, what sums begin with included
  ir::Scope scope = ir::Scope::global;
  bool written = false;
  float operations = 0;                                  ///< on floats, of all runs of the statement
  std::array<float, kAnsorArrayColumns> columns = {};    ///< those of an array
  float bytes = 0;                                       ///< that are kept for it; 0 for arguments
};
/// In TenSet's dialect, with its rows.
struct StoreSteps {
  FeatureRows rows;
  std::vector<ArrayStep> steps;
};
StoreSteps store_steps(const space::Program& program, const space::Evaluated& e);

Expected<FeatureRows> ansor_features(const FeatureInput& input);
Expected<FeatureRows> tenset_features(const FeatureInput& input);
FeatureRows ansor_program(const space::Program& program, const space::Evaluated& e, const Target& target);
FeatureRows tenset_program(const space::Program& program, const space::Evaluated& e, const Target& target);

}  // namespace tw::cost
