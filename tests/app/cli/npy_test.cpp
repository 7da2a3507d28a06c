// SPDX-License-Identifier: Apache-2.0
#include "app/cli/npy.h"

#include <QtTest>

#include "engine/base/rng.h"

using namespace tw;

/// NumPy's array files: what is written is read back, foreign layouts are understood, broken files give errors.
class NpyTest : public QObject {
  Q_OBJECT

  static std::string file(const std::string& header, const std::string& data) {
    std::string bytes = "\x93NUMPY";
    bytes += std::string("\x01\x00", 2);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    return bytes + header + data;
  }

 private Q_SLOTS:
  void round_trip() {
    Rng rng(7);
    for (DType t : {kBool, kInt8, kInt16, kInt32, kInt64, kUInt8, kUInt16, kUInt32, kUInt64, kFloat16, kFloat32, kFloat64}) {
      for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {0}, {5}, {2, 3, 4}}) {
        HostArray a = HostArray::make(t, shape);
        for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, static_cast<double>(rng.uniform(2)));
        const auto back = cli::npy_from_bytes(cli::npy_to_bytes(a), "memory");
        QVERIFY2(back.has_value(), t.name().c_str());
        QVERIFY(back->dtype == t && back->shape == shape && back->data == a.data);
      }
    }
  }

  void data_starts_on_64_bytes() {
    const HostArray a = HostArray::make(kFloat32, {3, 5});
    QCOMPARE((cli::npy_to_bytes(a).size() - a.data.size()) % 64, size_t{0});
  }

  void bfloat16_becomes_float32() {
    HostArray a = HostArray::make(kBFloat16, {2});
    a.set(0, 1.5);
    a.set(1, -3);
    const auto back = cli::npy_from_bytes(cli::npy_to_bytes(a), "memory");
    QVERIFY(back.has_value());
    QVERIFY(back->dtype == kFloat32);
    QCOMPARE(back->get(0), 1.5);
    QCOMPARE(back->get(1), -3.0);
  }

  void fortran_order() {
    // [[1, 2, 3], [4, 5, 6]] by columns.
    const auto a = cli::npy_from_bytes(file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", "\x01\x04\x02\x05\x03\x06"), "memory");
    QVERIFY(a.has_value());
    for (int64_t i = 0; i < 6; ++i) QCOMPARE(a->get_int(i), i + 1);
  }

  void broken_files() {
    const std::string good = cli::npy_to_bytes(HostArray::make(kFloat32, {4}));
    const std::string broken[] = {"",
                                  "hello",
                                  good.substr(0, 9),
                                  good.substr(0, 40),
                                  good.substr(0, good.size() - 1),
                                  good + "x",
                                  file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", "abcd"),
                                  file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", "abcd"),
                                  file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", ""),
                                  file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n", ""),
                                  file("{'descr': '<f4'}\n", "")};
    for (const std::string& bytes : broken) {
      const auto a = cli::npy_from_bytes(bytes, "x.npy");
      QVERIFY(!a.has_value());
      QVERIFY(a.error().code == ErrorCode::parse_error);
      QCOMPARE(a.error().where, std::string("x.npy"));
    }
  }

  void missing_file() {
    const auto a = cli::read_npy("/no/such/file.npy");
    QVERIFY(!a.has_value());
    QVERIFY(a.error().code == ErrorCode::not_found);
  }
};

QTEST_APPLESS_MAIN(NpyTest)
#include "npy_test.moc"
