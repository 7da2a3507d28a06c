// SPDX-License-Identifier: Apache-2.0
// A farm under faults: simulated devices in processes of their own, which are killed, cut off and given full disks and other clocks, a server that is killed
// and loses everything, results that come twice, a session that is killed. Counts what became of every trial, and says whose processors' time it took. Usage:
// farm_bench [--trials N] [--agents N] [--no-faults] [--delay MILLISECONDS] [--loss PERCENT] [--same-code] [--tls]
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/farm/jetstream.h"
#include "engine/farm/spool.h"
#include "engine/process/find_program.h"
#include "engine/process/wake.h"
#include "tests/engine/farm/relay.h"
#include "tests/engine/farm/sim_farm.h"

using namespace tw;
using namespace tw::test;
namespace fs = std::filesystem;

namespace {

constexpr int kThreads = 10;         ///< devices in a process
constexpr double kWorkSeconds = 0.05;  ///< of a trial, before its own factor
constexpr int64_t kFlight = 4000;    ///< trials waited for at a time
constexpr double kPartitionSeconds = 60;
constexpr size_t kSmallDisk = 64 << 10;

double wall_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

/// Work whose beginning and end are lines of a file, written at once.
class LoggedBench final : public farm::Bench {
 public:
  LoggedBench(std::string device, const std::string& log, size_t payload) : device_(std::move(device)), payload_(payload), log_(std::fopen(log.c_str(), "ae")) { std::setvbuf(log_, nullptr, _IOLBF, 1 << 16); }
  ~LoggedBench() override { std::fclose(log_); }
  Expected<process::Frame> measure(const Json& job, const std::vector<std::byte>& object, StopToken stop) override {
    const std::string trial = job["trial"].get<std::string>();
    std::fprintf(log_, "%s", fmt::format("+ {} {} {:.6f}\n", trial, device_, wall_s()).c_str());
    const process::StopFd stop_fd(stop);
    std::vector<pollfd> fds{{stop_fd.fd(), POLLIN, 0}};
    process::poll_until(fds, std::chrono::steady_clock::now() + process::in_seconds(kWorkSeconds * job["factor"].get<double>()));
    std::fprintf(log_, "%s", fmt::format("- {} {} {:.6f}\n", trial, device_, wall_s()).c_str());
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "stopped");
    return process::Frame{Json{{"status", "ok"}, {"value", answer_of(job["seed"].get<int64_t>())}, {"bytes", object.size()}}, std::vector<std::byte>(payload_)};
  }
  Expected<measure::References> references(StopToken) override { return measure::References{1e9, 1e9}; }

 private:
  std::string device_;
  size_t payload_;
  std::FILE* log_;
};

/// Devices until this process is killed: farm_bench agents LINE FOLDER FIRST BYTES, where results have so many bytes
int agents_main(const std::string& line, const std::string& folder, int first, size_t payload) {
  signal(SIGXFSZ, SIG_IGN);
  const farm::Access access = farm::access_from_line(line).value();
  std::vector<std::unique_ptr<LoggedBench>> benches;
  std::vector<std::unique_ptr<farm::Agent>> agents;
  std::vector<std::thread> threads;
  for (int i = first; i < first + kThreads; ++i) {
    const std::string name = fmt::format("d{}", i);
    benches.push_back(std::make_unique<LoggedBench>(name, folder + "/log." + name, payload));
    farm::AgentOptions options;
    options.access = access;
    options.device = name;
    options.folder = folder + "/" + name;
    agents.push_back(std::move(farm::Agent::create(std::move(options), *benches.back()).value()));
    threads.emplace_back([agent = agents.back().get()] { static_cast<void>(agent->run({})); });
  }
  for (std::thread& t : threads) t.join();
  return 0;
}

/// A relay in a process of its own, which writes its port to a file: farm_bench proxy FILE TO MILLISECONDS PERCENT. Stopped, it is a network that lost its
/// cable.
int proxy_main(const std::string& file, int to, const Line& line) {
  signal(SIGPIPE, SIG_IGN);
  const Relay relay(to, line);
  write_file(file, kAnyOutput, std::to_string(relay.port())).value();
  for (;;) ::pause();
}

/// This program once more.
pid_t start(const std::vector<std::string>& arguments, const std::vector<std::string>& before = {}, bool full_disk = false) {
  std::vector<std::string> all = before;
  all.push_back(process::own_path().value());
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& a : all) pointers.push_back(a.data());
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  if (full_disk) {
    const rlimit small{kSmallDisk, kSmallDisk};  // room for the logs, but for no result
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ::execvp(pointers[0], pointers.data());
  _exit(127);
}

/// Sends every tenth result once more, a second late and under another identity.
void duplicate(const farm::FarmFile& file, StopToken stop, std::atomic<int64_t>& sent) {
  const farm::Names names(file.farm);
  std::deque<std::pair<double, farm::Message>> late;
  std::unique_ptr<farm::NatsClient> client;
  Rng rng(3);
  while (!stop.stop_requested()) {
    if (!client) {
      auto made = farm::NatsClient::connect(file.session().endpoint("twice"), 2);
      if (!made || !(*made)->subscribe(names.result("*", "*"))) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        continue;
      }
      client = std::move(*made);
    }
    const auto m = client->next(std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
    if (!m) {
      client.reset();
      continue;
    }
    if (*m && !(*m)->reply.empty() && rng.uniform(10) == 0) late.emplace_back(Tenures::now_s() + 1, **m);
    while (!late.empty() && late.front().first < Tenures::now_s()) {
      if (!client->publish(late.front().second.subject, late.front().second.payload)) break;
      ++sent;
      late.pop_front();
    }
  }
}

struct Span {
  double from = 0, to = 0;
};

/// Pairs of tenures of one trial that overlap; those that a killed process left open end with it.
int64_t overlaps(const fs::path& folder, const std::map<std::string, std::vector<double>>& killed) {
  std::map<std::string, std::vector<Span>> spans;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (!file.path().filename().string().starts_with("log.")) continue;
    std::ifstream in(file.path());
    std::map<std::string, double> open;
    std::string sign, trial, device;
    double at = 0;
    const auto close_before = [&](double now) {
      const auto deaths = killed.find(device);
      for (auto o = open.begin(); o != open.end();) {
        double end = 0;
        if (deaths != killed.end())
          for (const double d : deaths->second)
            if (d >= o->second && d <= now && (end == 0 || d < end)) end = d;
        if (end == 0) {
          ++o;
          continue;
        }
        spans[o->first].push_back({o->second, end});
        o = open.erase(o);
      }
    };
    while (in >> sign >> trial >> device >> at) {
      close_before(at);
      if (sign == "+") {
        open[trial] = at;
      } else if (open.contains(trial)) {
        spans[trial].push_back({open[trial], at});
        open.erase(trial);
      }
    }
    close_before(1e18);
  }
  int64_t found = 0;
  for (const auto& [trial, list] : spans)
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t j = i + 1; j < list.size(); ++j) found += list[i].from < list[j].to && list[j].from < list[i].to;
  return found;
}

double thread_cpu_s() {
  rusage u{};
  ::getrusage(RUSAGE_THREAD, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/// Seconds that a process and its threads took of processors.
double process_cpu_s(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::istringstream fields(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
  std::string skipped;
  double user = 0, system = 0;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

struct Settings {
  int64_t trials = 10000;
  int agents = 200;
  bool with_faults = true;
  bool encrypted = false;
  bool same_code = false;  ///< of all trials, so that no device fetches any
  Line line;               ///< between the server and all devices, where it is one
};

int faults_main(const Settings& settings) {
  const int64_t trials = settings.trials;
  const int agents = settings.agents;
  const bool with_faults = settings.with_faults, on_line = settings.line.delay_s > 0 || settings.line.loss > 0;
  SimFarm farm("sim", settings.encrypted);
  const std::string folder = farm.folder() + "/devices";
  fs::create_directories(folder);
  std::vector<pid_t> processes;
  std::map<std::string, std::vector<double>> killed;
  const int groups = std::max(1, agents / kThreads);
  const std::string port_file = farm.folder() + "/relay.port";
  const pid_t proxy =
      start({"proxy", port_file, std::to_string(farm.file.port), fmt::format("{}", settings.line.delay_s * 1e3), fmt::format("{}", settings.line.loss * 100)});
  while (!fs::exists(port_file)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const int proxy_port = std::stoi(read_file(port_file).value());
  const auto begin_group = [&](int g) {
    farm::Access access = farm.file.agent("sim").value();
    if (on_line || (with_faults && g % 3 == 1)) access.port = proxy_port;
    std::vector<std::string> before;
    // Clocks an hour ahead, where the system lets processes have their own.
    if (with_faults && g % 5 == 2 && std::system("unshare --time --monotonic 3600 true 2>/dev/null") == 0) before = {"unshare", "--time", "--monotonic", "3600"};
    const bool full_disk = with_faults && g == 3;
    return start({"agents", farm::line_of(access), folder, std::to_string(g * kThreads), full_disk ? std::to_string(2 * kSmallDisk) : "0"}, before, full_disk);
  };
  for (int g = 0; g < groups; ++g) processes.push_back(begin_group(g));
  const auto kill_group = [&](int g) {
    ::kill(processes[static_cast<size_t>(g)], SIGKILL);
    ::waitpid(processes[static_cast<size_t>(g)], nullptr, 0);
    for (int i = 0; i < kThreads; ++i) killed[fmt::format("d{}", g * kThreads + i)].push_back(wall_s());
  };

  auto options = farm.session();
  options.lease_s = farm::kLeaseSeconds;
  options.reconcile_s = 10;
  auto queue = std::make_unique<farm::Queue>(options);
  queue->open().value();
  std::atomic<int64_t> twice{0};
  StopSource stop;
  std::thread duplicator;
  if (with_faults) duplicator = std::thread([&] { duplicate(farm.file, stop.get_token(), twice); });

  const auto code = [&](int64_t i) {
    auto bytes = std::make_shared<std::vector<std::byte>>(20'000, std::byte{9});
    if (!settings.same_code) std::memcpy(bytes->data(), &i, sizeof i);
    return std::shared_ptr<const std::vector<std::byte>>(std::move(bytes));
  };
  Rng rng(1);
  Tally tally;
  int64_t put = 0, late = 0, again = 0, reconnected = 0;
  int event = 0;
  double cut_until = 0;
  double tenth_s = 0, nine_tenths_s = 0;  ///< when so many trials were there: before and after, not every device has work
  const auto job = [&](int64_t i, const std::vector<std::byte>& object) {
    farm::Job j = sim_job("sim", "session", i, object);
    j.measure["factor"] = 0.5 + Rng(static_cast<uint64_t>(i)).uniform_real() * 3;
    return j;
  };
  while (queue->devices().size() < static_cast<size_t>(groups * kThreads * 9 / 10)) static_cast<void>(queue->receive(0.2, {}).value());
  const auto put_one = [&](int64_t i) {
    const auto object = code(i);
    queue->put(job(i, *object), object, "", {}).value();
  };
  const auto devices_cpu_s = [&] {
    double sum = 0;
    for (const pid_t p : processes) sum += process_cpu_s(p);
    return sum;
  };
  const auto server_cpu_s = [&] { return process_cpu_s(std::stoi(read_file(farm.file.folder + "/server.pid").value())); };
  const double from = Tenures::now_s(), cpu = thread_cpu_s(), devices_cpu = devices_cpu_s(), server_cpu = server_cpu_s();
  const auto at = [&](double share) { return with_faults && static_cast<double>(tally.times.size()) >= share * static_cast<double>(trials); };
  const auto close_session = [&] {
    late += queue->counts().late, again += queue->counts().put_again, reconnected += queue->counts().reconnected;
    queue.reset();
  };
  while (static_cast<int64_t>(tally.times.size()) < trials) {
    while (put < trials && put - static_cast<int64_t>(tally.times.size()) < kFlight) put_one(put), ++put;
    tally.take_all(queue->receive(0.5, {}));
    queue->settle().value();
    const auto here = static_cast<int64_t>(tally.times.size());
    if (tenth_s == 0 && 10 * here >= trials) tenth_s = Tenures::now_s();
    if (nine_tenths_s == 0 && 10 * here >= 9 * trials) nine_tenths_s = Tenures::now_s();
    const int before = event;
    const int lost = std::max(1, groups / 20);
    if (event == 0 && at(0.1)) {
      for (int g = 0; g < lost; ++g) kill_group(g);
      ++event;
    } else if (event == 1 && at(0.2)) {
      farm.kill_server(false), ++event;
    } else if (event == 2 && at(0.3)) {
      for (int g = 0; g < lost; ++g) processes[static_cast<size_t>(g)] = begin_group(g);
      ++event;
    } else if (event == 3 && at(0.4)) {
      ::kill(proxy, SIGSTOP);
      cut_until = Tenures::now_s() + kPartitionSeconds, ++event;
    } else if (event == 4 && at(0.5)) {
      farm.kill_server(false), ++event;
    } else if (event == 5 && at(0.6)) {
      // The session is killed before it has stored what it waits for: whoever is there next asks for the same again.
      close_session();
      queue = std::make_unique<farm::Queue>(options);
      queue->open().value();
      for (int64_t i = 0; i < put; ++i)
        if (!tally.times.contains(fmt::format("t{}", i))) put_one(i);
      ++event;
    } else if (event == 6 && at(0.75)) {
      farm.kill_server(true), ++event;
    }
    if (cut_until > 0 && Tenures::now_s() > cut_until) ::kill(proxy, SIGCONT), cut_until = 0;
    if (event != before) std::fprintf(stderr, "%7.1f s: event %d after %zu trials\n", Tenures::now_s() - from, event, tally.times.size());
  }
  const double seconds = Tenures::now_s() - from, share = (thread_cpu_s() - cpu) / seconds;
  const double devices_share = (devices_cpu_s() - devices_cpu) / seconds, server_share = (server_cpu_s() - server_cpu) / seconds,
               relay_share = process_cpu_s(proxy) / seconds;
  if (cut_until > 0) {
    std::this_thread::sleep_for(process::in_seconds(std::max(0.0, cut_until - Tenures::now_s())));
    ::kill(proxy, SIGCONT);
  }
  // What is late comes now, and is dropped.
  for (const double until = Tenures::now_s() + (with_faults ? 10 : 0); Tenures::now_s() < until;) {
    tally.take_all(queue->receive(0.5, {}));
    queue->settle().value();
  }
  close_session();
  stop.request_stop();
  if (duplicator.joinable()) duplicator.join();
  int64_t spooled = 0;
  for (int g = 0; g < groups; ++g) kill_group(g);
  for (int i = 0; i < groups * kThreads; ++i)
    spooled += static_cast<int64_t>(farm::Spool::open(fmt::format("{}/d{}/spool", folder, i)).value().entries().size());
  ::kill(proxy, SIGKILL);
  ::waitpid(proxy, nullptr, 0);
  int64_t doubled = 0;
  for (const auto& [trial, times] : tally.times) doubled += times > 1;
  const int64_t both = overlaps(folder, killed);
  std::printf("%d devices, %lld trials in %.1f s: %.0f a second, %.1f %% of a core in the session\n", groups * kThreads, static_cast<long long>(trials), seconds,
              static_cast<double>(trials) / seconds, 100 * share);
  if (!with_faults)
    std::printf("of a core besides: server %.0f %%, devices %.0f %%, relay %.0f %%\n", 100 * server_share, 100 * devices_share, 100 * relay_share);
  if (nine_tenths_s > tenth_s) std::printf("from the tenth to the nine tenths of them: %.0f a second\n", 0.8 * static_cast<double>(trials) / (nine_tenths_s - tenth_s));
  std::printf("counted once %lld, lost %lld, twice %lld, wrong %d, refused %d\n", static_cast<long long>(tally.times.size()) - static_cast<long long>(doubled),
              static_cast<long long>(trials) - static_cast<long long>(tally.times.size()), static_cast<long long>(doubled), tally.wrong, tally.refused);
  std::printf("leases held twice at a time %lld; results left in spools %lld; late or double results dropped %lld, of them sent twice by the test %lld\n",
              static_cast<long long>(both), static_cast<long long>(spooled), static_cast<long long>(late), static_cast<long long>(twice.load()));
  std::printf("jobs put in again %lld, connections of the session lost and found again %lld\n", static_cast<long long>(again), static_cast<long long>(reconnected));
  return tally.each_once(trials) && tally.wrong == 0 && both == 0 && spooled == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "agents" && argc == 6) return agents_main(argv[2], argv[3], std::atoi(argv[4]), static_cast<size_t>(std::atoll(argv[5])));
  if (role == "proxy" && argc == 6) return proxy_main(argv[2], std::atoi(argv[3]), {std::atof(argv[4]) * 1e-3, std::atof(argv[5]) * 1e-2});
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (name == "--no-faults") {
      settings.with_faults = false;
    } else if (name == "--tls") {
      settings.encrypted = true;
    } else if (name == "--same-code") {
      settings.same_code = true;
    } else if (name == "--trials" && value) {
      settings.trials = std::atoll(argv[++i]);
    } else if (name == "--agents" && value) {
      settings.agents = std::atoi(argv[++i]);
    } else if (name == "--delay" && value) {
      settings.line.delay_s = std::atof(argv[++i]) * 1e-3;
    } else if (name == "--loss" && value) {
      settings.line.loss = std::atof(argv[++i]) * 1e-2;
    } else {
      std::fprintf(stderr, "Usage: farm_bench [--trials N] [--agents N] [--no-faults] [--delay MILLISECONDS] [--loss PERCENT] [--same-code] [--tls]\n");
      return 2;
    }
  }
  return faults_main(settings);
}
