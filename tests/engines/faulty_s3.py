#!/usr/bin/env python3
"""An S3 server for tests: moto in memory, made atomic, with faults on demand.

    faulty_s3.py [ADDRESS:]PORT [--not-atomic] [--policy PAGE]

moto looks whether a key is free and writes then; a lock around both makes it the engine that S3 is. With `--not-atomic`
it is a negative example, with time between the look and the write. `--policy` enforces the JSON policy in a page of the
documentation, which moto cannot: it knows no conditions. `/_engine` controls it:

    PUT /_engine    {"fault": "lost_ack", "share": 0.2, "method": "PUT"}   faults for that share of the requests; {} ends them
    GET /_engine    {"PUT 200": 20, "GET 200": 3, ...}                     the requests since the last PUT, by method and status

No key meets a fault twice, so that a second try succeeds. The answer to `PUT` has the counts until then.

Faults, and whether the request is carried out:

    lost_ack     yes   answers 500
    drop_after   yes   closes the connection without an answer
    err503       no    answers 503 SlowDown
    conflict409  no    answers 409 ConditionalRequestConflict
    drop_before  no    closes the connection
"""
import collections
import fnmatch
import io
import json
import logging
import random
import socket
import sys
import threading
import time
import urllib.parse

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

CODES = {
    "lost_ack": ("500 Internal Server Error", "InternalError"),
    "err503": ("503 Service Unavailable", "SlowDown"),
    "denied": ("403 Forbidden", "AccessDenied"),
    "conflict409": ("409 Conflict", "ConditionalRequestConflict"),
}
CARRIED_OUT = ("lost_ack", "drop_after")


ACTIONS = {"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"}


class Policy:
    """As much of the language of policies as the documentation uses; anything else in it is an error."""

    def __init__(self, page):
        block = page.split("```json\n")[1].split("```")[0]
        self.statements = json.loads(block)["Statement"]
        assert all(statement["Effect"] == "Allow" for statement in self.statements)

    def allows(self, environ):
        _, bucket, *key = environ["PATH_INFO"].split("/", 2)
        query = urllib.parse.parse_qs(environ.get("QUERY_STRING", ""))
        known = {"s3:if-none-match": environ.get("HTTP_IF_NONE_MATCH"), "s3:prefix": query.get("prefix", [None])[0]}
        action = ACTIONS[environ["REQUEST_METHOD"]] if key and key[0] else "s3:ListBucket"
        resource = f"arn:aws:s3:::{bucket}" + (f"/{key[0]}" if key and key[0] else "")
        return any(self.covers(statement, action, resource, known) for statement in self.statements)

    def may_know_absence(self, environ):
        """S3 says 404 to those who may list without a prefix, and 403 to others."""
        bucket = environ["PATH_INFO"].split("/")[1]
        return self.allows(dict(environ, REQUEST_METHOD="GET", PATH_INFO=f"/{bucket}", QUERY_STRING=""))

    def covers(self, statement, action, resource, known):
        tests = {"StringEquals": str.__eq__, "StringLike": fnmatch.fnmatchcase}
        conditions = [
            test.endswith("IfExists") if known[name] is None else tests[test.removesuffix("IfExists")](known[name], wanted)
            for test, wants in statement.get("Condition", {}).items()
            for name, wanted in wants.items()
        ]
        return statement["Action"] == action and fnmatch.fnmatchcase(resource, statement["Resource"]) and all(conditions)


class Engine:
    def __init__(self, is_atomic, policy):
        self.policy = policy
        self.inner = DomainDispatcherApplication(create_backend_app)
        self.one_at_a_time = threading.Lock() if is_atomic else None
        self.book = threading.Lock()
        self.plan = {}
        self.met = set()
        self.counts = collections.Counter()

    def __call__(self, environ, start):
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length) if length else b""
        if environ["PATH_INFO"] == "/_engine":
            return self.control(environ["REQUEST_METHOD"], body, start)
        environ["wsgi.input"] = io.BytesIO(body)
        fault = self.choose(environ["REQUEST_METHOD"], environ["PATH_INFO"])
        status, headers, content = None, None, b""
        # The bucket itself is made by the one who keeps it.
        is_keeper = environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].count("/") == 1
        if self.policy and not is_keeper and not self.policy.allows(environ):
            fault = "denied"
        if fault is None or fault in CARRIED_OUT:
            status, headers, content = self.carry_out(environ)
        if self.policy and (status or "").startswith("404") and not self.policy.may_know_absence(environ):
            fault = "denied"
        if fault is not None:
            self.count(environ, fault)
            if fault not in CODES:
                environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
                raise ConnectionError(fault)
            status, code = CODES[fault]
            content = f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode()
            headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(content)))]
        else:
            self.count(environ, status.split()[0])
        start(status, headers)
        return [content]

    def carry_out(self, environ):
        if self.one_at_a_time is None and environ.pop("HTTP_IF_NONE_MATCH", None):
            look = dict(environ, REQUEST_METHOD="HEAD", CONTENT_LENGTH="0", **{"wsgi.input": io.BytesIO()})
            if self.carry_out(look)[0].startswith("200"):
                content = b"<Error><Code>PreconditionFailed</Code></Error>"
                return "412 Precondition Failed", [("Content-Length", str(len(content)))], content
            time.sleep(0.05)
        answer = {}

        def start(status, headers, _exc_info=None):
            answer["head"] = (status, headers)

        if self.one_at_a_time is None:
            content = b"".join(self.inner(environ, start))
        else:
            with self.one_at_a_time:
                content = b"".join(self.inner(environ, start))
        return *answer["head"], content

    def choose(self, method, path):
        with self.book:
            plan = self.plan
            if not plan or plan.get("method", method) != method or path in self.met:
                return None
            # Of a key that is let through at first, no later request fails either.
            self.met.add(path)
            return plan["fault"] if random.random() < plan.get("share", 1) else None

    def count(self, environ, end):
        is_list = environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].strip("/").count("/") == 0
        with self.book:
            self.counts[f"{'LIST' if is_list else environ['REQUEST_METHOD']} {end}"] += 1

    def control(self, method, body, start):
        with self.book:
            if method == "PUT":
                self.plan = json.loads(body or b"{}")
            answer = json.dumps(self.counts).encode()
            if method == "PUT":
                self.counts.clear()
                self.met.clear()
        start("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
        return [answer]


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_arguments):
        pass


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    policy = None
    if "--policy" in sys.argv:
        with open(sys.argv[sys.argv.index("--policy") + 1], encoding="utf-8") as page:
            policy = Policy(page.read())
    engine = Engine("--not-atomic" not in sys.argv, policy)
    address, _, port = sys.argv[1].rpartition(":")
    make_server(address or "127.0.0.1", int(port), engine, threaded=True, request_handler=Handler).serve_forever()


if __name__ == "__main__":
    main()
