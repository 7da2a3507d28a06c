// SPDX-License-Identifier: Apache-2.0
#include "engine/process/subprocess.h"

#include <signal.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>
#include <thread>

#include "engine/process/find_program.h"
#include "engine/process/temporary_folder.h"
#include "tests/engine/process/processes.h"

using namespace tw;
using namespace tw::process;

namespace {

int child(const std::string& mode) {
  become_child();
  if (mode == "segv") raise(SIGSEGV);
  if (mode == "wait") pause();
  if (mode == "echo") {
    char buffer[16];
    const ssize_t n = read(0, buffer, sizeof buffer);
    return n > 0 && write(3, buffer, static_cast<size_t>(n)) == n ? 0 : 1;
  }
  return 4;
}

}  // namespace

class SubprocessTest : public QObject {
  Q_OBJECT
  std::string mark_ = test::mark_processes();

 private Q_SLOTS:
  void cleanup() { QVERIFY(test::wait_for_count(mark_, 0, 0, 2)); }

  void runs_itself_to_the_end() {
    QCOMPARE(*run_self({"child", "code"}, {}), 4);
    const auto crashed = run_self({"child", "segv"}, {});
    QVERIFY(crashed.error().code == ErrorCode::crash);
    QVERIFY(crashed.error().message.find("signal 11") != std::string::npos);
  }

  void stops_when_asked() {
    StopSource stop;
    std::thread stopper([&] {
      QVERIFY(test::wait_for_count(mark_, 1, 1, 5));
      stop.request_stop();
    });
    QVERIFY(run_self({"child", "wait"}, stop.get_token()).error().code == ErrorCode::cancelled);
    stopper.join();
  }

  void ends_when_its_time_is_over() {
    const auto late = run_self({"child", "wait"}, {}, 0.05);
    QVERIFY(!late);
    QCOMPARE(late.error().code, ErrorCode::timeout);
    QCOMPARE(*run_self({"child", "code"}, {}, 600.0), 4);
  }

  void has_pipes() {
    auto made = start_self({"child", "echo"});
    QVERIFY(made.has_value());
    QCOMPARE(write(made->to, "hello", 5), ssize_t{5});
    char buffer[16] = {};
    QCOMPARE(read(made->from, buffer, sizeof buffer), ssize_t{5});
    QCOMPARE(buffer, "hello");
    end_subprocess(*made);
    QVERIFY(start_program("/nonexistent/program", {}).error().code == ErrorCode::infrastructure);
  }

  void finds_programs() {
    const std::string self = *own_path();
    QCOMPARE(*find_program("anything", "which is given", self), self);
    QCOMPARE(*find_program(std::filesystem::path(self).filename().string(), "which is this one"), self);
    const auto missing = find_program("no-such-program", "which nobody has");
    QVERIFY(missing.error().code == ErrorCode::not_found);
    QVERIFY(missing.error().message.find("\"no-such-program\", which nobody has") != std::string::npos);
  }

  void temporary_folders_go_away() {
    std::string path;
    {
      const auto folder = TemporaryFolder::create();
      QVERIFY(folder.has_value());
      path = folder->path();
      QVERIFY(std::filesystem::is_directory(path));
      std::filesystem::create_directories(path + "/a/b");
    }
    QVERIFY(!std::filesystem::exists(path));
  }
};

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "child") return child(argv[2]);
  SubprocessTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "subprocess_test.moc"
