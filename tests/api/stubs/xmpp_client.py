"""A person's XMPP client, without TLS. It can send and receive messages, and send arbitrary stanzas."""

import base64
import itertools
import socket
import threading
import time
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape

from stubs.prosody import ACCOUNT, DOMAIN, PATIENCE, ROOM

CLIENT = "{jabber:client}"
numbers = itertools.count(1)


class XmppPerson:
    """`messages` has the messages as clients show them, each with its texts in `versions`, newest last."""

    def __init__(self, prosody, name, resource="phone"):
        self.name, self.address = name, f"{name}@{DOMAIN}"
        self.messages = []
        self.stanzas = []
        self._changed = threading.Condition()
        self._connect(prosody.port)
        self._log_in(name, f"password of {name}", resource)
        self._reader = threading.Thread(target=self._read_on, daemon=True, name=f"xmpp-{name}")
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server has already closed it
        self._reader.join()
        self._socket.close()

    # The connection.

    def _connect(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._open_stream()

    def _open_stream(self):
        self._parser = ElementTree.XMLPullParser(["start", "end"])
        self._depth, self._stream = 0, None
        self._ready = []
        self._socket.sendall(
            f"<?xml version='1.0'?><stream:stream to='{DOMAIN}' version='1.0' xmlns='jabber:client' "
            "xmlns:stream='http://etherx.jabber.org/streams'>".encode())
        return self._next()

    def _log_in(self, name, password, resource):
        answer = base64.b64encode(f"\0{name}\0{password}".encode()).decode()
        self._socket.sendall(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{answer}</auth>".encode())
        assert self._next().tag.endswith("success")
        self._open_stream()
        self.send(f"<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                  f"<resource>{resource}</resource></bind></iq>")
        assert self._next().get("type") == "result"
        self._socket.settimeout(None)
        self.send("<presence/>")

    def _next(self):
        """Returns the next element of the stream, or None at its end."""
        while not self._ready:
            received = self._socket.recv(65536)
            if not received:
                return None
            self._parser.feed(received)
            for kind, element in self._parser.read_events():
                self._depth += 1 if kind == "start" else -1
                if kind == "start" and self._depth == 1:
                    self._stream = element
                elif kind == "end" and self._depth == 1:
                    self._ready.append(element)
                    self._stream.remove(element)
        return self._ready.pop(0)

    def _read_on(self):
        try:
            while (element := self._next()) is not None:
                with self._changed:
                    self.stanzas.append(element)
                    if element.tag == CLIENT + "message":
                        self._take(element)
                    self._changed.notify_all()
        except (OSError, ValueError):
            return  # the test has ended

    def _take(self, stanza):
        body = stanza.findtext(CLIENT + "body")
        if body is None or stanza.get("type") == "error":
            return
        replaced = stanza.find("{urn:xmpp:message-correct:0}replace")
        if replaced is None:
            self.messages.append({"id": stanza.get("id"), "from": stanza.get("from"), "versions": [body]})
            return
        next(one for one in self.messages if one["id"] == replaced.get("id"))["versions"].append(body)

    # Actions of the person.

    def send(self, stanzas):
        self._socket.sendall(stanzas.encode())

    def says(self, text, to=ACCOUNT, more="", identifier=None):
        identifier = identifier or f"{self.name}-{next(numbers)}"
        self.send(f"<message to='{to}' type='chat' id='{identifier}'><body>{escape(text)}</body>{more}</message>")

    def enters(self, room=ROOM):
        self.send(f"<presence to='{room}/{self.name}'><x xmlns='http://jabber.org/protocol/muc'/></presence>")
        self.until(lambda: self._presence(f"{room}/{self.name}"))

    def sees(self, nickname, room=ROOM):
        self.until(lambda: self._presence(f"{room}/{nickname}"))

    def _presence(self, address):
        return [one for one in self.stanzas if one.tag == CLIENT + "presence" and one.get("from") == address]

    def says_in_room(self, text, room=ROOM, more=""):
        self.send(f"<message to='{room}' type='groupchat' id='{self.name}-{next(numbers)}'>"
                  f"<body>{escape(text)}</body>{more}</message>")

    # Inspection by tests.

    def until(self, condition, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        with self._changed:
            while not (found := condition()):
                left = deadline - time.monotonic()
                assert left > 0, f"it did not happen: {self.texts()}"
                self._changed.wait(left)
            return found

    def texts(self):
        """Returns the latest text of each message."""
        return [message["versions"][-1] for message in self.messages]

    def answers(self):
        """Returns the texts from the channel, without those of people in rooms."""
        own = (ACCOUNT, f"{ROOM}/agent")
        return [message["versions"][-1] for message in self.messages if message["from"].startswith(own)]

    def message(self, part, count=1, seconds=PATIENCE):
        """Waits for `count` messages whose latest text contains the text and returns the last of them."""
        found = self.until(lambda: (found := [m for m in self.messages if part in m["versions"][-1]])[count - 1 :] and found,
                           seconds)
        return found[-1]
