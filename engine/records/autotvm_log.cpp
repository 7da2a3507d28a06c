// SPDX-License-Identifier: Apache-2.0
#include "engine/records/autotvm_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/best.h"
#include "engine/records/log_json.h"
#include "engine/records/log_pieces.h"

namespace tw::records {
namespace {

constexpr std::string_view kGathered = "# tilewright:";

class Reader {
 public:
  /// `records`: about how many lines there are.
  explicit Reader(size_t records = 0) { log_.records.reserve(records); }
  void take(const Line& line) {
    ++log_.lines;
    if (line.too_long) {
      problem(line, "too_long", fmt::format("Expected a line of at most {} MiB, found a longer one", kMaxLineBytes >> 20));
      return;
    }
    const std::string_view text = trim(line.text);
    if (text.empty()) return;
    if (text.starts_with('#')) {
      ++log_.comments;
      return;
    }
    auto whole = parse_autotvm_line(text, json_);
    if (whole) {
      keep(line, *std::move(whole));
      return;
    }
    const std::vector<std::string_view> pieces = split_objects(text);
    if (pieces.size() == 1) {
      if (!line.ended && text.starts_with('{') && !parse_json(text)) {
        problem(line, "cut_off", "Expected a whole line at the end of the file, found one that is cut off");
      } else {
        problem(line, kind_of(text, whole.error()), whole.error().message);
      }
      return;
    }
    for (const std::string_view piece : pieces) {
      if (auto record = parse_autotvm_line(piece, json_)) {
        keep(line, *std::move(record));
      } else {
        problem(line, kind_of(piece, record.error()), record.error().message);
      }
    }
  }
  AutotvmLog finish() && { return std::move(log_); }

 private:
  static const char* kind_of(std::string_view text, const Error& error) {
    if (error.code == ErrorCode::version) return "protocol";
    if (error.code == ErrorCode::unsupported) return text.starts_with('{') ? "other_format" : "pickled";
    return parse_json(text) ? "malformed" : "not_json";
  }
  void keep(const Line& line, AutotvmRecord record) {
    record.line = line.number;
    log_.records.push_back(std::move(record));
  }
  void problem(const Line& line, const char* kind, std::string reason) { log_.problems.push_back({line.number, line.offset, kind, std::move(reason)}); }

  AutotvmLog log_;
  LogJson json_;
};

class LogSink : public RecordSink {
 public:
  LogSink(LineAppender appender, bool simulated) : appender_(std::move(appender)), simulated_(simulated) {}

  Expected<void> store(const Task& task, const std::vector<Record>& records) override {
    if (simulated_ && announced_.insert(task.key).second) {
      const std::string comment = simulated_comment(task);
      TW_CHECK(appender_.append(comment.substr(0, comment.size() - 1)));
    }
    for (const Record& record : records) TW_CHECK(appender_.append(autotvm_line(to_autotvm(task, record))));
    return appender_.sync();
  }

  /// A line has no place for finals, but a log may name a point twice: the winner comes again with its better time if another trial was faster before.
  Expected<void> settle(const Task& task, const std::vector<Record>& finalists) override {
    const Record* winner = best_of(finalists, task.key);
    if (winner == nullptr || winner->result.decided_s() >= winner->result.seconds()) return {};
    Record again = *winner;
    again.result.samples_s = {again.result.decided_s()};
    again.result.sample_flags = {false};
    TW_CHECK(appender_.append(autotvm_line(to_autotvm(task, again))));
    return appender_.sync();
  }

 private:
  LineAppender appender_;
  const bool simulated_;
  std::set<std::string> announced_;  ///< tasks whose times are simulated and said to be
};

class TeeSink : public RecordSink {
 public:
  TeeSink(RecordSink& first, RecordSink& second) : first_(first), second_(second) {}

  Expected<void> store(const Task& task, const std::vector<Record>& records) override {
    TW_CHECK(first_.store(task, records));
    return second_.store(task, records);
  }
  Expected<void> store(const Task& task, const std::vector<Record>& records, const Round& round) override {
    TW_CHECK(first_.store(task, records, round));
    return second_.store(task, records, round);
  }
  Expected<void> note(const std::string& kind, const std::string& text) override {
    TW_CHECK(first_.note(kind, text));
    return second_.note(kind, text);
  }
  Expected<void> settle(const Task& task, const std::vector<Record>& finalists) override {
    TW_CHECK(first_.settle(task, finalists));
    return second_.settle(task, finalists);
  }

 private:
  RecordSink& first_;
  RecordSink& second_;
};

class LenientSink : public RecordSink {
 public:
  LenientSink(RecordSink& inner, std::function<void(const Error&)> failed) : inner_(inner), failed_(std::move(failed)) {}

  Expected<void> store(const Task& task, const std::vector<Record>& records) override {
    return attempt([&] { return inner_.store(task, records); });
  }
  Expected<void> store(const Task& task, const std::vector<Record>& records, const Round& round) override {
    return attempt([&] { return inner_.store(task, records, round); });
  }
  Expected<void> note(const std::string& kind, const std::string& text) override {
    return attempt([&] { return inner_.note(kind, text); });
  }
  Expected<void> settle(const Task& task, const std::vector<Record>& finalists) override {
    return attempt([&] { return inner_.settle(task, finalists); });
  }

 private:
  Expected<void> attempt(const std::function<Expected<void>()>& f) {
    if (broken_) return {};
    if (const auto done = f(); !done) {
      broken_ = true;
      failed_(done.error());
    }
    return {};
  }

  RecordSink& inner_;
  std::function<void(const Error&)> failed_;
  bool broken_ = false;
};

}  // namespace

AutotvmLog read_autotvm(std::string_view text) {
  return read_in_pieces(text, [](std::string_view piece) {
    Reader reader(static_cast<size_t>(std::count(piece.begin(), piece.end(), '\n')) + 1);
    for_each_line_of(piece, [&](const Line& line) { reader.take(line); });
    return std::move(reader).finish();
  });
}

Expected<AutotvmLog> read_autotvm_file(const std::string& path) {
  Reader reader;
  TW_CHECK(for_each_line(path, [&](const Line& line) { reader.take(line); }));
  return std::move(reader).finish();
}

std::string gathered_comment(const std::string& what) { return fmt::format("{} {}\n", kGathered, printable(what)); }

const FileKind kOurLog{"a log", [](std::string_view beginning) {
                         if (beginning.starts_with(kGathered)) return true;
                         while (beginning.starts_with('#')) beginning.remove_prefix(std::min(beginning.find('\n'), beginning.size() - 1) + 1);
                         return beginning.starts_with('{') && beginning.substr(0, beginning.find('\n')).find("\"tilewright\": {") != std::string_view::npos;
                       }};

std::string simulated_comment(const Task& task) {
  return fmt::format("# {} for {}: the times of the lines with this workload are simulated, not measured\n", printable(task.name),
                     task.target.gpu ? task.target.gpu->description : task.target.str());
}

Expected<std::unique_ptr<RecordSink>> autotvm_log_sink(const std::string& path, bool simulated) {
  TW_TRY(LineAppender appender, LineAppender::open(path));
  return std::unique_ptr<RecordSink>(std::make_unique<LogSink>(std::move(appender), simulated));
}

std::unique_ptr<RecordSink> tee_sink(RecordSink& first, RecordSink& second) { return std::make_unique<TeeSink>(first, second); }

std::unique_ptr<RecordSink> lenient_sink(RecordSink& inner, std::function<void(const Error&)> failed) {
  return std::make_unique<LenientSink>(inner, std::move(failed));
}

}  // namespace tw::records
