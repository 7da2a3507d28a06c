// SPDX-License-Identifier: Apache-2.0
#include "app/cli/network_report.h"

#include <cmath>

#include "app/cli/common.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "app/logs/network_trials.h"
#include "app/logs/page.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {

namespace {

/// `-` for what was not seen in the network.
std::string place_text(const api::KernelFinal& k) { return k.place_s > 0 ? time_text(k.place_s) : "-"; }

std::string against_alone(const api::KernelFinal& k) {
  const bool tuned = k.tried && k.standing == api::Standing::taken;
  const double alone = tuned ? k.best_s : k.default_s;
  return k.place_s > 0 && std::isfinite(alone) && alone > 0 ? fmt::format("{:.2f}", k.place_s / alone) : "-";
}

}  // namespace

bool wants_network_report(const std::string& network_finals, bool all_tasks) {
  return network_finals == "always" || (network_finals == "auto" && all_tasks);
}

Expected<api::NetworkFinals> report_network(const NetworkReportRequest& request, db::Database& db) {
  api::NetworkFinalsRequest r;
  r.network = &request.network->network;
  r.target = &request.network->target;
  const std::vector<api::NetworkTask> tasks = api::network_tasks(request.network->network, request.network->target);
  TW_TRY(r.tasks, logs::tried_tasks(tasks, db));
  r.device = request.device;
  r.workers = request.workers;
  r.selection = request.selection;
  r.stop = stop_token();
  Progress progress("Network", 0);
  r.progress = [&](const std::string& text) { progress.line(text); };
  TW_TRY(api::NetworkFinals finals, api::run_network_finals(r));
  if (!finals.measured || db.mode() != db::Mode::read_write) return finals;
  TW_TRY(const StoredNetwork stored, store_network(db, *request.network, request.path, tasks));
  TW_CHECK(logs::store_finals(stored.model, request.network->target, request.session, finals, db));
  return finals;
}

std::string gain_text(const PairedRatio& r) { return fmt::format("{:.2f}x ({:.2f} to {:.2f})", 1 / r.ratio, 1 / r.high, 1 / r.low); }

std::string finals_summary(const api::NetworkFinals& f) {
  const std::string estimate = fmt::format("Sum of the kernels alone: default {}, tuned {}, {}\n", time_text(f.default_estimate_s), time_text(f.tuned_estimate_s),
                                           ratio_text(f.default_estimate_s / f.tuned_estimate_s));
  if (!f.measured) return "The network is not run: its kernels' times are not measured ones, and it takes their sum\n";
  if (f.tried == 0) return estimate + fmt::format("The network takes {}: no other schedule than the default ones won\n", time_text(f.default_s));
  if (f.taken == 0) {
    return estimate + fmt::format("The network takes {} with its default schedules, which stay: with what won alone it is {} as fast\n", time_text(f.default_s),
                                  std::isfinite(f.network.ratio) ? gain_text(f.network) : "wrong, and not");
  }
  return estimate + fmt::format("The network: default {}, tuned {}, {} as fast; {} of {} kernels that won alone are taken\n", time_text(f.default_s),
                                time_text(f.tuned_s), gain_text(f.network), f.taken, f.tried);
}

std::string finals_table(const api::NetworkFinals& f) {
  Table table({"kernel", ">weight", ">default", ">best", ">alone", ">in its place", "verdict", ">in the network", ">of alone", "because"});
  for (const api::KernelFinal& k : f.kernels) {
    const std::string because = k.layouts_s > 0 && k.reason.empty() ? fmt::format("{} of layout changes beside it", time_text(k.layouts_s)) : k.reason;
    table.row({k.name, std::to_string(k.weight), time_text(k.default_s), time_text(k.best_s), ratio_text(k.default_s / k.best_s),
               k.tried ? gain_text(k.in_place) : "-", k.tried ? api::standing_text(k.standing) : "default", place_text(k), against_alone(k), because});
  }
  return (f.measured ? table.text() + "\n" : "") + finals_summary(f);
}

std::string stored_finals_table(const std::vector<db::NetworkFinalRow>& rows) {
  Table table({"when", ">session", ">default", ">tuned", "gain", ">sum by default", ">sum tuned", ">taken"});
  for (const db::NetworkFinalRow& r : rows) {
    table.row({logs::date_text(r.at_s), r.session ? std::to_string(r.session->value) : "-", time_text(r.default_s), time_text(r.tuned_s),
               r.taken > 0 ? gain_text({r.ratio, r.low, r.high}) : "-", time_text(r.default_estimate_s), time_text(r.tuned_estimate_s),
               fmt::format("{} of {}", r.taken, r.tried)});
  }
  return table.text();
}

Json stored_final_json(const db::NetworkFinalRow& r) {
  return {{"at_s", r.at_s},
          {"session", r.session ? Json(r.session->value) : Json()},
          {"target", r.target},
          {"default_s", r.default_s},
          {"tuned_s", r.tuned_s},
          {"network", {{"ratio", json_number(r.ratio)}, {"low", json_number(r.low)}, {"high", json_number(r.high)}}},
          {"default_estimate_s", r.default_estimate_s},
          {"tuned_estimate_s", r.tuned_estimate_s},
          {"tried", r.tried},
          {"taken", r.taken}};
}

Json finals_json(const api::NetworkFinals& f) {
  const auto interval = [](const PairedRatio& r) { return Json{{"ratio", json_number(r.ratio)}, {"low", json_number(r.low)}, {"high", json_number(r.high)}}; };
  Json kernels = Json::array();
  for (const api::KernelFinal& k : f.kernels) {
    kernels.push_back({{"task", k.task_key},
                       {"name", k.name},
                       {"weight", k.weight},
                       {"default_s", json_number(k.default_s)},
                       {"best_s", json_number(k.best_s)},
                       {"tried", k.tried},
                       {"standing", k.tried ? Json(api::standing_name(k.standing)) : Json()},
                       {"in_place", k.tried ? interval(k.in_place) : Json()},
                       {"place_default_s", k.place_default_s},
                       {"place_s", k.place_s},
                       {"layouts_s", k.layouts_s},
                       {"reason", k.reason}});
  }
  return {{"measured", f.measured},
          {"kernels", kernels},
          {"default_s", f.measured ? Json(f.default_s) : Json()},
          {"tuned_s", f.measured ? Json(f.tuned_s) : Json()},
          {"network", f.measured && f.tried > 0 ? interval(f.network) : Json()},
          {"tried", f.tried},
          {"taken", f.taken},
          {"default_estimate_s", f.default_estimate_s},
          {"tuned_estimate_s", f.tuned_estimate_s},
          {"launches", f.launches},
          {"seconds", f.seconds}};
}

}  // namespace tw::cli
