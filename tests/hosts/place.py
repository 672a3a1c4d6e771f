"""A home and a project of their own, in which a client is run against a model that plays a part."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

from clients import write
from model import Model

PATIENCE = 180


class Miss(Exception):
    """Something that does not hold."""


def expect(holds, what):
    if not holds:
        raise Miss(what)


class Place:
    def __init__(self, ckpt, client, root):
        self.ckpt, self.client, self.root = ckpt, client, root
        self.home, self.project = root + "/home", root + "/project"
        for directory in (self.home, self.project, root + "/bin", root + "/tmp"):
            os.makedirs(directory)
        shutil.copy(ckpt, root + "/bin/ckpt")
        # `ckpt setup --check` looks for the program by its name.
        write(root + "/bin/" + client.word, '#!/bin/sh\nexec %s "$@"\n' % " ".join(client.program))
        os.chmod(root + "/bin/" + client.word, 0o755)
        node = os.path.dirname(client.program[0])
        self.env = {"HOME": self.home, "TMPDIR": root + "/tmp", "LANG": "C.UTF-8", "SHELL": "/bin/bash", "TERM": "dumb",
                    "PATH": ":".join([root + "/bin", node, getattr(client, "path", "/bin"), "/usr/local/bin", "/usr/bin", "/bin"])}
        write(self.home + "/.bash_profile", "export PATH=%s\n" % self.env["PATH"])
        subprocess.run(["git", "init", "-q", self.project], check=True, env=self.env)
        client.settle(self.home, self.project)

    def run_ckpt(self, *words, code=0):
        done = subprocess.run([self.ckpt, *words], cwd=self.project, env=self.env, capture_output=True, text=True)
        expect(done.returncode == code, "ckpt %s: %s\n%s%s" % (" ".join(words), done.returncode, done.stdout, done.stderr))
        return done.stdout

    def set_up(self, *flags):
        """Installs the hooks as a user does."""
        self.run_ckpt("setup", self.client.word, "--plan", *flags)
        return self

    def start(self, model, prompt="do it", flags=(), env=()):
        env = {**self.env, **self.client.env(model.port), **dict(env)}
        return subprocess.Popen(self.client.line(prompt, model.port, *flags), cwd=self.project, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def run(self, script, prompt="do it", flags=(), env=(), fails=False):
        """Plays a script to its end; returns what the model was asked."""
        model = Model(script)
        child = self.start(model, prompt, flags, env)
        try:
            output, _ = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            raise Miss("the client did not end, after %d requests:\n%s" % (len(model.asked), output[-2000:]))
        finally:
            model.close()
        if child.returncode and not fails:
            raise Miss("the client ended with %s:\n%s" % (child.returncode, output[-2000:]))
        return model.asked

    def signal(self, script, sent, patience=30):
        """Sends a signal to the client when the model was asked for the last reply of a script, which takes long."""
        model = Model(script + [{"say": "never", "pause": 60}])
        child = self.start(model)
        for _ in range(PATIENCE * 10):
            if len(model.asked) > len(script) or child.poll() is not None:
                break
            time.sleep(0.1)
        os.killpg(child.pid, sent)
        try:
            child.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
        model.close()

    def workflows(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.project + "/.ckpt/workflows/*"))

    def history(self, workflow):
        return [json.load(open(path)) for path in sorted(glob.glob(self.project + "/.ckpt/workflows/%s/*.json" % workflow))]

    def newest(self, workflow):
        return self.history(workflow)[-1]

    def phases(self, workflow):
        return {phase["id"]: phase["status"] for phase in self.newest(workflow)["phases"]}

    def snapshot(self):
        """Every file and directory of the home and the project, with its content."""
        found = {}
        for top in (self.home, self.project):
            for directory, names, files in os.walk(top):
                found.update({os.path.join(directory, name): None for name in names})
                for name in files:
                    with open(os.path.join(directory, name), "rb") as file:
                        found[os.path.join(directory, name)] = file.read()
        return found
