#include "features/push/ec_key.hpp"

#include <stdexcept>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr auto curve = "P-256";
constexpr std::size_t point_size = 65;
constexpr std::size_t scalar_size = 32;
static_assert(point_size == 1 + 2 * scalar_size);
constexpr char uncompressed = 4;

/// Frees an object of OpenSSL at the end of its scope.
template <auto free_it>
struct Free {
  void operator()(auto* given) const { free_it(given); }
};
template <class T, auto free_it>
using Owned = std::unique_ptr<T, Free<free_it>>;
using BigNumber = Owned<BIGNUM, BN_clear_free>;
using Group = Owned<EC_GROUP, EC_GROUP_free>;
using Point = Owned<EC_POINT, EC_POINT_free>;
using Context = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using Builder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Parameters = Owned<OSSL_PARAM, OSSL_PARAM_free>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;

/// Writes a number below the curve's order, with leading zeros.
void write_scalar(const BIGNUM* number, unsigned char* to) {
  const int size = BN_bn2binpad(number, to, scalar_size);
  AGW_ASSERT(size == static_cast<int>(scalar_size));
}

void require(bool works, const char* what) {
  if (works) return;
  ERR_clear_error();
  throw std::runtime_error(std::string("OpenSSL cannot ") + what);
}

/// Returns null if the parts are inconsistent, such as a point that is not on the curve.
Key key_of(std::string_view point, const BIGNUM* scalar) {
  const Builder builder(OSSL_PARAM_BLD_new());
  require(builder != nullptr, "describe a key");
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  if (scalar) OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, scalar);
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const Context context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  require(parameters && context && EVP_PKEY_fromdata_init(context.get()) == 1, "describe a key");
  EVP_PKEY* made = nullptr;
  const int selection = scalar ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
  if (EVP_PKEY_fromdata(context.get(), &made, selection, parameters.get()) != 1) ERR_clear_error();
  return Key(made);
}

Key public_key_of(std::string_view point) {
  return point.size() == point_size && point[0] == uncompressed ? key_of(point, nullptr) : nullptr;
}

}  // namespace

bool is_ec_point(std::string_view bytes) { return public_key_of(bytes) != nullptr; }

EcKey EcKey::generate() {
  Handle key(EVP_EC_gen(curve), EVP_PKEY_free);
  require(key != nullptr, "make a key");
  return EcKey(std::move(key));
}

EcKey EcKey::from_private(std::string_view scalar) {
  const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  const BigNumber number(BN_bin2bn(data_of(scalar), static_cast<int>(scalar.size()), nullptr));
  require(group && number, "read a key");
  if (scalar.size() != scalar_size || BN_is_zero(number.get()) ||
      BN_cmp(number.get(), EC_GROUP_get0_order(group.get())) >= 0) {
    throw std::invalid_argument("not a private key of P-256");
  }
  const Point point(EC_POINT_new(group.get()));
  require(point && EC_POINT_mul(group.get(), point.get(), number.get(), nullptr, nullptr, nullptr) == 1, "read a key");
  std::string bytes(point_size, '\0');
  EC_POINT_point2oct(group.get(), point.get(), POINT_CONVERSION_UNCOMPRESSED, data_of(bytes), bytes.size(), nullptr);
  auto key = key_of(bytes, number.get());
  require(key != nullptr, "read a key");
  return EcKey(Handle(key.release(), EVP_PKEY_free));
}

std::string EcKey::public_point() const {
  std::string point(point_size, '\0');
  std::size_t size = 0;
  const int known =
      EVP_PKEY_get_octet_string_param(key_.get(), OSSL_PKEY_PARAM_PUB_KEY, data_of(point), point.size(), &size);
  require(known == 1 && size == point_size, "show a public key");
  return point;
}

std::string EcKey::private_scalar() const {
  BIGNUM* number = nullptr;
  require(EVP_PKEY_get_bn_param(key_.get(), OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1, "store a key");
  const BigNumber owned(number);
  std::string scalar(scalar_size, '\0');
  write_scalar(number, data_of(scalar));
  return scalar;
}

std::string EcKey::agree(std::string_view point) const {
  const auto peer = public_key_of(point);
  if (!peer) throw std::invalid_argument("not a point of P-256");
  const Context context(EVP_PKEY_CTX_new(key_.get(), nullptr));
  std::string secret(scalar_size, '\0');
  std::size_t size = secret.size();
  require(context && EVP_PKEY_derive_init(context.get()) == 1 &&
              EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1 &&
              EVP_PKEY_derive(context.get(), data_of(secret), &size) == 1 && size == scalar_size,
          "agree on a secret");
  return secret;
}

std::string EcKey::sign(std::string_view text) const {
  const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  std::string der(static_cast<std::size_t>(EVP_PKEY_get_size(key_.get())), '\0');
  std::size_t size = der.size();
  require(context && EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
              EVP_DigestSign(context.get(), data_of(der), &size, data_of(text), text.size()) == 1,
          "sign");
  const auto* begin = data_of(der);
  const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(d2i_ECDSA_SIG(nullptr, &begin, static_cast<long>(size)));
  require(pair != nullptr, "sign");
  std::string signature(2 * scalar_size, '\0');
  write_scalar(ECDSA_SIG_get0_r(pair.get()), data_of(signature));
  write_scalar(ECDSA_SIG_get0_s(pair.get()), data_of(signature) + scalar_size);
  return signature;
}

}  // namespace agw
