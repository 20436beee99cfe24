#include "server/http/failure.hpp"

#include "api/refusals.hpp"
#include "base/log_ids.hpp"
#include "io/files/disk_full.hpp"
#include "server/http/response.hpp"
#include "storage/connection.hpp"

namespace agw {

namespace {

constexpr int internal_server_error = 500;
constexpr int service_unavailable = 503;

void log_failure(const RequestName& request, std::string_view why) {
  log::error({.request = request.id}, "{} {}: {}", request.method, request.path, why);
}

}  // namespace

Response failure_response(const std::exception_ptr& failure, const RequestName& request) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    // Some internal errors are ApiErrors with a specific text.
    if (error.status() == internal_server_error)
      log_failure(request, error.extra().empty() ? error.error() : error.error() + " " + to_json(error.extra()));
    return error_response(error, request.protocol);
  } catch (const DiskFull& error) {
    log_failure(request, error.what());
    return error_response(disk_full(), request.protocol);
  } catch (const ThreadElsewhere&) {
    return error_response(ApiError(service_unavailable, "another node answers on the thread, try again"),
                          request.protocol);
  } catch (const DatabaseUnavailable& error) {
    log_failure(request, error.what());
    return error_response(ApiError(service_unavailable, error.answer()), request.protocol);
  } catch (const std::exception& error) {
    log_failure(request, error.what());
    return error_response(is_disk_full(error) ? disk_full() : ApiError(internal_server_error, internal_error),
                          request.protocol);
  }
}

}  // namespace agw
