// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::learner {
namespace {

constexpr std::array<const char*, 5> kLosses = {"lambda_rank", "rank_net", "list_net", "rmse", "log_mse"};

Error wrong(const char* key) { return Error(ErrorCode::parse_error, fmt::format("Expected a sensible \"{}\" in a message of the learner", key)); }

}  // namespace

std::span<const char* const> loss_names() { return kLosses; }

std::optional<Loss> find_loss(std::string_view name) {
  for (size_t i = 0; i < kLosses.size(); ++i)
    if (name == kLosses[i]) return static_cast<Loss>(i);
  return std::nullopt;
}

Json to_json(const FitOptions& o) {
  return {{"loss", kLosses[static_cast<size_t>(o.loss)]},
          {"epochs", o.epochs},
          {"batch", o.batch},
          {"learning_rate", o.learning_rate},
          {"weight_decay", o.weight_decay},
          {"clip", o.clip},
          {"momentum_free", o.momentum_free},
          {"keeps_normaliser", o.keeps_normaliser},
          {"across_tasks", o.across_tasks},
          {"standardises", o.standardises},
          {"least_steps", o.least_steps},
          {"average", o.average},
          {"patience", o.patience},
          {"seed", o.seed},
          {"threads", o.threads}};
}

Expected<FitOptions> fit_options(const Json& j) {
  FitOptions o;
  try {
    const auto loss = find_loss(j.at("loss").get<std::string>());
    if (!loss) return wrong("loss");
    o.loss = *loss;
    o.epochs = j.at("epochs").get<int>();
    o.batch = j.at("batch").get<int>();
    o.learning_rate = j.at("learning_rate").get<double>();
    o.weight_decay = j.at("weight_decay").get<double>();
    o.clip = j.at("clip").get<double>();
    o.momentum_free = j.at("momentum_free").get<bool>();
    o.keeps_normaliser = j.at("keeps_normaliser").get<bool>();
    o.across_tasks = j.at("across_tasks").get<bool>();
    o.standardises = j.at("standardises").get<bool>();
    o.least_steps = j.at("least_steps").get<int>();
    o.average = j.at("average").get<double>();
    o.patience = j.at("patience").get<int>();
    o.seed = j.at("seed").get<uint64_t>();
    o.threads = j.at("threads").get<int>();
  } catch (const Json::exception& e) {
    return Error(ErrorCode::parse_error, fmt::format("Expected the options of a fit, found others: {}", e.what()));
  }
  if (o.epochs < 0 || o.epochs > 100'000) return wrong("epochs");
  if (o.batch < 2 || o.batch > 1 << 16) return wrong("batch");
  if (o.threads < 1 || o.threads > 1024) return wrong("threads");
  return o;
}

Expected<size_t> count_of(const Json& header, const char* key) {
  if (!header.contains(key) || !header[key].is_number_unsigned()) return wrong(key);
  return header[key].get<size_t>();
}

Expected<std::string> text_of(const Json& header, const char* key) {
  if (!header.contains(key) || !header[key].is_string()) return wrong(key);
  return header[key].get<std::string>();
}

Expected<Candidates> take_candidates(const Json& header, ArrayReader& arrays, const Network& network) {
  TW_TRY(const size_t count, count_of(header, "candidates"));
  Candidates out;
  TW_TRY(out.begins, arrays.take<uint32_t>(count + 1));
  if (out.begins.front() != 0 || !std::is_sorted(out.begins.begin(), out.begins.end())) return wrong("candidates");
  TW_TRY(out.rows, arrays.take<float>(out.begins.back() * network.columns));
  return out;
}

Json error_to_json(const Error& e) { return {{"error", std::string(error_code_name(e.code))}, {"message", e.message}, {"where", e.where}}; }

Error error_from_json(const Json& header) {
  const auto text = [&](const char* key) { return header.contains(key) && header[key].is_string() ? header[key].get<std::string>() : std::string(); };
  return Error(error_code_from_name(text("error")), text("message"), text("where"));
}

}  // namespace tw::learner
