// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/certificate.h"

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/pem.h>
#include <mbedtls/x509_crt.h>
#include <sys/stat.h>

#include <array>
#include <span>

#include "engine/base/file.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"

namespace tw::farm {

namespace {

bool is_certificate(std::string_view beginning) { return beginning.starts_with("-----BEGIN"); }
constexpr FileKind kCertificate{"a certificate", &is_certificate};
/// Clocks of boards may say anything, and no date decides. The second one is RFC 5280's for "never".
constexpr const char *kBegins = "20000101000000", *kEnds = "99991231235959";

/// mbedTLS's things that have to be freed.
struct Parts {
  Parts() {
    mbedtls_entropy_init(&entropy);
    mbedtls_ctr_drbg_init(&random);
    mbedtls_pk_init(&key);
    mbedtls_mpi_init(&serial);
    mbedtls_x509write_crt_init(&request);
    mbedtls_x509_crt_init(&certificate);
  }
  ~Parts() {
    mbedtls_x509_crt_free(&certificate);
    mbedtls_x509write_crt_free(&request);
    mbedtls_mpi_free(&serial);
    mbedtls_pk_free(&key);
    mbedtls_ctr_drbg_free(&random);
    mbedtls_entropy_free(&entropy);
  }
  mbedtls_entropy_context entropy;
  mbedtls_ctr_drbg_context random;
  mbedtls_pk_context key;
  mbedtls_mpi serial;
  mbedtls_x509write_cert request;
  mbedtls_x509_crt certificate;
};

/// A key on the curve P-256, and its certificate behind it, as one text.
Expected<std::string> new_certificate(const std::string& farm) {
  Parts p;
  std::array<unsigned char, 4096> text{};
  const std::string name = "CN=tilewright-" + farm;
  std::string all;
  int failed = 0;
  const auto then = [&failed](auto&& step) {
    if (failed == 0) failed = step();
  };
  const auto append = [&] { all += reinterpret_cast<const char*>(text.data()); };
  const auto number = [&p](unsigned char* to, size_t size) { return mbedtls_ctr_drbg_random(&p.random, to, size); };
  then([&] { return mbedtls_ctr_drbg_seed(&p.random, mbedtls_entropy_func, &p.entropy, nullptr, 0); });
  then([&] { return mbedtls_pk_setup(&p.key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY)); });
  then([&] { return mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(p.key), mbedtls_ctr_drbg_random, &p.random); });
  then([&] { return mbedtls_pk_write_key_pem(&p.key, text.data(), text.size()); });
  if (failed == 0) append();
  std::array<unsigned char, 16> serial{};
  then([&] { return number(serial.data(), serial.size()); });
  serial[0] = (serial[0] & 0x3f) | 0x40;  // positive, and of full length
  then([&] { return mbedtls_mpi_read_binary(&p.serial, serial.data(), serial.size()); });
  then([&] { return mbedtls_x509write_crt_set_serial(&p.request, &p.serial); });
  then([&] { return mbedtls_x509write_crt_set_validity(&p.request, kBegins, kEnds); });
  then([&] { return mbedtls_x509write_crt_set_subject_name(&p.request, name.c_str()); });
  then([&] { return mbedtls_x509write_crt_set_issuer_name(&p.request, name.c_str()); });
  mbedtls_x509write_crt_set_version(&p.request, MBEDTLS_X509_CRT_VERSION_3);
  mbedtls_x509write_crt_set_md_alg(&p.request, MBEDTLS_MD_SHA256);
  mbedtls_x509write_crt_set_subject_key(&p.request, &p.key);
  mbedtls_x509write_crt_set_issuer_key(&p.request, &p.key);
  then([&] { return mbedtls_x509write_crt_pem(&p.request, text.data(), text.size(), mbedtls_ctr_drbg_random, &p.random); });
  if (failed == 0) append();
  text.fill(0);
  if (failed == 0) return all;
  char why[160] = {};
  mbedtls_strerror(failed, why, sizeof why);
  return Error(ErrorCode::infrastructure, fmt::format("Making the certificate of the farm's server failed: {}", why));
}

}  // namespace

Expected<std::string> ensure_certificate(const std::string& path, const std::string& farm) {
  auto text = read_file(path);
  if (!text && text.error().code != ErrorCode::not_found) return text.error();
  if (!text) {
    TW_TRY(text, new_certificate(farm));
    const mode_t before = ::umask(0077);
    const auto written = write_file(path, kCertificate, *text);
    ::umask(before);
    TW_CHECK(written);
  }
  Parts p;
  // The parser passes over the key, and wants the text's end as a byte.
  if (mbedtls_x509_crt_parse(&p.certificate, reinterpret_cast<const unsigned char*>(text->c_str()), text->size() + 1) != 0)
    return Error(ErrorCode::parse_error, "Expected the certificate and the key of a farm's server, found something else; without the file `tw farm up` makes new ones, and new lines", path);
  return sha256_hex(std::as_bytes(std::span(p.certificate.raw.p, p.certificate.raw.len)));
}

}  // namespace tw::farm
