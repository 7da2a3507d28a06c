// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/messages.h"
#include "engine/farm/names.h"

extern char** environ;

namespace tw::farm {

namespace fs = std::filesystem;

namespace {

constexpr double kStartSeconds = 10;
constexpr const char* kProgram = "nats-server";

bool is_configuration(std::string_view beginning) { return beginning.starts_with("# A Tilewright farm"); }
constexpr FileKind kConfiguration{"a farm's configuration", &is_configuration};

std::string in_folder(const FarmFile& farm, const char* name) { return (fs::path(farm.folder) / name).string(); }

/// A text as the configuration writes it; names and numbers of ours need no more.
std::string quoted(const std::string& text) { return Json(text).dump(); }

std::string user_entry(const std::string& user, const std::string& password, const std::vector<std::string>& publish, const std::vector<std::string>& subscribe,
                       bool answers) {
  const auto list = [](const std::vector<std::string>& subjects) {
    std::string out;
    for (const std::string& s : subjects) out += (out.empty() ? "" : ", ") + quoted(s);
    return "[" + out + "]";
  };
  return fmt::format("    {{ user: {}, password: {}, permissions: {{ publish: {{ allow: {} }}, subscribe: {{ allow: {} }}{} }} }}\n", quoted(user), quoted(password),
                     list(publish), list(subscribe), answers ? ", allow_responses: true" : "");
}

Expected<int> free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error("Opening a socket", "loopback");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool good = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(fd);
  if (!good) return system_error("Looking for a free port", "loopback");
  return static_cast<int>(ntohs(address.sin_port));
}

/// The server's process, if it is one of ours that runs.
pid_t server_pid(const FarmFile& farm) {
  const auto text = read_file(in_folder(farm, "server.pid"));
  pid_t pid = 0;
  if (!text) return 0;
  const std::string_view number = trim(*text);
  std::from_chars(number.data(), number.data() + number.size(), pid);
  if (pid <= 1) return 0;
  std::error_code error;
  const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", pid), error);
  const auto arguments = read_file(fmt::format("/proc/{}/cmdline", pid));
  const bool ours = !error && program.filename() == kProgram && arguments && arguments->find(in_folder(farm, "server.conf")) != std::string::npos;
  return ours ? pid : 0;
}

/// `reads_anew`: it is about to read its configuration, and may not know who asks yet.
Expected<void> answers(const Access& access, double limit_s, bool reads_anew = false) {
  const auto until = std::chrono::steady_clock::now() + process::in_seconds(limit_s);
  for (;;) {
    const auto client = NatsClient::connect(access.endpoint("tw"), limit_s);
    if (client) return {};
    if (std::chrono::steady_clock::now() >= until || (client.error().code == ErrorCode::invalid_argument && !reads_anew)) return client.error();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
}

Expected<void> start_server(const FarmFile& farm) {
  TW_TRY(std::string program, find_nats_server());
  std::string option = "-c", file = in_folder(farm, "server.conf");
  const std::string log = server_log(farm);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  char* arguments[] = {program.data(), option.data(), file.data(), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return Error(ErrorCode::infrastructure, fmt::format("Expected to start {}: {}", kProgram, std::strerror(failed)), program);
  const auto up = answers(farm.session(), kStartSeconds);
  if (up) return up;
  int status = 0;
  ::waitpid(pid, &status, WNOHANG);
  return Error(ErrorCode::infrastructure, fmt::format("Expected the farm's server to come up, and it did not: {}", up.error().text())).note(fmt::format("its log is '{}'", printable(log)));
}

}  // namespace

std::string server_log(const FarmFile& farm) { return in_folder(farm, "server.log"); }

std::string server_configuration(const FarmFile& farm) {
  const Names names(farm.farm);
  std::string out = "# A Tilewright farm; written by `tw farm up`.\n";
  out += fmt::format("listen: {}\n", quoted(fmt::format("{}:{}", farm.address, farm.port)));
  out += fmt::format("server_name: {}\npid_file: {}\n", quoted("tilewright-" + farm.farm), quoted(in_folder(farm, "server.pid")));
  out += fmt::format("max_payload: {}\n", kMostResultBytes + kPieceBytes);
  out += fmt::format("jetstream {{ store_dir: {}, max_file_store: {} }}\n", quoted(in_folder(farm, "stored")), int64_t{16} << 30);
  out += "authorization {\n  timeout: 5\n  users: [\n";
  out += user_entry("session", farm.session_password, {"tw." + farm.farm + ".>", "$JS.API.>", "$JS.ACK.>"}, {"tw." + farm.farm + ".>", "_IN.>"}, false);
  for (const FarmFile::Kind& k : farm.kinds) {
    const std::string jobs = names.jobs_stream(k.name);
    out += user_entry("agent-" + k.name, k.password,
                      {"$JS.API.CONSUMER.MSG.NEXT." + jobs + ".*", "$JS.ACK." + jobs + ".>",
                       fmt::format("$JS.API.DIRECT.GET.{}.{}", names.artefacts_stream(), names.artefact("*", "*")), names.result(k.name, "*"),
                       names.presence(k.name, "*"), names.wake(k.name)},
                      {"_IN." + k.name + ".>", names.control(k.name, "*"), names.ping(k.name), names.wake(k.name)}, true);
  }
  return out + "  ]\n}\n";
}

Expected<std::string> find_nats_server() {
  std::vector<fs::path> folders;
  std::string_view path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    if (end > 0) folders.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  folders.emplace_back("/usr/sbin");  // where Debian has it, and no user's PATH leads
  for (const fs::path& folder : folders)
    if (::access((folder / kProgram).c_str(), X_OK) == 0) return (folder / kProgram).string();
  return Error(ErrorCode::not_found, "Expected the program nats-server, the queue between sessions and devices, found none; Debian's package is nats-server");
}

Expected<FarmFile> farm_up(const std::string& name, const std::string& kind, int port) {
  TW_CHECK(check_name(kind, "a kind of devices"));
  auto known = read_farm(name);
  if (!known && known.error().code != ErrorCode::not_found) return known.error();
  TW_CHECK(find_nats_server());
  FarmFile farm = known ? std::move(*known) : FarmFile{};
  bool changed = !known;
  if (!known) {
    farm.farm = name;
    TW_TRY(farm.folder, farm_folder(name));
    farm.session_password = random_hex(32);
    TW_TRY(farm.port, port != 0 ? Expected<int>(port) : free_port());
  }
  if (std::none_of(farm.kinds.begin(), farm.kinds.end(), [&](const auto& k) { return k.name == kind; })) {
    farm.kinds.push_back({kind, random_hex(32)});
    changed = true;
  }
  if (changed) TW_CHECK(write_farm(farm));
  const mode_t before = ::umask(0077);
  const auto written = write_file(in_folder(farm, "server.conf"), kConfiguration, server_configuration(farm));
  ::umask(before);
  TW_CHECK(written);
  const pid_t running = server_pid(farm);
  if (running != 0 && changed && ::kill(running, SIGHUP) != 0) return system_error("Telling the farm's server of a new kind", farm.folder);
  if (running != 0) {
    TW_TRY(const Access agent, farm.agent(kind));
    TW_CHECK(answers(changed ? agent : farm.session(), kStartSeconds, changed));
  } else {
    TW_CHECK(start_server(farm));
  }
  return farm;
}

Expected<void> farm_down(const FarmFile& farm) {
  const pid_t pid = server_pid(farm);
  if (pid == 0) return Error(ErrorCode::not_found, fmt::format("Expected the server of the farm '{}' to run, found none", farm.farm));
  if (::kill(pid, SIGTERM) != 0) return system_error("Stopping the farm's server", farm.folder);
  for (int i = 0; i < 500 && server_pid(farm) == pid; ++i) {
    ::waitpid(pid, nullptr, WNOHANG);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

}  // namespace tw::farm
