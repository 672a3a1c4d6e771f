"""Runs real clients against a model that plays a part, with the hooks of `ckpt setup`, and fails on any miss.

check.py CKPT CLIENTS HOST...    CLIENTS is the directory into which run.sh installed the clients.
Set ONLY to a word to run the checks with that word in their names.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from clients import DOING, DONE, STEPS, WAITING, Claude, Codex, Gemini, write
from model import Model
from place import PATIENCE, Miss, Place, expect

HALF_WAY = dict(zip(STEPS, ("complete", "in_progress", "pending")))
OPEN = ("start", "042", "--phases", "plan,build", "--phase", "plan", "--next", "MARK the spot")
INTEGRATIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/integrations")


def plan_and_brief(place, *flags):
    """The plan becomes phases without a turn for it, and the next session is told in its first request."""
    client = place.set_up(*flags).client
    asked = place.run(client.before_plan() + [client.plan(DOING, WAITING, WAITING), client.plan(DONE, DOING, WAITING), "The end."])
    expect(len(asked) == len(client.before_plan()) + 3, "the agent spent %d turns" % len(asked))
    expect(place.workflows() == ["read-the-grammar"], "workflows: %s" % place.workflows())
    expect(place.phases("read-the-grammar") == HALF_WAY, "phases: %s" % place.phases("read-the-grammar"))
    expect(place.newest("read-the-grammar")["writer"]["agent"] == client.agent, "the writer is another one")
    asked = place.run(["The end."], "continue")
    expect("It continues with phase" in asked[0] and "Write the lexer" in asked[0], "no brief in the first request")
    place.run_ckpt("verify")


def set_up_for_the_project(place):
    """The same holds if the hooks are in files of the project."""
    plan_and_brief(place, "--project")


def other_plan_tools(place):
    """The other tools that the agent keeps a plan with become phases too."""
    replies, env, expected = place.set_up().client.other_plan()
    place.run(replies + ["The end."], env=env)
    found = [place.phases(workflow) for workflow in place.workflows()]
    expect(found == [expected], "phases: %s" % found)


def agent_saves(place):
    """An agent that saves by itself is known as the writer, and is told the handle."""
    client = place.set_up().client
    asked = place.run([client.shell("ckpt save 042 --phases plan,build --phase plan"), "The end."])
    expect("Saved 042/1" in asked[1], "the handle is not in the next request")
    writer = place.newest("042")["writer"]["agent"]
    expect(writer == client.agent, "the writer is %s" % writer)


def silence(place):
    """Where nothing is open, no output appears, no turn is spent and nothing is written."""
    asked = place.set_up().run(["The end."])
    expect(len(asked) == 1, "%d requests" % len(asked))
    expect("Unfinished work" not in asked[0], "a brief about nothing")
    expect(not os.path.exists(place.project + "/.ckpt"), "a store was made")


def compaction(place):
    """Something is saved before a compaction, and the brief is there after it."""
    client = place.set_up().client
    if client.compacting() is None:
        # It has no event for it: the brief comes with the next session.
        place.run_ckpt(*OPEN)
        settings = json.load(open(place.home + "/.gemini/settings.json"))
        write(place.home + "/.gemini/settings.json", dict(settings, model={"compressionThreshold": 0.0001}))
        place.run([client.shell("seq 1 300"), "One."])
        asked = place.run(["Two."], "continue", ["--resume", "latest"])
        expect(asked and "SUMMARY" in asked[-1] and "MARK the spot" in asked[-1], "no brief beside the summary")
        return
    plan = client.before_plan() + [client.plan(DONE, DOING, WAITING)]
    asked = place.run(plan + client.compacting(), flags=getattr(client, "compact_flags", ()))
    after = [request for request in asked if "SUMMARY" in request]
    expect(after and "It continues with phase" in after[-1] and "was saved before that" in after[-1],
           "no brief after the summary, %d requests" % len(asked))
    triggers = [checkpoint["trigger"] for checkpoint in place.history("read-the-grammar")]
    expect("pre_compact" in triggers, "triggers: %s" % triggers)


def interruption(place):
    """Ctrl-C is recorded, within the time that the client gives."""
    client = place.set_up().client
    place.signal(client.before_plan() + [client.plan(DONE, DOING, WAITING)], signal.SIGINT)
    newest = place.newest("read-the-grammar")
    expect(newest["trigger"] in ("user_interrupt", "session_end"), "the newest is %(seq)s, %(trigger)s" % newest)
    expect(place.phases("read-the-grammar") == HALF_WAY, "phases: %s" % place.phases("read-the-grammar"))


def failure_of_the_service(place):
    """A service that is overloaded ends the turn; that is recorded."""
    client = place.set_up().client
    if client.word != "claude":
        return "no such event"
    place.run(client.before_plan() + [client.plan(DONE, DOING, WAITING)] + [{"status": 529}] * 30, fails=True)
    newest = place.newest("read-the-grammar")
    expect(newest["trigger"] in ("user_interrupt", "session_end"), "the newest is %(seq)s, %(trigger)s" % newest)


def crash(place):
    """A client that is killed with SIGKILL loses nothing: the next one continues the same workflow."""
    client = place.set_up().client
    place.signal(client.before_plan() + [client.plan(DONE, DOING, WAITING)], signal.SIGKILL)
    expect(place.workflows() == ["read-the-grammar"], "workflows: %s" % place.workflows())
    asked = place.run(client.before_plan() + [client.plan(DONE, DONE, DOING), "The end."], "continue")
    expect("Write the lexer" in asked[0], "no brief after the crash")
    expect(place.workflows() == ["read-the-grammar"], "workflows: %s" % place.workflows())
    phases = place.phases("read-the-grammar")
    expect(phases == dict(zip(STEPS, ("complete", "complete", "in_progress"))), "phases: %s" % phases)
    place.run_ckpt("verify")


def two_sessions(place):
    """Two sessions at once with different plans keep both."""
    client, first = place.set_up().client, len(place.client.before_plan()) + 1
    name, other = client.plan(DOING, WAITING, WAITING)
    for step, word in zip(STEPS, ("Draw a map", "Walk", "Rest")):
        other = json.loads(json.dumps(other).replace(step, word))
    two = Model(client.before_plan() + [(name, other), "The end."])
    # The first one continues when the second one has made its plan.
    later = {"calls": [client.plan(DONE, DOING, WAITING)], "until": lambda: len(two.asked) > first}
    one = Model(client.before_plan() + [client.plan(DOING, WAITING, WAITING), later, "The end."])
    children = [place.start(one, "do it")]
    for _ in range(PATIENCE * 10):
        if len(one.asked) > first or children[0].poll() is not None:
            break
        time.sleep(0.1)
    children.append(place.start(two, "do the other"))
    for child in children:
        child.communicate(timeout=PATIENCE)
    one.close(), two.close()
    expect(place.workflows() == ["draw-a-map", "read-the-grammar"], "workflows: %s" % place.workflows())
    expect(place.phases("read-the-grammar") == HALF_WAY, "the first plan: %s" % place.phases("read-the-grammar"))
    phases = place.phases("draw-a-map")
    expect(phases == {"Draw a map": "in_progress", "Walk": "pending", "Rest": "pending"}, "the second plan: %s" % phases)
    place.run_ckpt("verify")


def gate(place):
    """With the gate on, an agent that stops while a phase is open is asked once, and then may stop."""
    client = place.set_up().client
    plan = client.before_plan() + [client.plan(DOING, WAITING, WAITING)]
    write(place.project + "/.ckpt/config.toml", "")
    asked = place.run(plan + ["The end."])
    expect(len(asked) == len(plan) + 1, "without the setting: %d requests" % len(asked))
    write(place.project + "/.ckpt/config.toml", "[agents]\ngate = true\n")
    asked = place.run(plan + ["One.", "Two."], "continue")
    expect(len(asked) == len(plan) + 2, "with the setting: %d requests" % len(asked))
    expect("is recorded as in progress" in asked[-1], "the question is not in the last request")


def missing_or_older_program(place):
    """Hooks of a program that is missing, or that does not know the command, do no harm."""
    client = place.set_up().client
    for program in (None, '#!/bin/sh\necho "error: unrecognized subcommand \'hook\'" >&2\nexit 2\n'):
        os.remove(place.root + "/bin/ckpt")
        if program:
            write(place.root + "/bin/ckpt", program)
            os.chmod(place.root + "/bin/ckpt", 0o755)
        else:
            expect(shutil.which("ckpt", path=place.env["PATH"]) is None, "there is another ckpt on the PATH")
        asked = place.run([client.shell("echo tool-ran"), "The end."])
        expect(len(asked) == 2 and "tool-ran" in asked[1], "%d requests" % len(asked))
        if not program:
            write(place.root + "/bin/ckpt", "")


def mcp(place):
    """The client registers the server by the documented command, and its agent saves over it."""
    client = place.client
    done = subprocess.run(client.program + client.mcp_add, cwd=place.project, env=place.env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE)
    expect(done.returncode == 0, "mcp add: " + done.stdout + done.stderr)
    flags = ["--allowedTools", "mcp__ckpt"] if client.word == "claude" else []
    asked = place.run(client.mcp_call(id="042", phases=["plan", "build"], phase="plan", next="build") + ["The end."], flags=flags)
    expect(place.workflows() == ["042"], "workflows: %s" % place.workflows())
    expect("042/1" in asked[-1], "the handle is not in the next request")


def skill(place):
    """The agent is told of the skill in its first request."""
    asked = place.set_up().run(["The end."])
    expect("hand off multi-phase work" in asked[0], "the description is not there")


def package(place):
    """The folder in examples/integrations/ works without `ckpt setup`."""
    client = place.client
    place.run_ckpt(*OPEN)
    if client.word == "claude":
        folder = INTEGRATIONS + "/claude-code"
        done = subprocess.run(client.program + ["plugin", "validate", folder], env=place.env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE)
        expect(done.returncode == 0, "plugin validate: " + done.stdout + done.stderr)
        asked = place.run(["The end."], flags=["--plugin-dir", folder])
    elif client.word == "gemini":
        shutil.copytree(INTEGRATIONS + "/gemini-cli", place.home + "/.gemini/extensions/ckpt")
        asked = place.run(["The end."])
    else:
        return "no package"
    expect("MARK the spot" in asked[0] and "hand off multi-phase work" in asked[0], "no brief or no skill in the first request")


def set_up_and_undone(place):
    """Setting up, twice, checking and removing leaves every file as it was, byte for byte."""
    client = place.client
    before = place.snapshot()
    for level in ("--user", "--project"):
        earlier = place.snapshot()
        place.run_ckpt("setup", client.word, level, "--plan", "--instructions")
        there = place.snapshot()
        place.run_ckpt("setup", client.word, level, "--plan", "--instructions")
        expect(place.snapshot() == there, "%s: setting it up again changes something" % level)
        # Codex says by itself that it does not trust the hooks yet.
        trusted = {"codex": "no", "gemini": {"--user": "not needed", "--project": "unknown"}[level]}.get(client.word, "not needed")
        checked = place.run_ckpt("setup", client.word, level, "--check", "--json", code=6 if trusted == "no" else 0)
        state = next(agent for agent in json.loads(checked)["hosts"] if agent["host"] == client.word)
        expect((state["hooks"], state["skill"], state["trusted"]) == ("present", "present", trusted), "%s: %s" % (level, state))
        place.run_ckpt("setup", client.word, level, "--remove")
        after = place.snapshot()
        # Codex writes files of its own when it is asked; only the files of `setup` must be gone.
        left = {path for path in there if path not in earlier and path in after and not path.startswith(place.home + "/.local")}
        changed = {path for path in before if after.get(path, b"gone") != before[path]}
        expect(not left and not changed, "%s: left %s, changed %s" % (level, sorted(left), sorted(changed)))


CHECKS = (plan_and_brief, set_up_for_the_project, other_plan_tools, agent_saves, silence, compaction, interruption, failure_of_the_service,
          crash, two_sessions, gate, missing_or_older_program, mcp, skill, package, set_up_and_undone)


def main():
    ckpt, clients, hosts = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    missed = 0
    for client in (kind(clients) for kind in (Claude, Codex, Gemini) if kind.word in hosts):
        for check in CHECKS:
            if os.environ.get("ONLY", "") not in check.__name__:
                continue
            root = tempfile.mkdtemp(prefix="ckpt-hosts-")
            begin = time.time()
            try:
                verdict = check(Place(ckpt, client, root)) or "passed"
                shutil.rmtree(root, ignore_errors=True)
            except Exception as error:  # whatever it is, the others are tried
                verdict, missed = "MISSED: %s (%s)" % (error, root), missed + 1
            print("%-6s %-24s %5.1f s  %s" % (client.word, check.__name__, time.time() - begin, verdict), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
