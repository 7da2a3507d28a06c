// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

/// How well predictions agree with what was measured. Higher is better in `truth` and in `predicted`, which have the same length.
namespace tw::cost {

/// How well predictions find the best: for each k up to `top`, the share of the true best k among the k predicted best, averaged over k. 1 is perfect.
/// Of equal values the earlier counts as better; `top` is at most the length (larger is cut).
/// Source: AutoTVM 0.9's metric "a-recall" (Chen et al., NeurIPS 2018).
double average_recall(std::span<const double> truth, std::span<const float> predicted, int top);

/// The share of all pairs of different truth that are predicted in the right order; what is predicted equal counts half. 1 is perfect, chance gives 0.5, as do no
/// pairs. Takes n² steps.
/// Source: Zheng et al., "TenSet", NeurIPS Datasets and Benchmarks 2021.
double pairwise_accuracy(std::span<const double> truth, std::span<const float> predicted);

/// Root of the mean squared error; 0 for nothing.
double rmse(std::span<const double> truth, std::span<const float> predicted);
/// 1 - squared errors ÷ squared distances of the truth from its mean: 1 is perfect, 0 as good as always saying the mean. For a constant truth 1 if there is no
/// error, else 0.
double r_squared(std::span<const double> truth, std::span<const float> predicted);

/// The candidates of a task with their times and what a model says of them.
struct JudgedTask {
  double weight = 1;  ///< how often the network runs it
  std::span<const double> seconds;  ///< infinity for what failed
  std::span<const float> predicted;
};
/// What measuring only the k candidates predicted best would find: the best time there is ÷ the best time among those, over times of tasks that add up as a
/// network adds them. 1 is perfect; 0 if a task has only failures among its k. Tasks in which nothing runs do not count.
/// Source: Zheng et al., "TenSet", NeurIPS Datasets and Benchmarks 2021.
double top_k_score(std::span<const JudgedTask> tasks, int k);

/// How many candidates are tried in the predicted order until one takes at most the shortest time × (1 + `slack`); among equal predictions in random order, of which this is the mean.
/// All of them + 1 where nothing runs. Constant predictions give what chance takes.
double trials_to_reach(std::span<const double> seconds, std::span<const float> predicted, double slack);

/// All of it about the candidates of some tasks.
struct Quality {
  double pairs = 0;       ///< share of the pairs of a task that are in the right order, averaged over all pairs
  double best_of_1 = 0;   ///< top_k_score of each task's favourite
  double best_of_8 = 0;   ///< of its eight favourites
  double rmse = 0;        ///< of scores as speeds relative to the task's fastest candidate
  double r_squared = 0;   ///< of the same
};
/// `labels`: what the tasks' candidates ought to have been predicted, speeds relative to their fastest, task by task; so `predicted` lie in `scores`.
Quality quality(std::span<const JudgedTask> tasks, std::span<const double> labels, std::span<const float> scores);

}  // namespace tw::cost
