"""A model that plays a part: it answers the requests of a real client from a script, and keeps what it was asked.

It speaks as much of three interfaces as the clients need: Anthropic Messages, OpenAI Responses and Gemini
generateContent, all of them streamed. Nothing but loopback is used.
"""
import http.server
import json
import threading
import time


class Refusal(Exception):
    """An error of HTTP instead of a reply."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class Model:
    """A server on a free port. `script` is a list of replies: a text, a call (name, arguments), or a dict with `say`,
    `calls`, `namespace` (of the calls), `tokens`, `status` (an HTTP error instead of a reply), `pause` (seconds) and `until` (something
    to wait for). A request that is not a part of the conversation gets a filler."""

    def __init__(self, script, summary="SUMMARY"):
        self.script = [reply if isinstance(reply, dict) else {"say": reply} if isinstance(reply, str) else {"calls": [reply]}
                       for reply in script]
        self.summary, self.asked, self.lock = summary, [], threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            log_message = lambda *_: None

            def do_GET(self):
                self.answer({"data": [], "models": []})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                try:
                    model.route(self, self.path.split("?")[0], body)
                except OSError:
                    pass  # the client was killed
                except Refusal as refusal:
                    self.answer({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, refusal.status)

            def answer(self, value, status=200):
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self, events):
                text = "".join(("event: %s\n" % event["type"] if "type" in event else "") + "data: %s\n\n" % json.dumps(event)
                               for event in events)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def reply(self, kind, body):
        """The next reply of the script for the conversation; a filler for anything else."""
        with self.lock:
            if kind == "talk":
                number = len(self.asked)
                self.asked.append(json.dumps(body, ensure_ascii=False))
                reply = self.script[number] if number < len(self.script) else {"say": "Nothing is left."}
            else:
                reply = {"say": self.summary if kind == "summary" else "ok"}
        time.sleep(reply.get("pause", 0))
        for _ in range(600):
            if reply.get("until", lambda: True)():
                break
            time.sleep(0.1)
        if "status" in reply:
            raise Refusal(reply["status"])
        calls = [call + (reply.get("namespace"),) for call in reply.get("calls", [])]
        return reply.get("say", ""), calls, reply.get("tokens", 500)

    def route(self, handler, path, body):
        if path.endswith("count_tokens"):
            handler.answer({"input_tokens": 500})
        elif path.endswith(":countTokens"):
            handler.answer({"totalTokens": 500})
        elif path.endswith("/messages"):
            self.messages(handler, body)
        elif path.endswith("/responses/compact"):
            say, _, _ = self.reply("summary", body)
            part = {"type": "input_text", "text": say}
            handler.answer({"output": [{"type": "message", "role": "user", "content": [part]}]})
        elif path.endswith("/responses"):
            self.responses(handler, body)
        elif "generatecontent" in path.lower():
            self.generate(handler, path, body)
        else:
            handler.answer({})

    def messages(self, handler, body):
        tools = {tool.get("name") for tool in body.get("tools") or []}
        # A remark of the client may follow the prompt.
        last = json.dumps((body.get("messages") or [{}])[-2:])
        kind = "summary" if "summary of the conversation" in last else "talk" if "Bash" in tools else "aside"
        say, calls, tokens = self.reply(kind, body)
        blocks = [{"type": "text", "text": say}] if say else []
        blocks += [{"type": "tool_use", "id": "toolu_%d" % time.monotonic_ns(), "name": name, "input": args} for name, args, _ in calls]
        usage = {"input_tokens": tokens, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        stop = "tool_use" if calls else "end_turn"
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return handler.answer(dict(message, content=blocks, stop_reason=stop))
        events = [{"type": "message_start", "message": message}]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                empty, delta = dict(block, text=""), {"type": "text_delta", "text": say}
            else:
                empty, delta = dict(block, input={}), {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [{"type": "content_block_start", "index": index, "content_block": empty},
                       {"type": "content_block_delta", "index": index, "delta": delta},
                       {"type": "content_block_stop", "index": index}]
        events += [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
                   {"type": "message_stop"}]
        return handler.stream(events)

    def responses(self, handler, body):
        last = json.dumps((body.get("input") or [{}])[-1])
        is_talk = body.get("tools") or "additional_tools" in json.dumps(body.get("input"))
        kind = "summary" if "CHECKPOINT COMPACTION" in last or "handoff summary" in last else "talk" if is_talk else "aside"
        say, calls, tokens = self.reply(kind, body)
        items = []
        if say:
            part = {"type": "output_text", "text": say, "annotations": []}
            items.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]})
        for name, args, namespace in calls:
            unique = time.monotonic_ns()
            items.append(dict({"type": "function_call", "id": "fc_%d" % unique, "call_id": "call_%d" % unique, "name": name,
                               "arguments": json.dumps(args), "status": "completed"}, **({"namespace": namespace} if namespace else {})))
        usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 9,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 9}
        whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": body.get("model"),
                 "output": items, "usage": usage}
        events = [{"type": "response.created", "response": {"id": "resp_1", "object": "response", "status": "in_progress"}}]
        for index, item in enumerate(items):
            events += [{"type": "response.output_item.added", "output_index": index, "item": item},
                       {"type": "response.output_item.done", "output_index": index, "item": item}]
        events.append({"type": "response.completed", "response": whole})
        handler.stream(events)

    def generate(self, handler, path, body):
        tools = {entry.get("name") for tool in body.get("tools") or [] for entry in tool.get("functionDeclarations") or []}
        system = json.dumps(body.get("systemInstruction") or "")
        kind = "summary" if "state_snapshot" in system else "talk" if "run_shell_command" in tools else "aside"
        settings = body.get("generationConfig") or {}
        schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
        if kind == "aside" and schema:
            say, calls, tokens = json.dumps(example(schema)), [], 500
        else:
            say, calls, tokens = self.reply(kind, body)
        parts = ([{"text": say}] if say else []) + [{"functionCall": {"name": name, "args": args}} for name, args, _ in calls]
        whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": tokens, "candidatesTokenCount": 9, "totalTokenCount": tokens + 9}}
        handler.stream([whole]) if "stream" in path else handler.answer(whole)


def example(schema):
    """A value of a JSON schema."""
    kind = schema.get("type", "object") if isinstance(schema, dict) else "object"
    kind = (kind[0] if isinstance(kind, list) else kind).lower()
    if isinstance(schema, dict) and schema.get("enum"):
        return schema["enum"][0]
    if kind == "object":
        return {name: example(inner) for name, inner in (schema.get("properties") or {}).items()}
    return {"array": [], "string": "x", "boolean": False}.get(kind, 1)
