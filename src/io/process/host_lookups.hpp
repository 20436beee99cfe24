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

/// Asks the system for the addresses of hosts, each on a thread of its own: a name server that does not answer holds up
/// a lookup for half a minute, and nothing can interrupt it. So nobody has to wait for it: a cancelled caller goes on
/// at once, and so does the end of the process. Callers that ask for the same name share a lookup.
/// Example: src/io/process/host_lookups_test.cpp: HostLookupsTest.FindsTheAddressesOfThisHost
class HostLookups {
public:
  struct Answer {
    std::vector<asio::ip::address> addresses;
    std::string problem{};  ///< why there are none
  };
  /// Runs on any thread, maybe after everything else is gone: it may use only what it owns.
  using Ask = std::function<Answer(const std::string& host)>;
  static Answer ask_system(const std::string& host);

  explicit HostLookups(Loop& loop, Ask ask = ask_system);
  ~HostLookups();
  HostLookups(const HostLookups&) = delete;
  HostLookups& operator=(const HostLookups&) = delete;

  Task<Answer> find(std::string host);

private:
  struct Lookup;
  struct Line;

  std::shared_ptr<Lookup> begin(const std::string& host);
  void end(const std::string& host, Answer answer);

  [[no_unique_address]] ThreadChecker checker_;
  Loop& loop_;
  const Ask ask_;
  std::shared_ptr<Line> line_;
  std::map<std::string, std::shared_ptr<Lookup>> under_way_;
  AsyncEvent one_has_ended_;
};

}  // namespace agw
