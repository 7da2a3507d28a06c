// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "app/cli/network.h"
#include "db/database.h"
#include "engine/api/network_finals.h"
#include "engine/base/json_fwd.h"

/// The network after tuning: what its kernels gain in their places, and what it takes beside what its trials add up to.
namespace tw::cli {

struct NetworkReportRequest {
  const LoadedNetwork* network = nullptr;
  std::string path;                  ///< of its file
  std::string device;                ///< that measured the trials
  std::optional<SessionId> session;  ///< after which
  measure::WorkerOptions workers;
  api::SelectionOptions selection;
};

/// Tries the best trials of a database inside the network, with progress on standard error, and stores what became of them unless the database is open for
/// reading only. Errors: those of the database and of run_network_finals.
Expected<api::NetworkFinals> report_network(const NetworkReportRequest& request, db::Database& db);

/// What `tw tune --network-finals` may be.
inline const std::vector<std::string> kNetworkFinals = {"auto", "always", "never"};
/// Whether a session is followed by it: `auto` leaves it away where only some tasks were tuned.
bool wants_network_report(const std::string& network_finals, bool all_tasks);

/// One line per kernel: alone and in its place; then the network beside the sum of its kernels.
std::string finals_table(const api::NetworkFinals& finals);
/// The network's lines of it.
std::string finals_summary(const api::NetworkFinals& finals);
Json finals_json(const api::NetworkFinals& finals);

/// Earlier ones, as a database holds them.
std::string stored_finals_table(const std::vector<db::NetworkFinalRow>& rows);
Json stored_final_json(const db::NetworkFinalRow& row);

/// `1.11x (1.08 to 1.14)`: how many times as fast, with its interval.
std::string gain_text(const PairedRatio& ratio);

}  // namespace tw::cli
