#include "features/push/vapid_key.hpp"

#include <stdexcept>

#include "base/async/assert.hpp"
#include "base/digest.hpp"

namespace agw {

namespace {

constexpr auto secret_name = "push_key";

}  // namespace

VapidKey::VapidKey(BlockingPool& blocking, const Secrets& secrets)
    : blocking_(blocking), shared_(std::make_shared<Shared>(secrets)) {}

Task<EcKey> VapidKey::get() {
  co_return co_await blocking_.run([shared = shared_] {
    const std::lock_guard alone(shared->mutex);
    auto key = shared->read();
    return key ? *std::move(key) : shared->make();
  });
}

Task<std::optional<EcKey>> VapidKey::find() {
  co_return co_await blocking_.run([shared = shared_] {
    const std::lock_guard alone(shared->mutex);
    return shared->read();
  });
}

std::optional<EcKey> VapidKey::Shared::read() {
  if (key) return key;
  const auto text = secrets.find(secret_name);
  const auto scalar = text ? from_base64url(*text) : std::nullopt;
  if (!scalar) return std::nullopt;
  try {
    key = EcKey::from_private(*scalar);
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // the value is not a key: a new one is made
  }
  return key;
}

EcKey VapidKey::Shared::make() {
  AGW_ASSERT(!key);  // browsers have subscribed with it
  key = EcKey::generate();
  try {
    secrets.set(secret_name, to_base64url(key->private_scalar()));
  } catch (...) {
    key.reset();
    throw;
  }
  return *key;
}

}  // namespace agw
