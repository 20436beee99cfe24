#pragma once

#include <map>
#include <memory>
#include <string>

#include "features/cluster/types.hpp"
#include "tools/tool.hpp"

namespace agw {

class Integrations;
class NodeBus;

/// Calls of tools of MCP servers that other nodes run, and calls that other nodes make here; the questions to the
/// person that a server asks during a call go back the other way.
///
/// It needs nodes: tests/cluster/test_stdio_servers.py shows the use.
class PassedCalls {
public:
  /// `node`: this one's name. `bus`, null without NATS, outlives this.
  PassedCalls(Loop& loop, Integrations& integrations, std::string node)
      : loop_(loop), integrations_(integrations), node_(std::move(node)) {}
  ~PassedCalls();

  void use(NodeBus& bus) { bus_ = &bus; }

  /// Has the node call a tool of the integration (its id). Failures become error results.
  Task<ToolOutcome> call(std::string node, std::string integration, std::string tool, const ToolCall& call);

  /// Whether the request is a call or a question, which no client can send: their methods are no route's.
  static bool is_one(const PassedRequest& request);
  Task<Response> answer(PassedRequest request, StopSource& stop);

private:
  /// A call at another node.
  struct Caller;

  Task<ToolOutcome> pass_on(std::string node, PassedRequest request, StopSource& stop);
  Task<Response> answer_call(PassedRequest request, StopSource& stop);
  Task<Response> answer_question(PassedRequest request, StopSource& stop);
  Task<PersonAnswer> ask(std::string node, std::string call_id, PersonQuestion question, StopSource& stop);

  Loop& loop_;
  Integrations& integrations_;
  const std::string node_;
  NodeBus* bus_ = nullptr;
  std::map<std::string, std::shared_ptr<Caller>> callers_;  ///< with a person, by an id of their own
};

}  // namespace agw
