"""A stub of a Matrix homeserver (Client-Server API, https://spec.matrix.org/v1.11) for one account."""

import itertools
import json
import time
from urllib.parse import parse_qs, unquote, urlsplit

from .messenger import MessengerHandler, MessengerStub

TOKEN = "syt_the-access-token"
ACCOUNT = "@agent:example.org"
PATIENCE = 20


class Refused(Exception):
    def __init__(self, status, errcode, is_taken=False, headers=None, **members):
        super().__init__(errcode)
        self.status = status
        self.is_taken = is_taken
        self.headers = headers or {}
        self.answer = {"errcode": errcode, "error": f"It was refused: {errcode}.", **members}


class MatrixStub(MessengerStub):
    """`messages` has the messages of the account in their latest version, as people see them."""

    def __init__(self, page=50):
        super().__init__()
        self.messages = []
        self.joined = []
        self.events_read = []
        self.synced_from = 0  # the number of events that the last sync has seen
        self.media = {}
        self.typing = []  # (room, whether the account writes there), in order
        self.members = {}
        self.page = page
        self.token = "s"  # begins the tokens of syncs; others are rejected
        self.state = {}  # state events that the account can read, by room and type
        self._outside = set()  # rooms in which the account is not
        self._joined_at = {}  # the number of events when the account joined a room
        self._news = []  # (room, event), in order; the token of a sync is their number
        self._invitations = []
        self._answered = []  # invitations in the last sync
        self._sent = {}
        self._failures = []
        self._failures_of = {}
        self._numbers = itertools.count(1)
        stub = self

        class Handler(MessengerHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.headers.get("authorization") != f"Bearer {TOKEN}":
                    return self.send(401, json.dumps({"errcode": "M_UNKNOWN_TOKEN", "error": "Unknown token"}).encode())
                url = urlsplit(self.path)
                segments = [unquote(part) for part in url.path.split("/")[1:]]
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                try:
                    is_json = self.headers.get("content-type", "application/json") == "application/json"
                    content = json.loads(body or b"{}") if is_json else body
                    answer = stub._obey(self.command, segments, query, content)
                except Refused as refused:
                    return self.send(refused.status, json.dumps(refused.answer).encode(), headers=refused.headers)
                if answer is None:
                    self.close_connection = True
                    return self.connection.shutdown(2)
                self.send(200, answer if isinstance(answer, bytes) else json.dumps(answer).encode())

            do_GET = do_POST = do_PUT = answer

        self._serve(Handler, "matrix")

    # Actions of people.

    def says(self, sender, text, *, room="!room:example.org", **content):
        return self.event(sender, {"msgtype": "m.text", "body": text, **content}, room=room)

    def event(self, sender, content, *, room="!room:example.org", kind="m.room.message", **members):
        with self._changed:
            event_id = f"$event{next(self._numbers)}"
            self._news.append((room, {"type": kind, "sender": sender, "event_id": event_id, "content": content, **members}))
            self._changed.notify_all()
        return event_id

    def closes(self, room):
        """The account gets nothing of the room until it joins. Then it also sees the latest events from before."""
        self._outside.add(room)

    def invites(self, sender, room):
        with self._changed:
            self.closes(room)
            content = {"membership": "invite"}
            self.event(sender, content, room=room, kind="m.room.member", state_key=ACCOUNT)
            state = [{"type": "m.room.member", "state_key": ACCOUNT, "sender": sender, "content": content}]
            self._invitations.append((room, {"invite_state": {"events": state}}))
            self._changed.notify_all()

    def replaces(self, sender, room, replacement):
        """Replaces a room by another one, in which the account is not yet."""
        self.closes(replacement)
        self.state[replacement, "m.room.create"] = {"predecessor": {"room_id": room}}
        self.state[room, "m.room.tombstone"] = {"replacement_room": replacement}
        self.event(sender, self.state[room, "m.room.tombstone"], room=room, kind="m.room.tombstone", state_key="")

    def fails(self, status, errcode, **members):
        """Rejects the next message with this error. With `is_taken`, it is sent nevertheless. With status 0, it is sent
        and the response is lost."""
        self._failures.append(Refused(status, errcode, **members))

    def fails_at(self, last_segment, status, errcode, **members):
        """Rejects the next request to a path with this last segment."""
        self._failures_of[last_segment] = Refused(status, errcode, **members)

    # Inspection by tests.

    @property
    def is_failing(self):
        """Whether a rejection is still pending."""
        return bool(self._failures)

    def until(self, condition, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        with self._changed:
            while not (found := condition()):
                left = deadline - time.monotonic()
                assert left > 0, f"it did not happen: {self.messages}"
                self._changed.wait(left)
            return found

    @property
    def event_count(self):
        return len(self._news)

    def message(self, part):
        """Waits for a message of the account that contains the text and returns it."""
        return self.until(lambda: [m for m in self.messages if part in m["body"]])[-1]

    def bodies(self):
        return [message["body"] for message in self.messages]

    # Requests of the account.

    def _obey(self, method, segments, query, body):
        if failure := self._failures_of.pop(segments[-1], None):
            self._invitations += self._answered  # a sync from the same token repeats them
            raise failure
        match (method, *segments[2:]):
            case ("GET", "v3", "account", "whoami"):
                return {"user_id": ACCOUNT}
            case ("GET", "v3", "sync"):
                return self._sync(query)
            case ("GET", "v3", "rooms", room, "messages"):
                return self._earlier(room, query)
            case ("GET", "v3", "rooms", room, "event", event_id):
                self.events_read.append(event_id)
                for place, event in self._news:
                    if place == room and event["event_id"] == event_id:
                        return event
                raise Refused(404, "M_NOT_FOUND")
            case ("GET", "v3", "rooms", room, "joined_members"):
                return {"joined": {name: {} for name in self.members.get(room, ["@ann:example.org", ACCOUNT])}}
            case ("POST", "v3", "rooms", room, "join") | ("POST", "v3", "join", room):
                with self._changed:
                    self.joined.append(room)
                    self._outside.discard(room)
                    is_invited = any(place == room and event["type"] == "m.room.member" for place, event in self._news)
                    before = {"prev_content": {"membership": "invite"}} if is_invited else {}
                    self.event(ACCOUNT, {"membership": "join"}, room=room, kind="m.room.member", state_key=ACCOUNT,
                               unsigned=before)
                    self._joined_at[room] = len(self._news)
                return {"room_id": room}
            case ("GET", "v3", "rooms", room, "state", kind) if (room, kind) in self.state:
                return self.state[room, kind]
            case ("PUT", "v3", "rooms", room, "send", "m.room.message", transaction):
                return self._send(room, transaction, body)
            case ("PUT", "v3", "rooms", room, "typing", account):
                assert account == ACCOUNT and (not body["typing"] or body["timeout"] > 0)
                with self._changed:
                    self.typing.append((room, body["typing"]))
                    self._changed.notify_all()
                return {}
            case ("POST", "v3", "upload"):
                number = f"own{next(self._numbers)}"
                self.media["example.org", number] = body
                return {"content_uri": f"mxc://example.org/{number}"}
            case ("GET", "v1", "media", "download", server, media) if (server, media) in self.media:
                return self.media[server, media]
        raise Refused(404, "M_UNRECOGNIZED")

    def _sync(self, query):
        with self._changed:
            deadline = time.monotonic() + int(query.get("timeout", 0)) / 1000
            if not query.get("since", "").startswith(self.token if "since" in query else ""):
                raise Refused(400, "M_UNKNOWN")
            since = self.synced_from = int(query["since"].removeprefix(self.token)) if "since" in query else 0
            self._changed.notify_all()
            while len(self._news) == since and not self._invitations and not self._is_closing:
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            self._answered, self._invitations = self._invitations, []
            invited = dict(self._answered)
            rooms = {}
            is_new = {room for room, at in self._joined_at.items() if at > since}
            for number, (room, event) in enumerate(self._news):
                if room not in self._outside and (number >= since or room in is_new):
                    rooms.setdefault(room, []).append(event)
            end = len(self._news)
        joined = {}
        for room, events in rooms.items():
            first = events[max(0, len(events) - self.page)]["event_id"]
            is_limited = len(events) > self.page or room in is_new
            timeline = {"events": events[-self.page :], "limited": is_limited, "prev_batch": first}
            joined[room] = {"timeline": timeline}
        return {"next_batch": f"{self.token}{end}", "rooms": {"join": joined, "invite": invited}}

    def _earlier(self, room, query):
        """Returns the events before the event `from`, newest first, down to the token `to`."""
        assert query["dir"] == "b"
        first = int(query["to"].removeprefix(self.token))
        events = [event for place, event in self._news[first:] if place == room]
        ids = [event["event_id"] for event in events]
        end = ids.index(query["from"]) if query["from"] in ids else 0
        begin = max(0, end - int(query["limit"]))
        answer = {"start": query["from"], "chunk": events[begin:end][::-1]}
        return answer if begin == 0 else {**answer, "end": ids[begin]}

    def _send(self, room, transaction, content):
        with self._changed:
            failure = self._failures.pop(0) if self._failures else None
            if failure and failure.status and not failure.is_taken:
                self._changed.notify_all()
                raise failure
            event_id = self._sent.get((room, transaction))
            if not event_id:
                event_id = self._sent[room, transaction] = f"$own{next(self._numbers)}"
                relation = content.get("m.relates_to", {})
                if relation.get("rel_type") == "m.replace":
                    edited = next(one for one in self.messages if one["id"] == relation["event_id"])
                    edited.update(body=content["m.new_content"]["body"], edits=edited["edits"] + 1)
                else:
                    html = content.get("formatted_body")
                    self.messages.append(
                        {"id": event_id, "room": room, "body": content["body"], "html": html, "edits": 0, "to": relation,
                         "content": content}
                    )
                own = {"type": "m.room.message", "sender": ACCOUNT, "event_id": event_id, "content": content}
                self._news.append((room, own))
            self._changed.notify_all()
            if failure and failure.status:
                raise failure
            return None if failure else {"event_id": event_id}
