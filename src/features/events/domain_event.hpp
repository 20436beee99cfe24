#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json/described.hpp"
#include "features/events/types.hpp"

namespace agw {

/// A reference to a described struct of any type.
class RecordView {
public:
  RecordView() = default;
  template <DescribedStruct T>
  RecordView(const T& record) : description_(&describe(Tag<T>{})), record_(&record) {}

  /// Returns the record, or null if it has another type.
  template <DescribedStruct T>
  const T* as() const {
    return description_ == &describe(Tag<T>{}) ? static_cast<const T*>(record_) : nullptr;
  }

  // Only if the view refers to a record.

  json::object members() const;
  void append_to(std::string& json) const;

private:
  const Description* description_ = nullptr;
  const void* record_ = nullptr;
};

/// A message to clients, shared by all sockets that send it.
using SharedMessage = std::shared_ptr<const std::string>;

/// An event for later rooms, job triggers and clients. It refers to data of its publisher, so it is valid only during
/// the call that publishes it.
struct DomainEvent {
  std::string name = {};            ///< for job triggers: `turn.created`; empty: triggers cannot match it
  std::string_view type = {};       ///< for clients: `turn-created`; empty: not sent to clients
  std::string_view thread_id = {};  ///< empty: the event belongs to no thread
  std::string_view member = {};     ///< the name of the record in the message to clients
  RecordView record = {};           ///< the state after the event
  EventCause cause = {};
  std::string_view former_name = {};  ///< of an extension that was given another name; otherwise empty
  /// Another node of the cluster made the change, published it there, and handled its consequences.
  bool is_from_another_node = false;

  /// The message to clients, as JSON, if it is not made from the members above. `message` moves it.
  mutable std::string text = {};

  /// `{"type": <type>, "threadId": <thread_id>, <member>: <record>}`, or `text`. Created when the first client needs
  /// it.
  const SharedMessage& message() const;
  /// The members of `message`.
  json::object message_members() const;
  mutable SharedMessage made_message = {};
};

}  // namespace agw
