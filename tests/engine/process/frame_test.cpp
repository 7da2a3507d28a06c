// SPDX-License-Identifier: Apache-2.0
#include "engine/process/frame.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QtTest>
#include <thread>

#include "engine/base/json.h"
#include "engine/base/rng.h"

using namespace tw;
using namespace tw::process;

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

/// A connected pair; end 0 does not block.
struct Pair {
  int fd[2];
  Pair() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0) std::abort();
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
  }
  ~Pair() {
    close(fd[0]);
    close(fd[1]);
  }
  void put(std::span<const std::byte> data) { QCOMPARE(write(fd[1], data.data(), data.size()), static_cast<ssize_t>(data.size())); }
};

}  // namespace

class FrameTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void arrives_in_any_pieces() {
    const std::vector<std::byte> wire = encode_frame(Json{{"id", 7}}, bytes_of("payload"));
    Pair pair;
    FrameReader reader;
    for (size_t i = 0; i < wire.size(); ++i) {
      pair.put({&wire[i], 1});
      QVERIFY(*reader.fill(pair.fd[0]));
      const auto frame = reader.next();
      QVERIFY(frame.has_value());
      QCOMPARE(frame->has_value(), i + 1 == wire.size());
      if (frame->has_value()) QVERIFY((**frame).header["id"] == 7 && (**frame).payload == bytes_of("payload"));
    }
  }

  void several_at_once_and_the_end() {
    Pair pair;
    for (int i = 0; i < 3; ++i) pair.put(encode_frame(Json{{"id", i}}, {}));
    shutdown(pair.fd[1], SHUT_WR);
    FrameReader reader;
    QVERIFY(reader.fill(pair.fd[0]).has_value());
    QCOMPARE(*reader.fill(pair.fd[0]), false);  // all was read before, and the stream has ended
    for (int i = 0; i < 3; ++i) QCOMPARE((**reader.next()).header["id"].get<int>(), i);
    QVERIFY(!reader.next()->has_value());
  }

  void large_payloads_cross() {
    Pair pair;
    fcntl(pair.fd[0], F_SETFL, 0);
    const std::vector<std::byte> payload(5 << 20, std::byte{0x5a});
    std::thread writer([&] { QVERIFY(write_frame(pair.fd[1], Json{{"big", true}}, payload).has_value()); });
    const auto frame = read_frame(pair.fd[0]);
    writer.join();
    QVERIFY(frame.has_value() && frame->has_value());
    QVERIFY((**frame).payload == payload);
  }

  void works_on_pipes() {
    int fds[2];
    QCOMPARE(pipe(fds), 0);
    QVERIFY(write_frame(fds[1], Json::object(), bytes_of("x")).has_value());
    close(fds[1]);
    QCOMPARE((**read_frame(fds[0])).payload.size(), size_t{1});
    QVERIFY(!read_frame(fds[0])->has_value());  // the end
    close(fds[0]);
  }

  void claims_beyond_the_limits_are_refused() {
    std::vector<std::byte> wire = encode_frame(Json::object(), std::vector<std::byte>(100));
    Pair pair;
    pair.put(wire);
    FrameReader small(99);
    QVERIFY(small.fill(pair.fd[0]).has_value());
    QVERIFY(!small.next().has_value());
    // A header length of 4 GiB - 1 must be refused before anything of that size is made.
    std::memset(wire.data() + 4, 0xff, 4);
    Pair other;
    other.put(wire);
    FrameReader reader;
    QVERIFY(reader.fill(other.fd[0]).has_value());
    QVERIFY(!reader.next().has_value());
  }

  void rubbish_never_gives_a_frame_with_other_content() {
    const std::vector<std::byte> wire = encode_frame(Json{{"id", 1}, {"list", {1, 2, 3}}}, bytes_of("abc"));
    Rng rng(3);
    for (int i = 0; i < 2000; ++i) {
      std::vector<std::byte> bad = wire;
      bad[rng.uniform(16)] ^= static_cast<std::byte>(1U << rng.uniform(8));  // in the prefix
      Pair pair;
      pair.put(bad);
      shutdown(pair.fd[1], SHUT_WR);
      FrameReader reader;
      QVERIFY(reader.fill(pair.fd[0]).has_value());
      const auto frame = reader.next();
      if (frame && *frame) QVERIFY((**frame).header != (Json{{"id", 1}, {"list", {1, 2, 3}}}) || (**frame).payload != bytes_of("abc"));
    }
  }

  void a_closed_end_is_an_error_not_a_signal() {
    Pair pair;
    close(pair.fd[1]);
    const auto sent = write_frame(pair.fd[0], Json::object());
    QVERIFY(!sent.has_value());
    QVERIFY(sent.error().code == ErrorCode::io_error);
    pair.fd[1] = dup(pair.fd[0]);
  }
};

QTEST_APPLESS_MAIN(FrameTest)
#include "frame_test.moc"
