// SPDX-License-Identifier: Apache-2.0
#include "engine/process/shared_memory.h"

#include <QtTest>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>

using namespace tw;
using process::SharedMemory;

class SharedMemoryTest : public QObject {
  Q_OBJECT

  static int64_t pages(int fd) {
    struct stat info {};
    return fstat(fd, &info) == 0 ? info.st_blocks : -1;
  }

 private Q_SLOTS:
  void oneWritesAndTheOtherReads() {
    const auto here = SharedMemory::create().value();
    const auto there = SharedMemory::open(dup(here->fd())).value();
    SharedMemory::Part first = there->room(5), second = there->room(10'000);
    std::memcpy(first.bytes.data(), "first", 5);
    std::memset(second.bytes.data(), 7, second.bytes.size());
    const int64_t place = there->place_of(second.bytes.data());
    QVERIFY(place > 0 && there->place_of(second.bytes.data() + 1) < 0 && here->place_of(second.bytes.data()) < 0);
    QCOMPARE(there->place_of(first.bytes.data()), int64_t{0});
    second = {};  // whoever wrote may be gone
    {
      const auto read = here->part(place, 10'000);
      QVERIFY(read.has_value());
      QCOMPARE(read->bytes[9'999], std::byte{7});
      QVERIFY(pages(here->fd()) >= 24);
    }
    QVERIFY(pages(here->fd()) <= 16);  // what was read is given back
    QVERIFY(std::memcmp(here->part(0, 5)->bytes.data(), "first", 5) == 0);
  }

  void placesThatCannotBeAreRefused() {
    const auto memory = SharedMemory::create().value();
    for (const auto& [place, bytes] : {std::pair<int64_t, int64_t>{-4096, 8}, {1, 8}, {0, 0}, {0, -1}, {0, INT64_MAX}, {INT64_MAX - 4095, 8}, {int64_t{1} << 40, 4096}})
      QVERIFY2(!memory->part(place, bytes), qPrintable(QString::number(place)));
    QVERIFY_EXCEPTION_THROWN(memory->room(0), std::bad_alloc);
    QVERIFY_EXCEPTION_THROWN(memory->room(size_t{1} << 62), std::bad_alloc);
  }

  /// Its size cannot change under a mapping, and other descriptors are not taken for it.
  void sizesAreSealed() {
    const auto memory = SharedMemory::create().value();
    QVERIFY(ftruncate(memory->fd(), 4096) != 0);
    const int plain = memfd_create("plain", MFD_CLOEXEC);
    QVERIFY(plain >= 0);
    const auto other = SharedMemory::open(plain);
    QVERIFY(!other && other.error().code == ErrorCode::infrastructure);
    close(plain);
    QVERIFY(!SharedMemory::open(-1));
  }
};

QTEST_APPLESS_MAIN(SharedMemoryTest)
#include "shared_memory_test.moc"
