#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/async/task.hpp"
#include "features/push/ec_key.hpp"
#include "features/secrets/service.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// The gateway's key for push services, stored as the secret `push_key`. Created when it is first needed.
class VapidKey {
public:
  VapidKey(BlockingPool& blocking, const Secrets& secrets);

  /// Throws SecretError if the secrets cannot be read or written.
  Task<EcKey> get();
  /// Returns the key, but does not create one.
  Task<std::optional<EcKey>> find();

private:
  /// Used on other threads, by work that may outlive its caller.
  struct Shared {
    explicit Shared(const Secrets& of_gateway) : secrets(of_gateway) {}

    Secrets secrets;
    std::mutex mutex;
    std::optional<EcKey> key;

    std::optional<EcKey> read();
    EcKey make();
  };

  BlockingPool& blocking_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace agw
