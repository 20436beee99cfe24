#include "server/idempotency.hpp"

#include <openssl/evp.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "server/idempotency_store.hpp"

namespace agw {

namespace {

constexpr auto kept_for = std::chrono::hours{24};

std::string sha256(std::string_view text) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &length, EVP_sha256(), nullptr);
  static constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < length; ++i) {
    out += hex[static_cast<unsigned char>(digest[i]) >> 4];
    out += hex[static_cast<unsigned char>(digest[i]) & 15];
  }
  return out;
}

}  // namespace

Task<> Idempotency::wait_for_twin(const std::string& name) {
  for (auto flight = flights_.find(name); flight != flights_.end(); flight = flights_.find(name)) {
    const auto keep_alive = flight->second;
    boost::system::error_code ignored;
    co_await keep_alive->landed.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

Task<Answer> Idempotency::once(Request& request, std::string key, const std::string& path, const Handle& handle) {
  const auto name = path + '\n' + key;
  co_await wait_for_twin(name);

  auto flight = std::make_shared<Flight>(loop_);
  flights_.emplace(name, flight);
  struct Landing {
    Flights& flights;
    const std::string& name;
    ~Landing() {
      auto node = flights.extract(name);
      node.mapped()->landed.cancel();
    }
  } landing{flights_, name};

  const auto hash = sha256(request.content);
  const auto now = clock_.now();
  const auto kept = co_await database_.read([path, key, oldest = now - kept_for](Connection& connection) {
    return idempotency_store::find(connection, path, key, oldest);
  });
  if (kept && kept->body_hash != hash) throw Conflict("idempotency key reused");
  if (kept) co_return Answer{.status = kept->status, .body = kept->body};

  auto stored = std::make_shared<bool>(false);
  request.keep_answer = [=](Connection& connection, int status, const std::string& body) {
    idempotency_store::keep(connection, path, key, {hash, status, body}, now, now - kept_for);
    *stored = true;
  };
  auto answer = co_await handle(request);
  const bool success = answer.status >= 200 && answer.status < 300;
  if (success && !*stored) {
    co_await database_.write([keep = request.keep_answer, status = answer.status,
                              body = answer.body](Connection& connection) { keep(connection, status, body); });
  }
  co_return answer;
}

}  // namespace agw
