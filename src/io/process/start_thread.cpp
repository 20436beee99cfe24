#include "io/process/start_thread.hpp"

#include <cstring>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/async/assert.hpp"
#include "io/process/scoped_signal_block.hpp"

namespace agw {

namespace {

void* run_body(void* argument) noexcept {
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  (*body)();
  return nullptr;
}

}  // namespace

pthread_t start_thread(const char* name, std::function<void()> body, std::size_t stack_size) {
  AGW_ASSERT(std::strlen(name) <= 15);
  auto argument = std::make_unique<std::function<void()>>(std::move(body));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_size);
  pthread_t handle{};
  int error = 0;
  {
    const ScopedSignalBlock signals_are_for_the_main_thread;
    error = pthread_create(&handle, &attributes, run_body, argument.get());
  }
  pthread_attr_destroy(&attributes);
  if (error) throw std::system_error(error, std::generic_category(), "cannot start a thread");
  std::ignore = argument.release();                // owned by the thread
  std::ignore = pthread_setname_np(handle, name);  // for debuggers only
  return handle;
}

}  // namespace agw
