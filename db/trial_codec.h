// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "db/database.h"

namespace tw::db {

/// Columns of a trial that come from its record, in the order of bind_record and read_record.
inline constexpr const char* kRecordColumns =
    "space, config_index, steps_hash, config_json, steps_json, status, message, seconds, flagged, inner_runs, censored, verified, max_rel_error, build_s, "
    "load_s, "
    "run_s, timestamp_s, fill_s, verify_s";
inline constexpr int kRecordColumnCount = 19;
/// Columns that the finals of a task fill in later.
inline constexpr const char* kFinalColumns = "final_s, final_low, final_high";
inline constexpr int kFinalColumnCount = 3;
/// What the cost model said.
inline constexpr const char* kPredictionColumns = "predicted, predicted_after, predicted_by";
inline constexpr int kPredictionColumnCount = 3;

/// Where the constants were while it was timed (records::weights_name), NULL if that is not known.
inline constexpr const char* kWeightsColumn = "trial.weights";

/// What tells a candidate apart in its session: the columns space, config_index and steps_hash, from parameter `first` on.
void bind_point(SQLite::Statement& put, int first, const records::Candidate& candidate);

/// Binds the columns of `record`, the first to parameter `first`.
void bind_record(SQLite::Statement& put, int first, const records::Record& record);
/// Binds what makes its record_hash, from parameter `first` on: the point, its status, its time and `samples`, which are packed and live longer.
void bind_identity(SQLite::Statement& put, int first, const records::Record& record, const std::string& samples);
/// Binds the final columns, NULL if there were no finals.
void bind_verdict(SQLite::Statement& put, int first, const std::optional<records::Verdict>& verdict);
/// Binds the prediction's columns, NULL if there is none.
void bind_prediction(SQLite::Statement& put, int first, const std::optional<records::Prediction>& prediction);
std::optional<records::Prediction> read_prediction(SQLite::Statement& q, int first);
void bind_weights(SQLite::Statement& put, int column, records::Weights weights);
records::Weights read_weights(SQLite::Statement& q, int column);
/// A condition on trials: whether their times are comparable (records::comparable) with those of a network.
std::string comparable_trials(records::Weights in_network);
/// Reads them back without samples, and the final columns after them. What is claimed is not verified, whatever was stored. Errors: corrupt if a text means
/// nothing; whether the row is as it was written is asked in the query (row_checks.h).
Expected<records::Record> read_record(SQLite::Statement& q, int first, bool claimed);

/// Samples and their flags as one blob with a checksum, and back. Errors: corrupt.
std::string pack_samples(const records::MeasureResult& result);
Expected<void> unpack_samples(std::string_view blob, records::MeasureResult& result);

}  // namespace tw::db
