// SPDX-License-Identifier: Apache-2.0
// `tw farm`: devices that measure for sessions with --device farm:KIND.
#include <algorithm>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/table.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/farm_file.h"
#include "engine/farm/server.h"
#include "engine/farm/survey.h"

namespace tw::cli {
namespace {

struct FarmArguments {
  std::string farm = farm::kDefaultFarm, kind = "host", device, command, reason;
  farm::Listening listening;
  int lines = 40;
  bool json = false;
};

/// Where a farm's server is, and who may read what it is told.
std::string place_text(const farm::FarmFile& f) {
  return fmt::format("{}:{}, {}", f.address, f.port, f.fingerprint.empty() ? "not encrypted" : "encrypted");
}

/// How devices elsewhere come to a server that only this machine reaches.
std::string tunnel_text(const farm::FarmFile& f) {
  if (!farm::is_loopback(f.address)) return "";
  return fmt::format(" Elsewhere than on this machine, first: ssh -N -R {}:{}:{} USER@DEVICE, or let it listen at another address with `tw farm up --listen`", f.port, f.address, f.port);
}

Json farm_json(const farm::FarmFile& f) {
  return {{"farm", f.farm}, {"folder", f.folder}, {"address", f.address}, {"port", f.port}, {"encrypted", !f.fingerprint.empty()}};
}

int print_line(const farm::FarmFile& f, const std::string& kind, bool json) {
  const auto access = f.agent(kind);
  if (!access) return fail(access.error());
  const std::string line = farm::line_of(*access);
  if (json) {
    Json out = farm_json(f);
    out["kind"] = kind, out["line"] = line;
    print_json(out);
    return kDone;
  }
  note(fmt::format("The farm '{}' listens at {}. On a device of kind '{}' run what follows; it holds a password.{}", f.farm, place_text(f), kind, tunnel_text(f)));
  print("tw-agent join {}\n", line);
  return kDone;
}

int up(const FarmArguments& o) {
  const auto farm = farm::farm_up(o.farm, o.kind, o.listening);
  return farm ? print_line(*farm, o.kind, o.json) : fail(farm.error());
}

int down(const FarmArguments& o) {
  const auto farm = farm::read_farm(o.farm);
  if (!farm) return fail(farm.error());
  const auto done = farm::farm_down(*farm);
  if (!done) return fail(done.error());
  note(fmt::format("The server of the farm '{}' has ended; what is stored stays", farm->farm));
  return kDone;
}

std::string failures_text(const farm::Presence& p) {
  std::string out;
  for (const auto& [kind, count] : p.failures) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, kind);
  return out.empty() ? "-" : out;
}

std::string phase_text(const farm::Presence& p) { return p.reason.empty() ? p.phase : p.phase + ": " + p.reason; }

Json devices_json(const farm::Survey& s) {
  Json list = Json::array();
  for (const farm::Presence& p : s.devices) list.push_back(farm::to_json(p));
  return list;
}

int devices(const FarmArguments& o) {
  const auto farm = farm::read_farm(o.farm);
  const auto s = farm ? farm::survey(*farm) : Expected<farm::Survey>(farm.error());
  if (!s) return fail(s.error());
  if (o.json) {
    print_json({{"farm", farm->farm}, {"devices", devices_json(*s)}});
    return kDone;
  }
  Table table({"device", "kind", "state", ">measured", "failures", ">to send", ">arithmetic", ">memory", ">heat", ">clock", ">free disk", "target"});
  for (const farm::Presence& p : s->devices)
    table.row({p.device, p.kind + (p.emulated ? " (emulated)" : ""), phase_text(p), std::to_string(p.measured), failures_text(p), std::to_string(p.spooled),
               p.references.flop_per_s > 0 ? si_text(p.references.flop_per_s, "FLOP/s") : "-", p.references.bytes_per_s > 0 ? si_text(p.references.bytes_per_s, "B/s") : "-",
               p.temperature_c > 0 ? fmt::format("{:.0f} C", p.temperature_c) : "-", p.clock_hz > 0 ? si_text(p.clock_hz, "Hz") : "-",
               si_text(static_cast<double>(p.free_bytes), "B"), p.target});
  put(table.text());
  if (s->devices.empty()) note(fmt::format("No device of the farm '{}' answers; `tw farm line` prints what one needs", farm->farm));
  return kDone;
}

int status(const FarmArguments& o) {
  const auto farm = farm::read_farm(o.farm);
  const auto s = farm ? farm::survey(*farm) : Expected<farm::Survey>(farm.error());
  if (!s) return fail(s.error());
  if (o.json) {
    Json queues = Json::array();
    for (const farm::QueueState& q : s->queues)
      queues.push_back({{"kind", q.kind}, {"queue", q.queue}, {"waiting", q.length.waiting}, {"handed_out", q.length.handed_out}, {"handed_out_again", q.length.handed_out_again}});
    Json out = farm_json(*farm);
    out["devices"] = devices_json(*s), out["queues"] = queues, out["results_waiting"] = s->results;
    print_json(out);
    return kDone;
  }
  print("The farm '{}' listens at {}; its folder is '{}'\n", farm->farm, place_text(*farm), printable(farm->folder));
  for (const farm::FarmFile::Kind& k : farm->kinds) {
    const auto of_kind = [&](const farm::Presence& p) { return p.kind == k.name; };
    const auto measuring = [&](const farm::Presence& p) { return p.kind == k.name && p.phase == "measuring"; };
    print("{}: {} devices answer, {} of them measure\n", k.name, std::count_if(s->devices.begin(), s->devices.end(), of_kind),
          std::count_if(s->devices.begin(), s->devices.end(), measuring));
  }
  Table table({"kind", "queue", ">waiting", ">handed out", ">again"});
  for (const farm::QueueState& q : s->queues)
    table.row({q.kind, q.queue, std::to_string(q.length.waiting), std::to_string(q.length.handed_out), std::to_string(q.length.handed_out_again)});
  if (!s->queues.empty()) put("\n" + table.text());
  print("\n{} results wait for their sessions\n", s->results);
  return kDone;
}

int line(const FarmArguments& o) {
  const auto farm = farm::read_farm(o.farm);
  if (!farm) return fail(farm.error());
  const auto known = farm->agent(o.kind);
  if (known) return print_line(*farm, o.kind, o.json);
  return up(o);  // a new kind, which the server has to know of
}

/// Tells the device the command.
int tell(const FarmArguments& o) {
  const auto farm = farm::read_farm(o.farm);
  if (!farm) return fail(farm.error());
  const auto p = farm::command_device(*farm, o.device, o.command, o.reason);
  if (!p) return fail(p.error());
  if (o.json)
    print_json(farm::to_json(*p));
  else
    print("{}: {}\n", p->device, phase_text(*p));
  return kDone;
}

int logs(const FarmArguments& o) {
  const auto farm = farm::read_farm(o.farm);
  if (!farm) return fail(farm.error());
  std::vector<std::string> all;
  if (o.device.empty()) {
    const auto text = read_file(farm::server_log(*farm));
    if (!text) return fail(text.error());
    for (const std::string_view l : split_lines(*text)) all.emplace_back(l);
  } else {
    const auto answer = farm::tell_device(*farm, o.device, Json{{"command", "log"}});
    if (!answer) return fail(answer.error());
    if (answer->contains("log") && (*answer)["log"].is_array())
      for (const Json& l : (*answer)["log"])
        if (l.is_string()) all.push_back(l.get<std::string>());
  }
  const auto most = static_cast<size_t>(o.lines);
  if (all.size() > most) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
  if (o.json) {
    print_json({{"lines", all}});
    return kDone;
  }
  for (const std::string& l : all) print("{}\n", printable(l));
  return kDone;
}

Subcommand add_one(Subcommand& app, Run& run, const char* name, const char* help, const std::shared_ptr<FarmArguments>& o, int (*work)(const FarmArguments&)) {
  Subcommand sub = app.command(run, name, help, o, work);
  sub.option("--farm", o->farm, "Name of the farm").show_default();
  sub.flag("--json", o->json, "One JSON document on standard output");
  return sub;
}

}  // namespace

void add_farm(Subcommand app, Run& run) {
  Subcommand farm = app.group("farm", "Devices that measure for sessions: `tw tune --device farm:KIND`");
  const auto made = [] { return std::make_shared<FarmArguments>(); };
  auto u = made();
  Subcommand begin = add_one(farm, run, "up", "Starts the farm's server, making the farm if there is none, and prints the line that an agent needs", u, up);
  begin.option("--kind", u->kind, "Kind of devices that the line is for, which is what sessions ask for; devices of a kind are alike").show_default();
  begin.option("--listen", u->listening.address, "IP address of this machine that devices reach it by; if absent, where the farm has listened so far, and a new one at this machine's loopback address. "
                                                 "Connections to any other address are encrypted");
  begin.flag("--tls", u->listening.encrypted, "Encrypted connections to the loopback address, too");
  begin.option("--port", u->listening.port, "Port of a new farm; 0: a free one").range(0, 65535).show_default();
  add_one(farm, run, "down", "Stops the farm's server; what it stores stays", made(), down);
  auto l = made();
  add_one(farm, run, "line", "Prints the line that an agent of a kind needs, adding the kind if it is new", l, line)
      .option("--kind", l->kind, "Kind of devices")
      .show_default();
  add_one(farm, run, "status", "Says which queues are how long, and how many devices measure", made(), status);
  add_one(farm, run, "devices", "Lists the devices that answer: what they do, failures by kind, speed, heat", made(), devices);
  for (const farm::DeviceCommand& c : farm::device_commands()) {
    auto o = made();
    o->command = c.name;
    Subcommand sub = add_one(farm, run, c.name, c.help, o, tell);
    sub.option("device", o->device, "Name of the device").required();
    if (o->command == "quarantine") sub.option("--reason", o->reason, "Why; shown by `tw farm devices`");
  }
  auto g = made();
  Subcommand log = add_one(farm, run, "logs", "Prints what a device, or without one the farm's server, said last", g, logs);
  log.option("device", g->device, "Name of the device");
  log.option("--lines", g->lines, "So many").range(1, 100000).show_default();
}

}  // namespace tw::cli
