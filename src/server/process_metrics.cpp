#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "server/metrics.hpp"

namespace agw {

namespace {

double seconds(const timeval& time) {
  constexpr double million = 1e6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / million;
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all_pages = 0;
  double resident_pages = 0;
  file >> all_pages >> resident_pages;
  return resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_files() {
  std::error_code none;
  return static_cast<double>(std::distance(std::filesystem::directory_iterator("/proc/self/fd", none), {}));
}

}  // namespace

void add_process_metrics(Metrics& metrics) {
  using Kind = Metrics::Kind;
  const auto started = std::chrono::system_clock::now().time_since_epoch();
  metrics.add("process_start_time_seconds", Kind::gauge, "Start of the process since the epoch.",
              [start = std::chrono::duration<double>(started).count()] { return start; });
  metrics.add("process_cpu_seconds_total", Kind::counter, "Processor time, user and system.", processor_seconds);
  metrics.add("process_resident_memory_bytes", Kind::gauge, "Resident memory.", resident_bytes);
  metrics.add("process_open_fds", Kind::gauge, "Open file descriptors.", open_files);
}

}  // namespace agw
