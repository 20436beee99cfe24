#pragma once

#include <list>
#include <string>

#include "base/json.hpp"
#include "features/events/event.hpp"

namespace agw {

/// Someone who is told of every event, on the loop, in the order of publishing. Must not block and must not throw.
class Reader {
public:
  virtual ~Reader() = default;
  virtual void deliver(const SharedEvent& event) = 0;
};

/// Where features publish events, and sockets and triggers hear them.
class Hub {
public:
  /// Adds a reader for as long as the returned handle lives.
  class Listening {
  public:
    Listening(Hub& hub, Reader& reader);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

  private:
    Hub& hub_;
    std::list<Reader*>::iterator place_;
  };

  /// Publishes a message that is complete JSON.
  void publish(Event event);

  /// `{"type": <type>, "threadId": <thread_id>, <name>: <record>}`: the kinds that carry a whole record. Without
  /// `thread_id` it is gateway-wide. `record` is JSON text.
  void publish_record(std::string_view type, std::string_view thread_id, std::string_view name, std::string_view record,
                      EventCause cause = {});

  /// Whether anybody listens: where not, events need not be made.
  bool heard() const { return !readers_.empty(); }

private:
  std::list<Reader*> readers_;
};

}  // namespace agw
