// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <torch/version.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <new>
#include <thread>

#include "engine/learner/program/script.h"
#include "engine/learner/program/training.h"
#include "engine/process/child_process.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"
#include "engine/process/read_only.h"
#include "engine/process/subprocess.h"

/// The child process of `tw` and the workbench that holds the neural networks, or reads a TorchScript file. It talks on descriptor 3, knows what it is told, and is of no use when started by hand.
namespace tw::learner {
namespace {

using process::kChannelFd;

std::span<const std::byte> raw(std::span<const float> values) { return std::as_bytes(values); }

Expected<const Network*> network_of(const Json& header) {
  TW_TRY(const std::string name, text_of(header, "network"));
  const Network* found = find_network(name);
  if (found == nullptr) return Error(ErrorCode::not_found, fmt::format("Expected a known network, found '{}'", name));
  return found;
}

/// Whether the other end asks to stop, or is gone. What comes while a fit runs is a cancel; anything else breaks the protocol.
bool is_cancelled() {
  pollfd channel{kChannelFd, POLLIN, 0};
  return ::poll(&channel, 1, 0) > 0;
}

class Session {
 public:
  /// `reads_scripts`: a stranger's code runs here, which must not see anybody's models.
  explicit Session(bool reads_scripts) : reads_scripts_(reads_scripts) {}

  Expected<void> answer(const process::Frame& question) {
    TW_TRY(const std::string op, text_of(question.header, "op"));
    if (reads_scripts_ != (op == "script")) return Error(ErrorCode::unsupported, fmt::format("Expected a question that this learner was started for, found '{}'", op));
    if (op == "script") return answer_script(question);
    if (op == "cancel") return {};  // of a fit that was over
    if (op == "fit") return fit(question);
    if (op == "load") return load(question);
    if (op == "predict") return predict(question);
    if (op == "drop") {
      TW_TRY(const std::string name, text_of(question.header, "name"));
      models_.erase(name);
      return process::write_frame(kChannelFd, Json{{"dropped", name}});
    }
    return Error(ErrorCode::unsupported, fmt::format("Expected a question that the learner knows, found '{}'", op));
  }

 private:
  Expected<void> fit(const process::Frame& f) {
    TW_TRY(const Network* network, network_of(f.header));
    TW_TRY(const FitOptions options, fit_options(f.header.value("options", Json::object())));
    TW_TRY(const size_t given, count_of(f.header, "weights"));
    TW_TRY(const size_t count, count_of(f.header, "candidates"));
    if (given != 0 && given != network->elements())
      return Error(ErrorCode::version, fmt::format("Expected {} numbers for the network '{}', found {}", network->elements(), network->name, given));
    if (count == 0) return Error(ErrorCode::invalid_argument, "Expected candidates to learn from, found none");
    ArrayReader arrays(f.payload);
    TrainingData data;
    TW_TRY(std::vector<float> values, arrays.take<float>(given));
    TW_TRY(data.labels, arrays.take<float>(count));
    TW_TRY(data.tasks, arrays.take<uint32_t>(count));
    TW_TRY(data.candidates, take_candidates(f.header, arrays, *network));
    if (given == 0) values = network->initial(options.seed);
    use_threads(options.threads);
    Weights weights(*network, values, true);
    auto said = std::chrono::steady_clock::now();
    const std::vector<double> losses = train(weights, data, options, [&](int epoch, std::optional<double> loss) {
      const auto now = std::chrono::steady_clock::now();
      const bool quiet = now - said > std::chrono::seconds(1);
      Expected<void> sent;
      if (loss || quiet) {
        sent = process::write_frame(kChannelFd, loss ? Json{{"epoch", epoch + 1}, {"of", options.epochs}, {"loss", *loss}} : Json{{"alive", true}});
        said = now;
      }
      return sent.has_value() && !is_cancelled();
    });
    return process::write_frame(kChannelFd, Json{{"losses", losses}}, raw(weights.values()));
  }

  Expected<void> load(const process::Frame& f) {
    TW_TRY(const std::string name, text_of(f.header, "name"));
    TW_TRY(const Network* network, network_of(f.header));
    ArrayReader arrays(f.payload);
    TW_TRY(const std::vector<float> values, arrays.take<float>(network->elements()));
    models_.erase(name);
    models_.emplace(name, Weights(*network, values, false));
    return process::write_frame(kChannelFd, Json{{"loaded", name}});
  }

  Expected<void> predict(const process::Frame& f) {
    TW_TRY(const std::string name, text_of(f.header, "name"));
    TW_TRY(const size_t threads, count_of(f.header, "threads"));
    const auto found = models_.find(name);
    if (found == models_.end()) return Error(ErrorCode::not_found, fmt::format("Expected a model that was loaded, found '{}'", name));
    ArrayReader arrays(f.payload);
    TW_TRY(const Candidates candidates, take_candidates(f.header, arrays, found->second.network()));
    use_threads(static_cast<int>(std::clamp<size_t>(threads, 1, 1024)));
    const bool own = f.header.value("batch_statistics", false);
    return process::write_frame(kChannelFd, Json{{"scores", candidates.count()}}, raw(scores(found->second, candidates, own ? Norm::batch : Norm::kept)));
  }

  bool reads_scripts_;
  std::map<std::string, Weights> models_;
};

/// Reads a question and answers it; false: there are no more.
Expected<bool> serve_one(Session& session) {
  try {
    const auto question = process::read_frame(kChannelFd);
    if (!question || !*question) return false;
    TW_CHECK(session.answer(**question));
    return true;
  } catch (const c10::Error& e) {
    const std::string text = e.what_without_backtrace();
    if (text.find("can't allocate memory") != std::string::npos) throw std::bad_alloc();
    return Error(ErrorCode::internal, "libtorch: " + text);
  }
}

/// Code that runs for ever asks nobody whether anyone still waits.
void end_with_peer() {
  std::thread([] {
    pollfd channel{kChannelFd, POLLRDHUP, 0};
    while (::poll(&channel, 1, -1) < 0) {
    }
    _exit(0);
  }).detach();
}

int serve(bool reads_scripts) {
  Session session(reads_scripts);
  try {
    for (;;) {
      const auto more = serve_one(session);
      if (more && !*more) return 0;
      if (!more && !process::write_frame(kChannelFd, error_to_json(more.error()))) return 0;
    }
  } catch (const std::bad_alloc&) {
    return process::kExitOutOfMemory;
  }
}

}  // namespace
}  // namespace tw::learner

int main(int argc, char** argv) {
  constexpr int kUsage = 2;
  int64_t memory_bytes = 0;
  const bool reads_scripts = argc == 4 && std::string_view(argv[3]) == "--scripts";
  if ((argc == 3 || reads_scripts) && std::string_view(argv[1]) == "--memory-bytes") {
    const std::string_view value = argv[2];
    std::from_chars(value.data(), value.data() + value.size(), memory_bytes);
  }
  if (memory_bytes <= 0 || fcntl(tw::process::kChannelFd, F_GETFD) < 0) {
    std::fprintf(stderr, "tw-learner is started by tilewright and tw: tw-learner --memory-bytes N [--scripts], with a channel on descriptor 3\n");
    return kUsage;
  }
  fcntl(tw::process::kChannelFd, F_SETFD, FD_CLOEXEC);
  tw::process::limit_this_process({.memory_bytes = memory_bytes, .no_growing_files = reads_scripts});
  if (reads_scripts) {
    tw::process::become_read_only();
    tw::learner::end_with_peer();
  }
  tw::Json hello = tw::process::hello(tw::learner::kRole, tw::learner::kProtocolVersion);
  hello["torch"] = TORCH_VERSION;
  if (!tw::process::write_frame(tw::process::kChannelFd, hello)) return 0;
  return tw::learner::serve(reads_scripts);
}
