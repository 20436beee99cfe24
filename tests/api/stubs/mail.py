"""Mail servers on the loopback interface: Debian's Dovecot (IMAP) and Postfix (SMTP), each in a temporary directory,
and an SMTP stub with scripted failures."""

import email
import email.policy
import itertools
import os
import pathlib
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
from email.message import EmailMessage

AUTHSERV = "mx.example.org"
PASSWORD = "the-password"
PATIENCE = 20
OWNER = 65534 if os.getuid() == 0 else os.getuid()
numbers = itertools.count(1)


def why_not(*programs):
    """Returns the reason why these programs cannot be started here, or an empty string."""
    missing = [name for name in programs if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")]
    if missing:
        return f"{' and '.join(missing)} not installed (script/bootstrap)"
    if "postfix" in programs and os.getuid() != 0:
        return "postfix starts only as root"
    return ""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_greeting(port, process, log):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                if connection.recv(1):
                    return
        except OSError:
            pass
        assert process.poll() is None and time.monotonic() < deadline, pathlib.Path(log).read_text(errors="replace")
        time.sleep(0.05)


class Maildir:
    """The mailbox of a user, as files."""

    def __init__(self, directory, name):
        self.address = f"{name}@example.org"
        self.path = pathlib.Path(directory) / name
        for part in ["", "tmp", "new", "cur"]:
            (self.path / part).mkdir(exist_ok=True)
            (self.path / part).chmod(0o777)

    def deliver(self, message, mode=0o666, age=0):
        """`age`: how many seconds ago the mail was received, as if it was moved here from another folder."""
        content = message if isinstance(message, bytes) else message.as_bytes(policy=email.policy.SMTP)
        name = f"{time.time_ns():020}.{next(numbers)}.example"
        written = self.path / "tmp" / name
        written.write_bytes(content)
        written.chmod(mode)
        os.utime(written, (time.time() - age,) * 2)
        written.rename(self.path / "new" / name)
        return name

    def receives(self, sender, text="", *, subject="A question", verified=True, age=0, **fields):
        """Delivers a mail and returns its Message-ID. Fields are given as `in_reply_to=`; None omits a field."""
        message = EmailMessage()
        domain = sender.partition("@")[2].rstrip(">")
        given = {
            "authentication_results": f"{AUTHSERV}; dkim=pass (key) header.d={domain}" if verified else None,
            "from": sender,
            "to": self.address,
            "subject": subject,
            "message_id": f"<question{next(numbers)}@{domain}>",
            **fields,
        }
        for name, value in given.items():
            if value is not None:
                message[name.replace("_", "-")] = value
        message.set_content(text)
        self.deliver(message, age=age)
        return message["message-id"]

    def mails(self):
        files = sorted([*(self.path / "new").iterdir(), *(self.path / "cur").iterdir()], key=lambda file: file.name)
        return [email.message_from_bytes(file.read_bytes(), policy=email.policy.default) for file in files]

    def numbered_mails(self):
        """Returns the mails in the order in which the server numbered them. It can be any order if many are new."""
        lines = (self.path / "dovecot-uidlist").read_text().splitlines()[1:]
        files = {file.name.partition(":")[0]: file for file in (self.path / "cur").iterdir()}
        return [email.message_from_bytes(files[line.partition(":")[2]].read_bytes(), policy=email.policy.default)
                for line in lines]

    def read(self):
        """Returns the subjects of the mails that are marked as read."""
        files = [file for file in (self.path / "cur").iterdir() if "S" in file.name.partition(":2,")[2]]
        return sorted(email.message_from_bytes(file.read_bytes(), policy=email.policy.default)["subject"] for file in files)


class Daemon:
    """A server with its own temporary directory: the users of mail servers have no access to those of pytest."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="mail-server-"))
        self.directory.chmod(0o755)
        self.log = self.directory / "log"
        self.output = self.directory / "output"

    def start(self, command, port):
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_for_greeting(port, self.process, self.output)

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree(self.directory)


class Dovecot(Daemon):
    """Accepts any user with the password; each has a mailbox."""

    def __init__(self, certificate=None):
        super().__init__()
        self.boxes = self.directory / "boxes"
        self.boxes.mkdir()
        self.boxes.chmod(0o777)
        self.port, self.tls_port = free_port(), free_port() if certificate else 0
        self.url = f"imap://127.0.0.1:{self.port}"
        self.tls_url = f"imaps://127.0.0.1:{self.tls_port}"
        tls = f"ssl = yes\nssl_cert = <{certificate[0]}\nssl_key = <{certificate[1]}" if certificate else "ssl = no"
        me = "" if os.getuid() == 0 else self._of_plain_user()
        (self.directory / "dovecot.conf").write_text(
            f"""base_dir = {self.directory}/run
state_dir = {self.directory}/state
log_path = {self.log}
protocols = imap
listen = 127.0.0.1
{tls}
mail_location = maildir:{self.boxes}/%n
mail_max_userip_connections = 100
first_valid_uid = 1
auth_failure_delay = 0
passdb {{
  driver = static
  args = password={PASSWORD}
}}
userdb {{
  driver = static
  args = uid={OWNER} gid={OWNER} home={self.boxes}/%n
}}
service imap-login {{
  inet_listener imap {{
    port = {self.port}
  }}
  inet_listener imaps {{
    port = {self.tls_port}
  }}
}}
{me}
"""
        )

    @staticmethod
    def _of_plain_user():
        return f"""default_internal_user = {os.getlogin()}
default_login_user = {os.getlogin()}
service anvil {{
  chroot =
}}
service imap-login {{
  chroot =
}}
"""

    def __enter__(self):
        self.start(["dovecot", "-F", "-c", str(self.directory / "dovecot.conf")], self.port)
        return self

    def __exit__(self, *_):
        self.stop()

    def mailbox(self, name=None):
        return Maildir(self.boxes, name or f"user{next(numbers)}")

    def kick(self, box, may_be_gone=False):
        """Ends the connections to the mailbox. `may_be_gone`: the server may have ended them itself."""
        ended = subprocess.run(["doveadm", "-c", str(self.directory / "dovecot.conf"), "kick", box.address],
                               capture_output=True, text=True)
        assert ended.returncode == 0 or may_be_gone and "no users kicked" in ended.stdout + ended.stderr, ended


class Postfix(Daemon):
    """Delivers mails for example.org into the mailboxes below `boxes`."""

    def __init__(self, boxes):
        super().__init__()
        self.port = free_port()
        self.url = f"smtp://127.0.0.1:{self.port}"
        for name in ["etc", "queue", "data"]:
            (self.directory / name).mkdir()
        shutil.chown(self.directory / "data", "postfix")
        self.map = self.directory / "etc" / "boxes"
        (self.directory / "etc" / "main.cf").write_text(
            f"""compatibility_level = 3.6
queue_directory = {self.directory}/queue
data_directory = {self.directory}/data
maillog_file = {self.log}
maillog_file_prefixes = {self.directory}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = {AUTHSERV}
mydestination =
virtual_mailbox_domains = example.org
virtual_mailbox_base = {boxes}
virtual_mailbox_maps = texthash:{self.map}
virtual_uid_maps = static:{OWNER}
virtual_gid_maps = static:{OWNER}
virtual_minimum_uid = 1
mynetworks = 127.0.0.0/8
"""
        )
        lines = [
            f"127.0.0.1:{self.port} inet n - n - - smtpd",
            "cleanup unix n - n - 0 cleanup",
            "qmgr unix n - n 300 1 qmgr",
            "virtual unix - n n - - virtual",
            "postlog unix-dgram n - n - 1 postlogd",
            *(f"{name} unix - - n - - {name}" for name in ["error", "proxymap", "anvil"]),
            *(f"{name} unix - - n - 0 bounce" for name in ["bounce", "defer", "trace"]),
            "rewrite unix - - n - - trivial-rewrite",
            "retry unix - - n - - error",
        ]
        (self.directory / "etc" / "master.cf").write_text("\n".join(lines) + "\n")

    def serves(self, *boxes):
        self.map.write_text("".join(f"{box.address} {box.path.name}/\n" for box in boxes))
        self.start(["postfix", "-c", str(self.directory / "etc"), "start-fg"], self.port)
        return self

    def stop(self):
        subprocess.run(["postfix", "-c", str(self.directory / "etc"), "stop"], check=True, capture_output=True)
        self.process.wait(PATIENCE)
        shutil.rmtree(self.directory)


class SmtpStub:
    """An SMTP server. `sent` has the mails that it accepted."""

    def __init__(self):
        self.sent = []
        self.attempts = []  # all mails received, including rejected ones
        self._failures = []
        self._changed = threading.Condition()
        stub = self

        class Session(socketserver.StreamRequestHandler):
            def handle(self):
                self.say("220 stub ESMTP")
                while line := self.rfile.readline().decode(errors="replace").strip():
                    verb = line.split(" ")[0].split(":")[0].upper()
                    if verb in ("EHLO", "HELO"):
                        self.say("250 stub")
                    elif verb == "DATA":
                        self.say("354 go on")
                        if not self.take():
                            return
                    elif verb == "QUIT":
                        return self.say("221 bye")
                    else:
                        self.say("250 ok")

            def take(self):
                lines = []
                while (line := self.rfile.readline()) != b".\r\n":
                    if not line:
                        return False
                    lines.append(line[1:] if line.startswith(b".") else line)
                answer = stub._take(b"".join(lines))
                if answer:
                    self.say(answer)
                return bool(answer)

            def say(self, line):
                self.wfile.write(f"{line}\r\n".encode())

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session)
        self._server.daemon_threads = True
        self.url = f"smtp://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True, name="smtp").start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def _take(self, content):
        message = email.message_from_bytes(content, policy=email.policy.default)
        with self._changed:
            failure = self._failures.pop(0) if self._failures else None
            self.attempts.append(message)
            if failure in (None, "lost"):
                self.sent.append(message)
            self._changed.notify_all()
        return None if failure == "lost" else failure or "250 taken"

    def fails(self, answer):
        """Sets the response to the next mail. With `lost`, the mail is accepted but the response is lost."""
        self._failures.append(answer)

    def until(self, condition, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        with self._changed:
            while not (found := condition()):
                left = deadline - time.monotonic()
                assert left > 0, f"it did not happen: {[text_of(one) for one in self.sent]}"
                self._changed.wait(left)
            return found

    def mail(self, text, count=1, seconds=PATIENCE):
        """Waits for `count` mails that contain the text and returns the last of them."""
        found = self.until(lambda: (all_ := [one for one in self.sent if text in text_of(one)])[count - 1 :] and all_, seconds)
        return found[count - 1]

    def texts(self):
        return [text_of(one) for one in self.sent]


def text_of(message):
    body = message.get_body(preferencelist=("plain",))
    return body.get_content().replace("\r\n", "\n").strip()
