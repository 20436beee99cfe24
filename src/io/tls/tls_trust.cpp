#include "io/tls/tls_trust.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

TlsTrust TlsTrustStore::load() {
  AGW_DEBUG_ASSERT(may_block());

  const auto now = SystemClock().now();
  const std::lock_guard lock(mutex_);
  if (!authority_ || authority_->renewed_at() < now)
    authority_ = CertificateAuthority::load_or_create(authority_file_, now);
  return {authority_, roots_.load()};
}

}  // namespace agw
