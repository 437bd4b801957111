"""verifiers' OpenEnv task set, run by vf-eval, with a model that answers by what it is shown: a pass that does not build, one
that is wrong, one that is right."""

import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

PASSES = {name: (pathlib.Path(os.environ["PASSHOST_PASSES"]) / f"{name}.rs").read_text() for name in ["broken", "wrong", "right"]}
HASHES = {hashlib.sha256(text.encode()).hexdigest(): name for name, text in PASSES.items()}


def call(tool, **arguments):
    return {"tool": tool, "arguments": arguments} if arguments else {"tool": tool}


def answer(prompt):
    """The next call. What is not expected ends the episode with its text."""
    observation, schema = prompt["observation"], prompt["action_schema"]
    text, tool = observation["text"], observation["tool"]
    if schema["required"] != ["tool"] or "write_pass" not in schema["properties"]["tool"]["enum"]:
        raise ValueError(f"unexpected schema: {schema}")
    if observation["pending"]:
        return call("wait")
    if tool is None and "It is data" in text and "graph(%" in text:
        return call("write_pass", source=PASSES["broken"])
    if tool == "write_pass":
        return call({"broken": "build", "wrong": "eval", "right": "submit"}[HASHES[observation["source_sha256"]]])
    if tool == "build" and "error[E0599]" in text and "`remove_knots`" in text:
        return call("write_pass", source=PASSES["wrong"])
    if tool == "eval" and "verdict: WRONG" in text and observation["verdict"]["right"] is False:
        return call("write_pass", source=PASSES["right"])
    raise ValueError(f"unexpected observation: {observation}")


class Model(http.server.BaseHTTPRequestHandler):
    """A chat endpoint."""

    protocol_version = "HTTP/1.1"
    calls = []
    trouble = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            content = body["messages"][-1]["content"]
            shown = content if isinstance(content, str) else "".join(part["text"] for part in content)
            action = answer(json.loads(shown))
        except Exception as error:
            Model.trouble.append(repr(error))
            action = call("submit")
        Model.calls.append(action["tool"])
        # As models write it.
        said = f"```json\n{json.dumps(action)}\n```"
        reply = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        text = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def configuration(place, port):
    client, token, address = (os.environ[f"PASSHOST_{name}"] for name in ["CLIENT", "TOKEN", "ADDRESS"])
    return f"""
model = "scripted"
push = false
output_dir = "{place}"

[env.taskset]
id = "openenv"
base_url = "http://{client}:{token}@{address}"
resets = [{{ sample = "{os.environ["PASSHOST_SAMPLE"]}" }}]

[env.player.harness]
id = "null"

[env.player.runtime]
type = "subprocess"

[client]
base_url = "http://127.0.0.1:{port}/v1"
api_key_var = "NO_KEY"
"""


def main():
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    programs = pathlib.Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place) / "eval.toml"
        file.write_text(configuration(place, model.server_port))
        # Its harness runs in an environment that `uv` makes.
        path = f"{programs}:{os.environ.get('PATH', '')}"
        run = subprocess.run(
            [programs / "vf-eval", "@", file, "--no-rich"],
            env={**os.environ, "PATH": path, "NO_KEY": "none"},
            capture_output=True,
            text=True,
        )
        traces = [json.loads(line) for path in pathlib.Path(place).rglob("traces.jsonl") for line in path.open()]
    said = f"{run.stdout}\n{run.stderr}"
    if run.returncode or Model.trouble or len(traces) != 1:
        raise SystemExit(f"vf-eval ends with {run.returncode}, {len(traces)} traces\n{Model.trouble}\n{said}")
    print(json.dumps(traces[0])[:3000])


main()
