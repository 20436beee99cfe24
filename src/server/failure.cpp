#include "server/failure.hpp"

#include "api/refusals.hpp"
#include "base/log_ids.hpp"
#include "io/disk_full.hpp"
#include "server/response.hpp"
#include "storage/connection.hpp"

namespace agw {

namespace {

constexpr int our_fault = 500;

void tell(const RequestName& request, std::string_view why) {
  log::error({.request = request.id}, "{} {}: {}", request.method, request.path, why);
}

}  // namespace

Answer answer_of_failure(const std::exception_ptr& failure, const RequestName& request) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    // A fault of ours can have a name of its own.
    if (error.status() == our_fault)
      tell(request, error.extra().empty() ? error.error() : error.error() + " " + to_json(error.extra()));
    return error_answer(error);
  } catch (const DiskFull& error) {
    tell(request, error.what());
    return error_answer(disk_full());
  } catch (const std::exception& error) {
    tell(request, error.what());
    return is_disk_full(error) ? error_answer(disk_full()) : error_answer(our_fault, internal_error);
  }
}

}  // namespace agw
