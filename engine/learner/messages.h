// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>

#include "engine/learner/networks.h"
#include "engine/process/frame.h"

/// What goes through the channel between a program and `tw-learner`, beside the greeting. Questions have an "op":
///
/// | op | header | raw arrays after it | answer |
/// |---|---|---|---|
/// | fit | network, options, counts, "weights" | weights to begin with (or none), labels, tasks, begins, rows | "epoch", "of" and "loss" after each epoch; at last "losses" and the weights |
/// | cancel | | | none: the fit ends early with what was learned by then |
/// | load | name, network | weights | "loaded" |
/// | drop | name | | "dropped" |
/// | predict | name, options, counts | begins, rows | the scores |
/// | script | what: inputs | the file's path | "inputs": name, type, shape, traced, reason |
/// | script | what: program, "inputs" by name | the path | "tensor" for each that the program begins with, then "program", as text |
/// | script | what: run, "inputs" in order | the path, the inputs' bytes | "tensor" for each result, then "ran" |
///
/// Scripts are read by a process that was started for them alone.
/// An answer with "error" is a failure of its question alone.
namespace tw::learner {

inline constexpr int kProtocolVersion = 3;
inline constexpr const char* kRole = "learner";
inline constexpr const char* kProgram = "tw-learner";

enum class Loss : uint8_t { lambda_rank, rank_net, list_net, rmse, log_mse };
/// As parameters and messages name them.
std::span<const char* const> loss_names();
std::optional<Loss> find_loss(std::string_view name);

struct FitOptions {
  Loss loss = Loss::lambda_rank;
  int epochs = 50, batch = 512;
  double learning_rate = 7e-4, weight_decay = 1e-6, clip = 0.5;
  bool momentum_free = false;       ///< plain gradient descent instead of Adam
  bool keeps_normaliser = false;    ///< that of the weights to begin with, but for columns that never changed there
  bool across_tasks = false;        ///< pairs of different tasks too
  bool standardises = true;         ///< columns by their mean and deviation; else divided by their greatest, or as they are where every row is a statement's
  int least_steps = 0;              ///< more epochs than `epochs` where little data makes fewer steps than this
  double average = 0;               ///< share of the steps, the last ones, whose mean the weights are
  int patience = 0;                 ///< epochs without a lower loss after which it ends; 0: none
  uint64_t seed = 0;
  int threads = 1;
};
Json to_json(const FitOptions& o);
/// Errors: parse_error for what is missing, of another type, or out of its range.
Expected<FitOptions> fit_options(const Json& j);

/// Raw arrays one after the other.
class Arrays {
 public:
  template <class T>
  void add(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes them apart again.
class ArrayReader {
 public:
  explicit ArrayReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  /// Errors: parse_error where there are fewer.
  template <class T>
  Expected<std::vector<T>> take(size_t count) {
    if (count > bytes_.size() / sizeof(T)) return Error(ErrorCode::parse_error, "Expected the arrays that a message of the learner counts, found fewer bytes");
    std::vector<T> out(count);
    if (count > 0) std::memcpy(out.data(), bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
    return out;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

/// Candidates with their rows, as `cost::FeatureMatrix` has them.
struct Candidates {
  std::vector<uint32_t> begins;  ///< the first row of each, and one past the last of all
  std::vector<float> rows;       ///< of the network's columns
  size_t count() const { return begins.size() - 1; }
};
/// Errors: parse_error for begins that are no such list.
Expected<Candidates> take_candidates(const Json& header, ArrayReader& arrays, const Network& network);

Json error_to_json(const Error& e);
Error error_from_json(const Json& header);
/// A number of a header. Errors: parse_error.
Expected<size_t> count_of(const Json& header, const char* key);
Expected<std::string> text_of(const Json& header, const char* key);

}  // namespace tw::learner
