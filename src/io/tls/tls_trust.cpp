#include "io/tls/tls_trust.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

TlsTrust TlsTrustStore::load() {
  AGW_DEBUG_ASSERT(may_block());

  const auto now = SystemClock().now();
  const std::lock_guard lock(mutex_);
  if (!loaded_.authority || loaded_.authority->renewed_at() < now)
    loaded_.authority = CertificateAuthority::load_or_create(authority_file_, now);
  auto file = TrustedRoots::find_file();
  std::error_code error;
  const auto written_at = std::filesystem::last_write_time(file, error);
  if (!loaded_.roots || loaded_.roots->file() != file || written_at != roots_written_at_)
    loaded_.roots = TrustedRoots::load(std::move(file));
  roots_written_at_ = written_at;
  return loaded_;
}

}  // namespace agw
