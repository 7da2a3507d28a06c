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
#include "engine/farm/certificate.h"
#include "engine/farm/messages.h"
#include "engine/farm/names.h"

extern char** environ;

namespace tw::farm {

namespace fs = std::filesystem;

namespace {

constexpr double kStartSeconds = 10;
constexpr const char* kProgram = "nats-server";
constexpr const char* kCertificateFile = "server.pem";  ///< its key, too

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

/// An IP address with a port, as the system has it.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;  ///< 0: the text was no address
  in6_addr number{};   ///< of IPv4 as "::ffff:1.2.3.4"
};
SocketAddress parse_address(const std::string& text) {
  SocketAddress a;
  auto& v4 = reinterpret_cast<sockaddr_in&>(a.bytes);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(a.bytes);
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET, a.size = sizeof v4;
    ::inet_pton(AF_INET6, ("::ffff:" + text).c_str(), &a.number);
  } else if (::inet_pton(AF_INET6, text.c_str(), &a.number) == 1) {
    v6.sin6_family = AF_INET6, v6.sin6_addr = a.number, a.size = sizeof v6;
  }
  return a;
}

/// A port of an address that nobody listens at. Errors: invalid_argument if the address is none of this machine's.
Expected<int> free_port(const std::string& address) {
  SocketAddress a = parse_address(address);
  const bool is_any = IN6_IS_ADDR_UNSPECIFIED(&a.number) || (IN6_IS_ADDR_V4MAPPED(&a.number) && a.number.s6_addr32[3] == 0);
  if (a.size == 0 || is_any)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected the IP address of this machine that devices reach it by, found '{}'", printable(address)));
  const int fd = ::socket(a.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error("Opening a socket", address);
  const bool good = ::bind(fd, reinterpret_cast<sockaddr*>(&a.bytes), a.size) == 0 && ::getsockname(fd, reinterpret_cast<sockaddr*>(&a.bytes), &a.size) == 0;
  const int error = errno;
  ::close(fd);
  if (!good) return Error(ErrorCode::invalid_argument, fmt::format("Expected an IP address of this machine, found '{}': {}", printable(address), std::strerror(error)));
  return static_cast<int>(ntohs(a.bytes.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(a.bytes).sin_port : reinterpret_cast<sockaddr_in6&>(a.bytes).sin6_port));
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

bool is_loopback(const std::string& address) {
  const SocketAddress a = parse_address(address);
  return a.size != 0 && (IN6_IS_ADDR_LOOPBACK(&a.number) || (IN6_IS_ADDR_V4MAPPED(&a.number) && a.number.s6_addr[12] == 127));
}

std::string server_log(const FarmFile& farm) { return in_folder(farm, "server.log"); }

std::string server_configuration(const FarmFile& farm) {
  const Names names(farm.farm);
  std::string out = "# A Tilewright farm; written by `tw farm up`.\n";
  const std::string address = farm.address.find(':') == std::string::npos ? farm.address : "[" + farm.address + "]";
  out += fmt::format("listen: {}\n", quoted(fmt::format("{}:{}", address, farm.port)));
  // Its own limit for the handshake is short for slow boards behind slow lines.
  if (!farm.fingerprint.empty()) out += fmt::format("tls {{ cert_file: {0}, key_file: {0}, timeout: 10 }}\n", quoted(in_folder(farm, kCertificateFile)));
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

Expected<FarmFile> farm_up(const std::string& name, const std::string& kind, const Listening& listening) {
  TW_CHECK(check_name(kind, "a kind of devices"));
  auto known = read_farm(name);
  if (!known && known.error().code != ErrorCode::not_found) return known.error();
  TW_CHECK(find_nats_server());
  FarmFile farm = known ? *known : FarmFile{};
  if (!listening.address.empty()) farm.address = listening.address;
  if (!known || farm.address != known->address) {
    TW_TRY(const int port, free_port(farm.address));
    if (!known) {
      farm.farm = name;
      TW_TRY(farm.folder, farm_folder(name));
      farm.session_password = random_hex(32);
      farm.port = listening.port != 0 ? listening.port : port;
    }
  }
  const bool stays_encrypted = listening.address.empty() && !farm.fingerprint.empty();
  const bool encrypted = !is_loopback(farm.address) || listening.encrypted || stays_encrypted;
  const pid_t running = server_pid(farm);
  if (running != 0 && known && (farm.address != known->address || encrypted == known->fingerprint.empty()))
    return Error(ErrorCode::invalid_argument, fmt::format("The server of the farm '{}' runs and listens at {}:{}; `tw farm down` stops it, then it can listen in another way", name, known->address, known->port));
  TW_CHECK(make_farm_folder(farm));
  farm.fingerprint.clear();
  if (encrypted) {
    TW_TRY(farm.fingerprint, ensure_certificate(in_folder(farm, kCertificateFile), name));
  }
  bool changed = !known || farm.address != known->address || farm.fingerprint != known->fingerprint;
  if (std::none_of(farm.kinds.begin(), farm.kinds.end(), [&](const auto& k) { return k.name == kind; })) {
    farm.kinds.push_back({kind, random_hex(32)});
    changed = true;
  }
  if (changed) TW_CHECK(write_farm(farm));
  const mode_t before = ::umask(0077);
  const auto written = write_file(in_folder(farm, "server.conf"), kConfiguration, server_configuration(farm));
  ::umask(before);
  TW_CHECK(written);
  if (running != 0 && changed && ::kill(running, SIGHUP) != 0) return system_error("Telling the farm's server to read its configuration", farm.folder);
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
