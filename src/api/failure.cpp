#include "api/failure.hpp"

#include "api/refusals.hpp"
#include "io/files/disk_full.hpp"
#include "storage/connection.hpp"

namespace agw {

namespace {

constexpr int internal_server_error = 500;
constexpr int service_unavailable = 503;

}  // namespace

Failure as_failure(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const ApiError& error) {
    // Some internal errors are ApiErrors with a specific text.
    if (error.status() != internal_server_error) return {error, {}};
    return {error, error.extra().empty() ? error.error() : error.error() + " " + to_json(error.extra())};
  } catch (const DiskFull& error) {
    return {disk_full(), error.what()};
  } catch (const ThreadElsewhere&) {
    return {ApiError(service_unavailable, "another node answers on the thread, try again"), {}};
  } catch (const DatabaseUnavailable& error) {
    return {ApiError(service_unavailable, error.answer()), error.what()};
  } catch (const std::system_error& error) {
    return {is_disk_full(error.code()) ? disk_full() : ApiError(internal_server_error, internal_error), error.what()};
  } catch (const std::exception& error) {
    return {ApiError(internal_server_error, internal_error), error.what()};
  }
}

}  // namespace agw
