#include "io/process/worker_thread.hpp"

#include <cstddef>
#include <utility>

#include "io/process/start_thread.hpp"

namespace agw {

namespace {

constexpr std::size_t worker_stack_size = 1 << 20;

}  // namespace

WorkerThread::WorkerThread(const char* name, std::function<void()> body)
    : handle_(start_thread(name, std::move(body), worker_stack_size)) {}

WorkerThread::~WorkerThread() { pthread_join(handle_, nullptr); }

}  // namespace agw
