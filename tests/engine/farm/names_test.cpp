// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/names.h"

#include <QtTest>

#include "engine/farm/farm_file.h"
#include "engine/farm/jetstream.h"
#include "engine/farm/messages.h"

using namespace tw;

/// Names, lines and messages of a farm, also such as strangers would send.
class NamesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names() {
    for (const char* good : {"a", "rpi-4", "host", "1080ti", "A_b"}) QVERIFY2(farm::is_name(good), good);
    for (const char* bad : {"", "-a", "_a", "a.b", "a/b", "../a", "a b", "a*", ">", "a\n", "$JS", "ä", "a=b"}) QVERIFY2(!farm::is_name(bad), bad);
    QVERIFY(!farm::is_name(std::string(49, 'a')));
    QCOMPARE(farm::name_from("my host.local"), std::string("my-host-local"));
    QCOMPARE(farm::name_from("..."), std::string("device"));
    QVERIFY(farm::is_name(farm::name_from("--x y")));
    QVERIFY(farm::random_hex(8) != farm::random_hex(8) && farm::random_hex(8).size() == 16);
    QVERIFY(!farm::farm_folder("../x"));
  }

  void devices() {
    const auto plain = farm::parse_device_name("farm:rpi4").value();
    QVERIFY(plain.kind == "rpi4" && plain.farm == "default" && plain.priority == 1);
    const auto all = farm::parse_device_name("farm:rpi4@lab/0").value();
    QVERIFY(all.kind == "rpi4" && all.farm == "lab" && all.priority == 0);
    for (const char* bad : {"farm:", "farm:a/3", "farm:a/", "farm:a@", "farm:a@b@c", "farm:a b"}) QVERIFY2(!farm::parse_device_name(bad), bad);
    QVERIFY(!farm::is_farm_device("local"));
  }

  void farmsOfThisMachine() {
    const QTemporaryDir dir;
    const QByteArray before = qgetenv("TW_FARMS");
    qputenv("TW_FARMS", dir.filePath(QStringLiteral("farms")).toUtf8());
    QVERIFY(farm::known_farms().empty());  // there is no such folder yet
    for (const char* name : {"lab", "attic"}) {
      const farm::FarmFile file{.farm = name, .folder = farm::farm_folder(name).value(), .port = 4000, .session_password = "s", .kinds = {{"rpi4", "p"}}};
      QVERIFY(farm::write_farm(file).has_value());
    }
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("farms/empty")));
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("farms/not a name")));
    const auto farms = farm::known_farms();
    qputenv("TW_FARMS", before);
    QCOMPARE(farms.size(), size_t{2});
    QVERIFY(farms[0].farm == "attic" && farms[1].farm == "lab");
    QCOMPARE(farms[1].kinds.at(0).name, std::string("rpi4"));
  }

  void lines() {
    const farm::Access a{"lab", "127.0.0.1", 4567, "rpi4", "agent-rpi4", "secret"};
    const std::string line = farm::line_of(a);
    QVERIFY(line.find_first_of(" \n'\"$") == std::string::npos);  // one word for every shell
    const auto back = farm::access_from_line(" " + line + "\n").value();
    QVERIFY(back.farm == a.farm && back.address == a.address && back.port == a.port && back.kind == a.kind && back.user == a.user && back.password == a.password);
    for (size_t cut = 1; cut < line.size(); cut += 7) QVERIFY(!farm::access_from_line(line.substr(0, cut)));
    farm::Access odd = a;
    odd.kind = "../x";
    QVERIFY(!farm::access_from_line(farm::line_of(odd)));
    odd = a;
    odd.port = 70000;
    QVERIFY(!farm::access_from_line(farm::line_of(odd)));
    // With a fingerprint it begins in another way, and one without what its beginning says is none.
    QVERIFY(back.fingerprint.empty() && line.starts_with("twfarm1."));
    farm::Access encrypted = a;
    encrypted.fingerprint = std::string(63, '0') + "f";
    const std::string other = farm::line_of(encrypted);
    QVERIFY(other.starts_with("twfarm2."));
    QCOMPARE(farm::access_from_line(other).value().fingerprint, encrypted.fingerprint);
    QCOMPARE(farm::access_from_line(other).value().endpoint("x").fingerprint, encrypted.fingerprint);
    for (const auto& [from, start] : {std::pair{line, "twfarm2."}, {other, "twfarm1."}}) QVERIFY(!farm::access_from_line(start + from.substr(8)));
    for (const std::string& bad : {std::string(63, '0'), std::string(64, 'G'), std::string("00")}) {
      encrypted.fingerprint = bad;
      QVERIFY2(!farm::access_from_line(farm::line_of(encrypted)), bad.c_str());
    }
  }

  void messages() {
    farm::Job job;
    job.trial = "t1", job.attempt = 2, job.session = "s", job.kind = "k", job.target = "llvm -mcpu=znver4", job.sha = std::string(64, 'a'), job.bytes = 10;
    job.measure = Json{{"seed", 1}};
    job.devices["d"] = {1e-3, 2e-3, 3};
    const farm::Job back = farm::job_from_text(farm::job_text(job)).value();
    QVERIFY(back.identity() == "t1.2" && back.measure == job.measure && back.devices.at("d").verify_below_s == 2e-3);
    farm::Result r;
    r.trial = "t1", r.session = "s", r.kind = "k", r.device = "d", r.boot = "b", r.deliveries = 3, r.sequence = 9;
    r.reply = {Json{{"status", "ok"}}, std::vector<std::byte>(5, std::byte{1})};
    const farm::Result there = farm::result_from_text(farm::result_text(r)).value();
    QVERIFY(there.reply.header == r.reply.header && there.reply.payload == r.reply.payload && there.sequence == 9);
    // Damaged and hostile forms are errors, none of them more.
    const std::string job_wire = farm::job_text(job), result_wire = farm::result_text(r);
    for (size_t at = 0; at < job_wire.size(); ++at) static_cast<void>(farm::job_from_text(job_wire.substr(0, at)).has_value());
    for (size_t at = 0; at < result_wire.size(); ++at) QVERIFY(!farm::result_from_text(result_wire.substr(0, at)));
    for (size_t at = 0; at < result_wire.size(); ++at) {
      std::string changed = result_wire;
      changed[at] = static_cast<char>(changed[at] ^ 0x15);
      static_cast<void>(farm::result_from_text(changed).has_value());
    }
    r.device = "../d";
    QVERIFY(!farm::result_from_text(farm::result_text(r)));
    job.trial = "a/b";
    QVERIFY(!farm::job_from_text(farm::job_text(job)));
    job.trial = "t", job.sha = "../../x";
    QVERIFY(!farm::job_from_text(farm::job_text(job)));
    QVERIFY(!farm::job_from_text(std::string(farm::kMostJobBytes + 1, 'x')));
  }

  void deliveries() {
    farm::Message m;
    m.reply = "$JS.ACK.JOBS=a=b.p1.3.17.20.1700000000.5";
    const auto d = farm::delivered(m).value();
    QVERIFY(d.deliveries == 3 && d.sequence == 17);
    m.reply = "$JS.ACK._.hash.JOBS=a=b.p1.2.9.20.1700000000.5.token";
    QCOMPARE(farm::delivered(m).value().sequence, uint64_t{9});
    for (const char* bad : {"", "$JS.ACK", "$JS.ACK.s.c.x.1.1.1.1", "a.b.s.c.1.1.1.1.1"}) {
      m.reply = bad;
      QVERIFY2(!farm::delivered(m), bad);
    }
  }
};

QTEST_APPLESS_MAIN(NamesTest)
#include "names_test.moc"
