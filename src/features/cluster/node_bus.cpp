// Messages between nodes.
//
// A node has two subjects: `agw.<cluster>.all`, which all hear, and `agw.<cluster>.node.<name>`. Everything that one
// node sends arrives in the order in which it was sent, across both. So an answer that says how far a run has come
// arrives after all events of the run up to there, and before the next.
//
// To all, in frames that are counted: `event`, `presence` (who is there, and what its clients look at), `catch-up`. To
// one node: `request`, `ready`, `go`, then `response`; `still?`, then `working` or `unknown`; `stop`; `runs?`, then
// `runs`.
//
// NATS delivers at most once. Who finds a gap in the numbers of another node has missed something, and has its clients
// reread the active runs (EventsMissed). Each node reports its presence every two seconds, so a gap does not stay
// unseen for longer. A number or epoch that is not higher than the latest is of somebody who sends again what he has
// recorded.
//
// A request is carried out at most once, and only while its asker waits. The node that gets it answers `ready` with a
// nonce. Only a `go` with that nonce begins the work, within five seconds: an asker that has given up does not send it,
// and one that was recorded has a nonce of the past. Its sender waits for at least seven seconds, and then for as long
// as `still?` is answered by `working`. After `unknown`, the response was lost. A node that needs the response no
// longer says `stop`; one that asks no more is lost, which counts as that.

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

constexpr auto between_presences = 2s;
constexpr auto lost_after = 7s;
constexpr auto offer_stands = 5s;  // less than `lost_after`
constexpr std::size_t max_offers = 1'000;
constexpr std::size_t nonce_size = 16;
constexpr auto patience_with_nodes = 2s;
constexpr auto between_looks_at_node = 1s;
constexpr int service_unavailable = 503;
constexpr std::size_t max_told_threads = 1'000;
constexpr std::size_t frame_size = NatsConnection::max_payload - 16 * 1024;

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

ApiError lost_meanwhile(const std::string& node) {
  return ApiError(service_unavailable,
                  fmt::format("the node {} was lost while it answered, see what became of it and try again", node));
}

}  // namespace

struct NodeBus::Waiting {
  explicit Waiting(Loop& loop) : changed(loop) {}

  AsyncEvent changed;   ///< pulsed with each answer
  std::string nonce{};  ///< of the node that is ready to answer
  Clock::time_point heard_at;
  bool is_unknown = false;  ///< there, as the answer was lost
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
                         .on_message = [this](const auto& subject, const auto& payload) { take(subject, payload); },
                         .on_change = [this](bool is_connected) { connection_changed(is_connected); }}),
      listening_(hub, *this),
      group_(loop) {
  group_.on_failure([](const std::exception_ptr& failure) {
    log::warn("a message of another node was not answered: {}", message_of(failure));
  });
  hub_.on_interests([this] { interests_changed(); });
  tell_presence(true);
  group_.spawn(beat());
}

NodeBus::~NodeBus() { hub_.on_interests({}); }

Task<> NodeBus::stop() {
  stopping_.request();
  stop_served(Clock::time_point::max());
  co_await group_.join();
}

// The messages to others.

void NodeBus::send(const std::string& subject, NodeMessage message) {
  message.from = options_.node;
  message.epoch = options_.epoch;
  AGW_ASSERT(message.number == 0 || message.number == number_ + 1);
  for (auto& frame : sealed_frames(options_.secret, subject, message, frame_size)) {
    // Otherwise libnats would keep it for later, when clients have long caught up.
    if (connection_.is_connected()) connection_.publish(subject, std::move(frame));
    if (message.number > 0) ++number_;
  }
}

void NodeBus::tell_all(std::string_view kind, json::object head, std::string body) {
  send(all_, {.number = number_ + 1, .kind = std::string(kind), .head = std::move(head), .body = std::move(body)});
}

void NodeBus::tell(const std::string& node, std::string_view kind, const std::string& id, json::object head,
                   std::string body) {
  AGW_ASSERT(node != options_.node && !kind.empty());
  send(fmt::format("agw.{}.node.{}", options_.cluster, node),
       {.kind = std::string(kind), .id = id, .head = std::move(head), .body = std::move(body)});
}

/// Changes of extensions reach other nodes by the table `changes`, which is never away.
void NodeBus::deliver(const DomainEvent& event) {
  if (event.is_from_another_node || event.type.empty() || event.record.as<Extension>()) return;
  tell_all("event", {{"type", event.type}, {"thread", event.thread_id}}, *event.message());
}

void NodeBus::tell_presence(bool asks_for_others) {
  told_ = hub_.interests();
  // So many do not fit into a message.
  auto head = head_of(told_.answers.size() > max_told_threads ? Interests{.answers_all = true} : told_);
  if (asks_for_others) head["asks"] = true;
  tell_all("presence", std::move(head));
}

void NodeBus::interests_changed() {
  if (hub_.interests() != told_) tell_presence(false);
}

Task<> NodeBus::beat() {
  while (co_await pause(stopping_, between_presences) == WaitResult::done) {
    tell_presence(false);
    std::erase_if(offers_, [](const auto& offer) { return Clock::now() - offer.second.at > offer_stands; });
    stop_served(Clock::now() - lost_after);
  }
}

void NodeBus::connection_changed(bool is_connected) {
  if (!is_connected) return;
  tell_presence(true);
  miss("the NATS server was away");
}

void NodeBus::have_all_catch_up(const std::string& why) {
  tell_all("catch-up", {{"why", why}});
  miss(why);
}

// What others tell.

void NodeBus::take(const std::string& subject, const std::string& payload) {
  auto frame = reader_.take(subject, payload);
  if (!frame) {
    if (!std::exchange(has_warned_, true))
      log::warn("somebody who is no node of this cluster sends messages to {} on the NATS server", subject);
    return;
  }
  if (frame->from == options_.node) return;
  if (frame->number > 0 && !take_number(*frame)) return;
  if (frame->message) handle(std::move(*frame->message));
}

/// Whether the frame is new.
bool NodeBus::take_number(const NodeMessageReader::Frame& frame) {
  AGW_ASSERT(frame.number > 0 && frame.from != options_.node);
  auto& node = nodes_[frame.from];
  if (frame.epoch < node.epoch || (frame.epoch == node.epoch && frame.number <= node.number)) return false;
  node.is_new = node.epoch != frame.epoch;
  // Of a node that was there before this one, any frame can be the first that is heard.
  const bool can_be_first = node.is_new && node.epoch == 0 && frame.epoch < options_.epoch;
  const auto expected = node.is_new ? 1 : node.number + 1;
  node.heard_at = Clock::now();
  node.epoch = frame.epoch;
  node.number = frame.number;
  if (frame.number != expected && !can_be_first)
    miss(fmt::format("messages of the node {} did not arrive", frame.from));
  return true;
}

void NodeBus::miss(const std::string& why) {
  log::info("clients are told to catch up: {}", why);
  hub_.publish({.record = EventsMissed{why}, .is_from_another_node = true});
}

bool NodeBus::is_there(const OtherNode& node) const { return Clock::now() - node.heard_at < lost_after; }

void NodeBus::handle(NodeMessage message) {
  if (message.kind == "event") return take_event(message);
  if (message.kind == "presence") return take_presence(message);
  if (message.kind == "catch-up") return miss(string_or_empty(message.head, "why"));
  if (message.kind == "runs?") return tell_runs(message);
  if (message.kind == "request") return take_offer(std::move(message));
  if (message.kind == "go") return take_go(message);
  if (message.kind == "still?") return tell_progress(message);
  if (message.kind == "stop") return take_stop(message);
  take_answer(std::move(message));
}

void NodeBus::take_event(NodeMessage& message) {
  AGW_ASSERT(message.from != options_.node);
  const auto type = string_or_empty(message.head, "type");
  const auto thread = string_or_empty(message.head, "thread");
  hub_.publish({.type = type, .thread_id = thread, .is_from_another_node = true, .text = std::move(message.body)});
}

void NodeBus::take_presence(const NodeMessage& message) {
  AGW_ASSERT(message.from != options_.node);
  auto& node = nodes_[message.from];
  node.interests = interests_of(message.head);
  if (!is_true(message.head, "asks")) return;
  tell_presence(false);
  // It has lost NATS, and was not there when clients asked what is under way.
  if (!node.is_new) miss(fmt::format("the node {} is there again", message.from));
}

void NodeBus::tell_runs(const NodeMessage& question) {
  const auto names = strings_of(parse_stored_json(question.body).as_array());
  const std::set<std::string, std::less<>> threads(names.begin(), names.end());
  tell(question.from, "runs", question.id, {}, to_json(json::value(handlers_.active_runs(&threads))));
}

void NodeBus::take_offer(NodeMessage message) {
  if (stopping_.requested() || offers_.size() >= max_offers) return;
  auto nonce = random_hex(nonce_size);
  AGW_ASSERT(nonce.size() == 2 * nonce_size && !offers_.contains(nonce));
  tell(message.from, "ready", message.id, {{"nonce", nonce}});
  offers_.emplace(std::move(nonce), Offer{std::move(message), Clock::now()});
}

void NodeBus::take_go(const NodeMessage& message) {
  const auto offer = offers_.extract(string_or_empty(message.head, "nonce"));
  if (!offer || stopping_.requested()) return;
  auto& [offered, at] = offer.mapped();
  // The asker may have given up while this node hung.
  if (offered.from != message.from || offered.id != message.id || Clock::now() - at > offer_stands) return;
  served_.emplace(std::pair(offered.from, offered.id), std::make_shared<Served>());
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
    tell(from, "response", id, std::move(head), std::move(response.body));
  } catch (...) {
    failure = std::current_exception();
  }
  served_.erase({from, id});
  if (failure) std::rethrow_exception(failure);
}

void NodeBus::tell_progress(const NodeMessage& question) {
  const auto found = served_.find({question.from, question.id});
  if (found != served_.end()) found->second->asked_at = Clock::now();
  tell(question.from, found != served_.end() ? "working" : "unknown", question.id, {});
}

/// Those about which no node has asked since then.
void NodeBus::stop_served(Clock::time_point since) {
  const auto all = served_;
  for (const auto& [name, served] : all) {
    if (served->asked_at < since) served->stop.request();
  }
}

void NodeBus::take_stop(const NodeMessage& message) {
  const auto found = served_.find({message.from, message.id});
  if (found != served_.end()) found->second->stop.request();
}

void NodeBus::take_answer(NodeMessage message) {
  const auto found = waiting_.find(message.id);
  if (found == waiting_.end()) return;
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
  return std::ranges::any_of(nodes_, [this](const auto& node) { return is_there(node.second); });
}

bool NodeBus::answers(std::string_view thread_id) const {
  return std::ranges::any_of(nodes_, [&](const auto& node) {
    const auto& interests = node.second.interests;
    return is_there(node.second) && (interests.answers_all || interests.answers.contains(std::string(thread_id)));
  });
}

bool NodeBus::is_shown_on(std::string_view device) const {
  return std::ranges::any_of(nodes_, [&](const auto& node) {
    return is_there(node.second) && node.second.interests.devices.contains(std::string(device));
  });
}

// Questions to other nodes.

namespace {

/// Keeps a question in the list of those that wait, for as long as it lives.
template <class Questions>
class Asked {
public:
  Asked(Questions& questions, typename Questions::mapped_type waiting)
      : questions_(questions), place_(questions.emplace(new_id(), std::move(waiting)).first) {
    AGW_ASSERT(place_->second && !place_->first.empty());
  }
  ~Asked() { questions_.erase(place_); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  const std::string& id() const { return place_->first; }

private:
  Questions& questions_;
  typename Questions::iterator place_;
};

}  // namespace

Task<std::optional<Response>> NodeBus::pass_on(std::string node, PassedRequest request, StopSource* stop) {
  AGW_ASSERT(node != options_.node);
  StopSource ending;
  const StopSource::Listener stopping(stopping_, [&] { ending.request(); });
  StopSource never;
  const StopSource::Listener stopped(stop ? *stop : never, [&] { ending.request(); });
  if (!connection_.is_connected() || stopping_.requested()) co_return std::nullopt;
  const auto waiting = std::make_shared<Waiting>(loop_);
  const Asked asked(waiting_, waiting);
  auto head = head_of(request);
  tell(node, "request", asked.id(), std::move(head), std::move(request.content));
  const auto until_ready = [](std::shared_ptr<Waiting> one) -> Task<> {
    while (one->nonce.empty()) co_await one->changed.wait();
  };
  if (co_await with_timeout(ending, patience_with_nodes, until_ready(waiting)) != WaitResult::done)
    co_return std::nullopt;
  AGW_ASSERT(!waiting->nonce.empty());
  tell(node, "go", asked.id(), {{"nonce", waiting->nonce}});
  const auto until_answered = [](std::shared_ptr<Waiting> one) -> Task<> {
    while (one->answers.empty() && !one->is_unknown) co_await one->changed.wait();
  };
  while (waiting->answers.empty()) {
    const auto end = co_await with_timeout(ending, between_looks_at_node, until_answered(waiting));
    if (!waiting->answers.empty()) break;
    if (end == WaitResult::stopped) tell(node, "stop", asked.id(), {});
    if (end == WaitResult::stopped || waiting->is_unknown || Clock::now() - waiting->heard_at > lost_after)
      throw lost_meanwhile(node);
    tell(node, "still?", asked.id(), {});
  }
  AGW_ASSERT(!waiting->answers.empty());
  auto& answer = waiting->answers.front();
  co_return passed_response(answer.head, std::move(answer.body));
}

Task<json::array> NodeBus::runs_elsewhere(std::set<std::string, std::less<>> threads) {
  json::array runs;
  if (threads.empty() || !connection_.is_connected()) co_return runs;
  const auto waiting = std::make_shared<Waiting>(loop_);
  const Asked asked(waiting_, waiting);
  json::array names;
  for (const auto& thread : threads) names.emplace_back(thread);
  std::size_t count = 0;
  for (const auto& [name, node] : nodes_) {
    if (!is_there(node)) continue;
    tell(name, "runs?", asked.id(), {}, to_json(json::value(names)));
    ++count;
  }
  const auto until_answered = [](std::shared_ptr<Waiting> one, std::size_t wanted) -> Task<> {
    while (one->answers.size() < wanted) co_await one->changed.wait();
  };
  co_await with_timeout(stopping_, patience_with_nodes, until_answered(waiting, count));
  for (const auto& answer : waiting->answers) {
    auto told = parse_stored_json(answer.body);
    for (auto& run : told.as_array()) runs.push_back(std::move(run));
  }
  co_return runs;
}

}  // namespace agw
