#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/ip/address.hpp>

#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "base/async/task.hpp"

namespace agw {

/// Resolves host names with the system's resolver, each lookup on its own thread. A name server that does not respond
/// blocks a lookup for half a minute, uninterruptibly. No other code waits for the thread: a cancelled caller continues
/// immediately, and the process can end. Concurrent callers share the lookup of a name.
///
/// All lookups on a loop share 64 threads, including those whose caller is gone; further lookups wait for a free one.
/// Programs use at most 48 of them, so that they cannot block the gateway's own lookups.
/// Example: src/io/process/host_lookups_test.cpp: HostLookupsTest.FindsTheAddressesOfThisHost
class HostLookups {
public:
  struct Answer {
    std::vector<asio::ip::address> addresses;
    std::string problem{};  ///< the reason why there are no addresses
  };
  /// Runs on any thread, perhaps after the destruction of all other objects, so it may use only what it owns.
  using Ask = std::function<Answer(const std::string& host)>;
  static Answer ask_system(const std::string& host);

  enum class For { gateway, programs };
  explicit HostLookups(Loop& loop, Ask ask = ask_system, For whom = For::gateway);
  ~HostLookups();
  HostLookups(const HostLookups&) = delete;
  HostLookups& operator=(const HostLookups&) = delete;

  Task<Answer> find(std::string host);

private:
  struct Lookup;
  class Threads;

  bool may_begin() const;
  std::shared_ptr<Lookup> begin(const std::string& host);
  void end(const std::string& host, Answer answer);

  ThreadChecker checker_;
  Loop& loop_;
  const Ask ask_;
  const std::size_t max_threads_;
  Threads& threads_;
  std::shared_ptr<HostLookups*> self_;  ///< used on the loop only; null after the destruction
  std::map<std::string, std::shared_ptr<Lookup>> active_;
  AsyncEvent any_has_ended_;
};

}  // namespace agw
