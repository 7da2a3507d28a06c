// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/tls_channel.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <QtTest>

#include "engine/base/file.h"
#include "tests/engine/farm/sim_farm.h"

using namespace tw;
using namespace tw::test;

namespace {

/// Greets as it is told, then hears what the other end says until that closes the connection.
class Greeter {
 public:
  explicit Greeter(std::string greeting) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET, here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&here), size);
    ::listen(fd_, 1);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&here), &size);
    port_ = ntohs(here.sin_port);
    thread_ = std::thread([this, greeting = std::move(greeting)] {
      const int peer = ::accept(fd_, nullptr, nullptr);
      ::send(peer, greeting.data(), greeting.size(), MSG_NOSIGNAL);
      char piece[4096];
      for (ssize_t n; (n = ::recv(peer, piece, sizeof piece, 0)) > 0;) {
        heard_.append(piece, static_cast<size_t>(n));
        ::send(peer, "-ERR 'what'\r\n", 13, MSG_NOSIGNAL);
      }
      ::close(peer);
    });
  }
  ~Greeter() {
    if (thread_.joinable()) thread_.join();
    ::close(fd_);
  }
  int port() const { return port_; }
  std::string heard() {
    thread_.join();
    return heard_;
  }

 private:
  int fd_, port_ = 0;
  std::string heard_;
  std::thread thread_;
};

farm::Endpoint at(int port, const std::string& fingerprint) {
  return {.port = port, .user = "session", .password = "secret", .fingerprint = fingerprint, .inbox = "_IN.=", .name = "test"};
}

const std::string kSomeFingerprint(64, 'a');

/// An address of this machine that others reach; empty if it has none.
std::string outer_address() {
  ifaddrs* all = nullptr;
  std::string found;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(a->ifa_addr)->sin_addr, text, sizeof text);
    if (!farm::is_loopback(text)) found = text;
  }
  ::freeifaddrs(all);
  return found;
}

}  // namespace

/// Encrypted connections to a real server, and to what only says that it is one.
class TlsChannelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    if (!farm::find_nats_server()) QSKIP("nats-server is not installed");
  }

  /// Small and large messages, in one go and in turn, arrive whole and in order.
  void messages() {
    const SimFarm farm("sim", true);
    auto listener = std::move(farm::NatsClient::connect(farm.file.session().endpoint("hears"), 5).value());
    auto speaker = std::move(farm::NatsClient::connect(farm.file.session().endpoint("says"), 5).value());
    QVERIFY(listener->subscribe("tw.test.x").has_value() && listener->flush(5).has_value());
    const std::vector<size_t> sizes = {0, 1, 100, 16'383, 16'384, 16'385, 65'536, 1'000'000, 8 << 20, 3};
    const auto text = [](size_t size, size_t salt) {
      std::string out(size, 0);
      for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i * 31 + salt + i / 256) & 0xff);
      return out;
    };
    std::thread says([&] {
      for (size_t i = 0; i < sizes.size(); ++i) speaker->publish("tw.test.x", text(sizes[i], i)).value();
      for (int i = 0; i < 3000; ++i) speaker->publish("tw.test.x", std::to_string(i)).value();
      speaker->flush(10).value();
    });
    const auto next = [&] { return listener->next(std::chrono::steady_clock::now() + std::chrono::seconds(20)).value(); };
    for (size_t i = 0; i < sizes.size(); ++i) QCOMPARE(next()->payload, text(sizes[i], i));
    for (int i = 0; i < 3000; ++i) QCOMPARE(next()->payload, std::to_string(i));
    says.join();
    // One that waits on the socket alone misses nothing: what was heard was handed over.
    for (int i = 0; i < 50; ++i) {
      QVERIFY(speaker->publish("tw.test.x", "again").has_value() && speaker->push().has_value());
      QVERIFY(farm::wait_for(listener->fd(), POLLIN, std::chrono::steady_clock::now() + std::chrono::seconds(5)).value());
      QCOMPARE(next()->payload, std::string("again"));
    }
    QVERIFY(speaker->request("$JS.API.INFO", "", 10).value().payload.find("limits") != std::string::npos);
    QVERIFY(!listener->next(std::chrono::steady_clock::now() + std::chrono::milliseconds(50)).value().has_value());
  }

  /// Jobs, code in pieces and results, also through a server that was killed: its certificate is the same one.
  void farm() {
    SimFarm farm("sim", true);
    const std::string fingerprint = farm.file.fingerprint;
    const SimDevice a(farm.file, "sim", "a", farm.folder(), 0.001, nullptr), b(farm.file, "sim", "b", farm.folder(), 0.001, nullptr);
    const auto options = farm.session();
    farm::Queue queue(options);
    QVERIFY(queue.open().has_value());
    const auto object = std::make_shared<const std::vector<std::byte>>(300'000, std::byte{7});
    Tally tally;
    for (int64_t i = 0; i < 60; ++i) queue.put(sim_job("sim", "session", i, *object), object, "", {}).value();
    bool killed = false;
    for (const double until = Tenures::now_s() + 60; tally.times.size() < 60 && Tenures::now_s() < until;) {
      tally.take_all(queue.receive(0.2, {}));
      queue.settle().value();
      if (killed || tally.times.size() < 20) continue;
      farm.kill_server(false);
      killed = true;
    }
    QVERIFY(killed && tally.each_once(60));
    QCOMPARE(tally.wrong + tally.refused, 0);
    QCOMPARE(farm.file.fingerprint, fingerprint);
  }

  /// Another certificate than the line's: refused before user and password go out, of which the server would write.
  void another_certificate() {
    const SimFarm farm("sim", true);
    farm::Endpoint odd = farm.file.session().endpoint("odd");
    odd.fingerprint = kSomeFingerprint, odd.password = "guess";
    const auto refused = farm::NatsClient::connect(odd, 5);
    QVERIFY(!refused && refused.error().code == ErrorCode::invalid_argument);
    QVERIFY2(refused.error().text().find("nothing was sent") != std::string::npos, refused.error().text().c_str());
    QVERIFY(read_file(farm::server_log(farm.file)).value().find("authentication error") == std::string::npos);
    odd.fingerprint = farm.file.fingerprint;
    QVERIFY(!farm::NatsClient::connect(odd, 5));
    QVERIFY(read_file(farm::server_log(farm.file)).value().find("authentication error") != std::string::npos);
    farm::Endpoint plain = farm.file.session().endpoint("plain");
    plain.fingerprint.clear();
    const auto bare = farm::NatsClient::connect(plain, 5);
    QVERIFY(!bare && bare.error().text().find("encrypted connections only") != std::string::npos);
  }

  /// Who has a fingerprint says nothing to a server that is not encrypted, whatever it greets with.
  void downgrade() {
    const SimFarm farm;
    const auto plain = farm::NatsClient::connect(at(farm.file.port, kSomeFingerprint), 5);
    QVERIFY(!plain && plain.error().code == ErrorCode::invalid_argument);
    for (const char* greeting : {"INFO {}\r\n", "INFO {\"tls_required\":false}\r\n", "PING\r\n", "MSG _IN.x 1 1\r\na\r\n", "INFO []\r\n"}) {
      Greeter greeter(greeting);
      QVERIFY2(!farm::NatsClient::connect(at(greeter.port(), kSomeFingerprint), 5), greeting);
      QCOMPARE(greeter.heard(), std::string());
    }
    // What somebody writes behind the greeting is not taken for what comes through the encrypted connection.
    Greeter writes_on("INFO {\"tls_required\":true}\r\nPONG\r\nMSG _IN.x 1 1\r\na\r\n");
    QVERIFY(!farm::NatsClient::connect(at(writes_on.port(), kSomeFingerprint), 5));
    QCOMPARE(writes_on.heard(), std::string());
    Greeter cannot("INFO {\"tls_required\":true}\r\n");
    const auto no_handshake = farm::NatsClient::connect(at(cannot.port(), kSomeFingerprint), 5);
    QVERIFY(!no_handshake && no_handshake.error().code == ErrorCode::invalid_argument);
    QVERIFY(cannot.heard().find("secret") == std::string::npos);
  }

  /// Where a server listens says whether it encrypts; both can be changed while it is down.
  void places() {
    SimFarm farm;
    QVERIFY(farm.file.fingerprint.empty());
    const auto up = [](const farm::Listening& l) { return farm::farm_up("test", "sim", l); };
    QVERIFY(!up({.encrypted = true}));  // it runs
    for (const char* bad : {"0.0.0.0", "::", "::ffff:0.0.0.0", "192.0.2.1", "some.host", "1.2.3", "*"}) QVERIFY2(!up({.address = bad}), bad);
    QVERIFY(farm::farm_down(farm.file).has_value());
    for (const char* bad : {"0.0.0.0", "192.0.2.1"}) QVERIFY2(!up({.address = bad}), bad);
    farm.file = up({.encrypted = true}).value();
    const std::string first = farm.file.fingerprint, certificate = farm.file.folder + "/server.pem";
    QCOMPARE(first.size(), size_t{64});
    QCOMPARE(std::filesystem::status(certificate).permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    QCOMPARE(up({}).value().fingerprint, first);
    QCOMPARE(farm::access_from_line(farm::line_of(farm.file.agent("sim").value())).value().fingerprint, first);
    QVERIFY(farm::farm_down(farm.file).has_value());
    QCOMPARE(up({}).value().fingerprint, first);
    QVERIFY(farm::read_farm("test").value().fingerprint == first);
    QVERIFY(farm::farm_down(farm.file).has_value());
    QVERIFY(up({.address = "127.0.0.1"}).value().fingerprint.empty());
    QVERIFY(farm::farm_down(farm.file).has_value());
    std::filesystem::remove(certificate);
    farm.file = up({.encrypted = true}).value();
    QVERIFY(farm.file.fingerprint != first);
    for (const char* near : {"127.0.0.1", "127.1.2.3", "::1"}) QVERIFY2(farm::is_loopback(near), near);
    for (const char* far : {"10.0.0.1", "::", "fe80::1", "", "localhost.example"}) QVERIFY2(!farm::is_loopback(far), far);
    const std::string outside = outer_address();
    if (outside.empty()) return;
    QVERIFY(farm::farm_down(farm.file).has_value());
    farm.file = up({.address = outside}).value();
    QVERIFY(!farm.file.fingerprint.empty());
    const std::string configuration = farm::server_configuration(farm.file);
    QVERIFY(configuration.find("tls {") != std::string::npos);
    for (const char* other : {"http", "https", "monitor", "cluster", "gateway", "leafnodes", "websocket", "mqtt", "prof_port"})
      QVERIFY2(configuration.find(other) == std::string::npos, other);
    QVERIFY(farm::NatsClient::connect(farm.file.session().endpoint("outside"), 5).has_value());
  }
};

QTEST_APPLESS_MAIN(TlsChannelTest)
#include "tls_channel_test.moc"
