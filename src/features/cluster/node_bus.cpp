// The messages between nodes.
//
// A node subscribes to two subjects: `agw.<cluster>.all`, like every node, and `agw.<cluster>.node.<name>`. Messages of
// one node arrive in the order in which it sent them, across both subjects. So an answer that states the progress of a
// run arrives after the events up to that point, and before the next one.
//
// Broadcast, in numbered frames: `event`, `presence` (the heartbeat, with the interests of the node's clients),
// `catch-up`. To one node: `request`, `ready`, `go`, then `response`; `still?`, then `working` or `unknown`; `stop`;
// `runs?`, then `runs`.
//
// NATS delivers at most once. A node that finds a gap in the numbers of another node has missed messages, so its
// clients reread the active runs (EventsMissed). Each node sends its presence every two seconds, so a gap is noticed
// within that time. A frame whose epoch or number is not higher than the latest is a replay, and is ignored.
//
// A request is executed at most once, and only while its sender waits. The receiver answers `ready` with a nonce. Only
// a `go` with that nonce, within five seconds, begins the work: a sender that has given up does not send it, and a
// replayed `go` has an old nonce. The sender waits at least seven seconds, and then for as long as `still?` is answered
// by `working`. The answer `unknown` means that the response was lost. A sender that no longer needs the response sends
// `stop`. If it sends no `still?` any more, it is lost, which has the same effect.

#include "features/cluster/node_bus.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/extensions/service.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto heartbeat_interval = 2s;
constexpr auto lost_after = 7s;
constexpr auto offer_lifetime = 5s;
constexpr std::size_t max_offers = 1'000;
constexpr std::size_t nonce_size = 16;
constexpr auto response_timeout = 2s;
constexpr auto progress_interval = 1s;
constexpr int service_unavailable = 503;
constexpr std::size_t max_sent_threads = 1'000;
constexpr std::size_t frame_size = NatsConnection::max_payload - 16 * 1024;

static_assert(3 * heartbeat_interval < lost_after);  // two may be missing
static_assert(3 * progress_interval < lost_after);
// A request that its sender has given up must not begin.
static_assert(offer_lifetime < lost_after);
// A sender that waits for `ready` gives up before its offer does.
static_assert(response_timeout < offer_lifetime);
static_assert(frame_size < NatsConnection::max_payload);
static_assert(NatsConnection::max_payload < NodeMessageReader::max_size);

json::object head_of(const Interests& interests) {
  json::array answers;
  for (const auto& thread : interests.answers) answers.emplace_back(thread);
  json::array devices;
  for (const auto& device : interests.devices) devices.emplace_back(device);
  return {{"answersAll", interests.answers_all}, {"answers", std::move(answers)}, {"devices", std::move(devices)}};
}

Interests interests_of(const json::object& head) {
  const auto answers = strings_of(head, "answers");
  const auto devices = strings_of(head, "devices");
  return {.answers_all = is_true(head, "answersAll"),
          .answers = {answers.begin(), answers.end()},
          .devices = {devices.begin(), devices.end()}};
}

ApiError lost_while_answering(const std::string& node) {
  return ApiError(service_unavailable,
                  fmt::format("the node {} was lost while it answered, see what became of it and try again", node));
}

}  // namespace

struct NodeBus::PendingCall {
  explicit PendingCall(Loop& loop) : changed(loop) {}

  AsyncEvent changed;   ///< pulsed at each answer
  std::string nonce{};  ///< from `ready`; empty before
  Clock::time_point heard_at;
  bool is_unknown = false;  ///< the other node answered `unknown`
  std::vector<NodeMessage> answers;
};

NodeBus::NodeBus(Loop& loop, Hub& hub, Options options, Handlers handlers)
    : loop_(loop),
      hub_(hub),
      options_(std::move(options)),
      handlers_(std::move(handlers)),
      all_(fmt::format("agw.{}.all", options_.cluster)),
      reader_(options_.secret),
      connection_(loop, {.address = options_.address,
                         .key = options_.key,
                         .name = "agw " + options_.node,
                         .subjects = {all_, fmt::format("agw.{}.node.{}", options_.cluster, options_.node)},
                         .on_message = [this](const auto& subject, const auto& payload) { receive(subject, payload); },
                         .on_change = [this](bool is_connected) { connection_changed(is_connected); }}),
      listening_(hub, *this),
      group_(loop) {
  AGW_ASSERT(!options_.node.empty());
  AGW_ASSERT(!options_.cluster.empty());
  AGW_ASSERT(!options_.secret.empty());
  AGW_ASSERT(options_.epoch > 0);
  AGW_ASSERT(handlers_.serve);
  AGW_ASSERT(handlers_.active_runs);
  group_.on_failure([](const std::exception_ptr& failure) {
    log::warn("a message of another node was not answered: {}", message_of(failure));
  });
  hub_.on_interests([this] { interests_changed(); });
  send_presence(PresenceOfOthers::wanted);
  group_.spawn(send_heartbeats());
}

NodeBus::~NodeBus() { hub_.on_interests({}); }

Task<> NodeBus::stop() {
  stopping_.request();
  stop_served(Clock::time_point::max());
  co_await group_.join();
  AGW_DEBUG_ASSERT(served_.empty());
}

// Sending.

void NodeBus::send(const std::string& subject, NodeMessage message) {
  AGW_ASSERT(checker_.is_current());
  message.from = options_.node;
  message.epoch = options_.epoch;
  // Receivers look for gaps in broadcasts only.
  AGW_ASSERT((message.number > 0) == (subject == all_));
  AGW_ASSERT(message.number == 0 || message.number == number_ + 1);
  for (auto& frame : sealed_frames(options_.secret, subject, message, frame_size)) {
    // While disconnected, libnats would buffer the frame, and deliver it after clients have caught up.
    if (connection_.is_connected()) connection_.publish(subject, std::move(frame));
    if (message.number > 0) ++number_;
  }
}

void NodeBus::broadcast(std::string_view kind, json::object head, std::string body) {
  send(all_, {.number = number_ + 1, .kind = std::string(kind), .head = std::move(head), .body = std::move(body)});
}

void NodeBus::send_to(const std::string& node, std::string_view kind, const std::string& id, json::object head,
                      std::string body) {
  AGW_ASSERT(node != options_.node);
  send(fmt::format("agw.{}.node.{}", options_.cluster, node),
       {.kind = std::string(kind), .id = id, .head = std::move(head), .body = std::move(body)});
}

/// Changes of extensions reach other nodes through the table `changes`, which loses none.
void NodeBus::deliver(const DomainEvent& event) {
  if (event.is_from_another_node || event.type.empty() || event.record.as<Extension>()) return;
  broadcast("event", {{"type", event.type}, {"thread", event.thread_id}}, *event.message());
}

void NodeBus::send_presence(PresenceOfOthers others) {
  sent_interests_ = hub_.interests();
  // A list this long does not fit into a message.
  auto head =
      head_of(sent_interests_.answers.size() > max_sent_threads ? Interests{.answers_all = true} : sent_interests_);
  if (others == PresenceOfOthers::wanted) head["asks"] = true;
  broadcast("presence", std::move(head));
}

void NodeBus::interests_changed() {
  if (hub_.interests() != sent_interests_) send_presence();
}

Task<> NodeBus::send_heartbeats() {
  while (co_await pause(stopping_, heartbeat_interval) == WaitResult::done) {
    send_presence();
    std::erase_if(offers_, [](const auto& offer) { return Clock::now() - offer.second.at > offer_lifetime; });
    stop_served(Clock::now() - lost_after);
  }
}

void NodeBus::connection_changed(bool is_connected) {
  if (!is_connected) return;
  send_presence(PresenceOfOthers::wanted);
  announce_missed("the NATS server was away");
}

void NodeBus::have_all_catch_up(const std::string& why) {
  broadcast("catch-up", {{"why", why}});
  announce_missed(why);
}

// Receiving.

void NodeBus::receive(const std::string& subject, const std::string& payload) {
  AGW_ASSERT(checker_.is_current());
  auto frame = reader_.take(subject, payload);
  if (!frame) {
    if (!std::exchange(has_warned_, true))
      log::warn("ignoring messages to {} on the NATS server that no node of this cluster has sealed", subject);
    return;
  }
  if (frame->from == options_.node) return;
  if (frame->number > 0 && !is_new_frame(*frame)) return;
  if (!frame->message) return;
  try {
    handle(std::move(*frame->message));
  } catch (const std::exception& error) {
    // The loop would end. Nodes may be a release apart.
    log::warn("a message of the node {} is ignored: {}", frame->from, error.what());
  }
}

/// Records the number of a broadcast frame. Returns false for a replay.
bool NodeBus::is_new_frame(const NodeMessageReader::Frame& frame) {
  AGW_ASSERT(frame.number > 0);
  AGW_ASSERT(frame.from != options_.node);
  auto& node = nodes_[frame.from];
  if (frame.epoch < node.epoch || (frame.epoch == node.epoch && frame.number <= node.number)) return false;
  node.is_new = node.epoch != frame.epoch;
  // The first frame received from a node that started before this one may have any number.
  const bool can_be_first = node.is_new && node.epoch == 0 && frame.epoch < options_.epoch;
  const auto expected = node.is_new ? 1 : node.number + 1;
  node.heard_at = Clock::now();
  node.epoch = frame.epoch;
  node.number = frame.number;
  if (frame.number != expected && !can_be_first)
    announce_missed(fmt::format("messages of the node {} did not arrive", frame.from));
  return true;
}

void NodeBus::announce_missed(const std::string& why) {
  log::info("clients are told to catch up: {}", why);
  hub_.publish({.record = EventsMissed{why}, .is_from_another_node = true});
}

bool NodeBus::is_alive(const OtherNode& node) const { return Clock::now() - node.heard_at < lost_after; }

void NodeBus::handle(NodeMessage message) {
  if (message.kind == "event") return handle_event(message);
  if (message.kind == "presence") return handle_presence(message);
  if (message.kind == "catch-up") return announce_missed(string_or_empty(message.head, "why"));
  if (message.kind == "runs?") return send_runs(message);
  if (message.kind == "request") return handle_request(std::move(message));
  if (message.kind == "go") return handle_go(message);
  if (message.kind == "still?") return send_progress(message);
  if (message.kind == "stop") return handle_stop(message);
  handle_answer(std::move(message));
}

void NodeBus::handle_event(NodeMessage& message) {
  AGW_ASSERT(message.from != options_.node);
  const auto type = string_or_empty(message.head, "type");
  const auto thread = string_or_empty(message.head, "thread");
  if (type.empty() || message.body.empty()) return;  // no node sends such an event
  hub_.publish({.type = type, .thread_id = thread, .is_from_another_node = true, .text = std::move(message.body)});
}

void NodeBus::handle_presence(const NodeMessage& message) {
  AGW_ASSERT(message.from != options_.node);
  auto& node = nodes_[message.from];
  node.interests = interests_of(message.head);
  if (!is_true(message.head, "asks")) return;
  send_presence();
  // The node had lost NATS, so its runs were missing when clients asked for the active ones.
  if (!node.is_new) announce_missed(fmt::format("the node {} is there again", message.from));
}

void NodeBus::send_runs(const NodeMessage& question) {
  const auto names = strings_of(parse_stored_json(question.body).as_array());
  const std::set<std::string, std::less<>> threads(names.begin(), names.end());
  send_to(question.from, "runs", question.id, {}, to_json(json::value(handlers_.active_runs(&threads))));
}

void NodeBus::handle_request(NodeMessage message) {
  if (stopping_.requested() || offers_.size() >= max_offers) return;
  auto nonce = random_hex(nonce_size);
  AGW_ASSERT(nonce.size() == 2 * nonce_size);
  AGW_ASSERT(!offers_.contains(nonce));
  send_to(message.from, "ready", message.id, {{"nonce", nonce}});
  offers_.emplace(std::move(nonce), Offer{std::move(message), Clock::now()});
  AGW_ASSERT(offers_.size() <= max_offers);
}

void NodeBus::handle_go(const NodeMessage& message) {
  const auto offer = offers_.extract(string_or_empty(message.head, "nonce"));
  if (!offer || stopping_.requested()) return;
  auto& [offered, at] = offer.mapped();
  AGW_ASSERT(offered.kind == "request");
  AGW_ASSERT(offered.from != options_.node);
  // The sender may have given up while this node was unresponsive.
  if (offered.from != message.from || offered.id != message.id || Clock::now() - at > offer_lifetime) return;
  // Each request is sent once.
  if (!served_.emplace(std::pair(offered.from, offered.id), std::make_shared<Served>()).second) return;
  group_.spawn(serve(std::move(offered)));
}

Task<> NodeBus::serve(NodeMessage message) {
  AGW_ASSERT(served_.contains({message.from, message.id}));
  const auto from = message.from;
  const auto id = message.id;
  const auto served = served_.at({from, id});
  std::exception_ptr failure;
  try {
    auto response = co_await handlers_.serve(passed_request(message.head, std::move(message.body)), served->stop);
    auto head = head_of(response);
    send_to(from, "response", id, std::move(head), std::move(response.body));
  } catch (...) {
    failure = std::current_exception();
  }
  AGW_ASSERT(served_.contains({from, id}));
  served_.erase({from, id});
  if (failure) std::rethrow_exception(failure);
}

void NodeBus::send_progress(const NodeMessage& question) {
  const auto found = served_.find({question.from, question.id});
  if (found != served_.end()) found->second->asked_at = Clock::now();
  send_to(question.from, found != served_.end() ? "working" : "unknown", question.id, {});
}

/// Stops the requests whose sender has not asked for progress since then.
void NodeBus::stop_served(Clock::time_point since) {
  const auto all = served_;
  for (const auto& [name, served] : all) {
    if (served->asked_at < since) served->stop.request();
  }
}

void NodeBus::handle_stop(const NodeMessage& message) {
  const auto found = served_.find({message.from, message.id});
  if (found != served_.end()) found->second->stop.request();
}

void NodeBus::handle_answer(NodeMessage message) {
  const auto found = pending_calls_.find(message.id);
  if (found == pending_calls_.end()) return;
  auto& waiting = *found->second;
  waiting.heard_at = Clock::now();
  if (message.kind == "ready")
    waiting.nonce = string_or_empty(message.head, "nonce");
  else if (message.kind == "unknown")
    waiting.is_unknown = true;
  else if (message.kind != "working")
    waiting.answers.push_back(std::move(message));
  waiting.changed.pulse();
}

bool NodeBus::awaits(std::string_view) const {
  return std::ranges::any_of(nodes_, [this](const auto& node) { return is_alive(node.second); });
}

bool NodeBus::answers(std::string_view thread_id) const {
  return std::ranges::any_of(nodes_, [&](const auto& node) {
    const auto& interests = node.second.interests;
    return is_alive(node.second) && (interests.answers_all || interests.answers.contains(std::string(thread_id)));
  });
}

bool NodeBus::is_shown_on(std::string_view device) const {
  return std::ranges::any_of(nodes_, [&](const auto& node) {
    return is_alive(node.second) && node.second.interests.devices.contains(std::string(device));
  });
}

// Calls to other nodes.

namespace {

/// Keeps a call in the map of pending calls during its lifetime.
template <class Questions>
class ScopedEntry {
public:
  ScopedEntry(Questions& questions, typename Questions::mapped_type waiting) : questions_(questions) {
    AGW_ASSERT(waiting);
    const auto [place, is_new] = questions.emplace(new_id(), std::move(waiting));
    // Otherwise two calls would share their answers.
    AGW_ASSERT(is_new);
    place_ = place;
  }
  ~ScopedEntry() { questions_.erase(place_); }
  ScopedEntry(const ScopedEntry&) = delete;
  ScopedEntry& operator=(const ScopedEntry&) = delete;

  const std::string& id() const { return place_->first; }

private:
  Questions& questions_;
  typename Questions::iterator place_;
};

}  // namespace

Task<std::optional<Response>> NodeBus::pass_on(std::string node, PassedRequest request, StopSource* stop) {
  StopSource ending;
  const StopSource::Listener stopping(stopping_, [&] { ending.request(); });
  StopSource never;
  const StopSource::Listener stopped(stop ? *stop : never, [&] { ending.request(); });
  // Another node may name this one although the program has moved.
  if (node == options_.node || !connection_.is_connected() || stopping_.requested()) co_return std::nullopt;
  AGW_ASSERT(!node.empty());
  const auto waiting = std::make_shared<PendingCall>(loop_);
  const ScopedEntry asked(pending_calls_, waiting);
  auto head = head_of(request);
  send_to(node, "request", asked.id(), std::move(head), std::move(request.content));
  const auto until_ready = [](std::shared_ptr<PendingCall> one) -> Task<> {
    while (one->nonce.empty()) co_await one->changed.wait();
  };
  if (co_await with_timeout(ending, response_timeout, until_ready(waiting)) != WaitResult::done) co_return std::nullopt;
  send_to(node, "go", asked.id(), {{"nonce", waiting->nonce}});
  const auto until_answered = [](std::shared_ptr<PendingCall> one) -> Task<> {
    while (one->answers.empty() && !one->is_unknown) co_await one->changed.wait();
  };
  while (waiting->answers.empty()) {
    const auto end = co_await with_timeout(ending, progress_interval, until_answered(waiting));
    if (!waiting->answers.empty()) break;
    if (end == WaitResult::stopped) send_to(node, "stop", asked.id(), {});
    if (end == WaitResult::stopped || waiting->is_unknown || Clock::now() - waiting->heard_at > lost_after)
      throw lost_while_answering(node);
    send_to(node, "still?", asked.id(), {});
  }
  AGW_ASSERT(!waiting->answers.empty());
  auto& answer = waiting->answers.front();
  co_return passed_response(answer.head, std::move(answer.body));
}

Task<json::array> NodeBus::runs_elsewhere(std::set<std::string, std::less<>> threads) {
  json::array runs;
  if (threads.empty() || !connection_.is_connected()) co_return runs;
  const auto waiting = std::make_shared<PendingCall>(loop_);
  const ScopedEntry asked(pending_calls_, waiting);
  json::array names;
  for (const auto& thread : threads) names.emplace_back(thread);
  std::size_t count = 0;
  for (const auto& [name, node] : nodes_) {
    if (!is_alive(node)) continue;
    send_to(name, "runs?", asked.id(), {}, to_json(json::value(names)));
    ++count;
  }
  const auto until_answered = [](std::shared_ptr<PendingCall> one, std::size_t wanted) -> Task<> {
    while (one->answers.size() < wanted) co_await one->changed.wait();
  };
  co_await with_timeout(stopping_, response_timeout, until_answered(waiting, count));
  for (const auto& answer : waiting->answers) {
    auto told = parse_stored_json(answer.body);
    for (auto& run : told.as_array()) runs.push_back(std::move(run));
  }
  co_return runs;
}

}  // namespace agw
