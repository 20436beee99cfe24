#include "server/http/failure.hpp"

#include "api/failure.hpp"
#include "base/log_ids.hpp"
#include "server/http/response.hpp"

namespace agw {

Response failure_response(const std::exception_ptr& failure, const RequestName& request) {
  const auto [error, cause] = as_failure(failure);
  if (!cause.empty()) log::error({.request = request.id}, "{} {}: {}", request.method, request.path, cause);
  return error_response(error, request.protocol);
}

}  // namespace agw
