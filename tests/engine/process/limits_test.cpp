// SPDX-License-Identifier: Apache-2.0
#include "engine/process/limits.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <new>
#include <vector>

using namespace tw::process;

namespace {

/// Whether so many MiB can be had; they are given back.
bool fits(size_t mib) {
  try {
    const std::vector<char> room(mib << 20);
    return room.back() == 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

class LimitsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void allowancesWidenAndEnd() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("sanitizers reserve terabytes");
#endif
    const pid_t child = ::fork();
    if (child == 0) {
      {
        MemoryAllowance memory(int64_t{64} << 20);
        if (!fits(32) || fits(100)) _exit(1);
        memory.widen(int64_t{128} << 20);
        if (!fits(100) || fits(300) || memory.bytes() != int64_t{192} << 20) _exit(2);
        const MemoryAllowance inner(int64_t{1} << 40);  // the outer one holds
        if (fits(300)) _exit(3);
      }
      _exit(fits(300) ? 0 : 4);
    }
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QCOMPARE(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  }

  void limitsOfAProcessStay() {
    const pid_t child = ::fork();
    if (child == 0) {
      limit_this_process({.no_growing_files = true});
      FILE* file = std::tmpfile();
      if (file == nullptr) _exit(1);
      ::signal(SIGXFSZ, SIG_IGN);
      const bool written = std::fputc('x', file) == 'x' && std::fflush(file) == 0;
      _exit(written ? 2 : 0);
    }
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QCOMPARE(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  }
};

QTEST_APPLESS_MAIN(LimitsTest)
#include "limits_test.moc"
