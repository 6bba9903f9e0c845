"""Drives the program with the Python SDK through the scenarios of scenarios.py, several at a time:
python3 run.py <program> <control url> <how many at once> [name...]
Each scenario's outcome is one JSON line on standard output. See python_test.go for the other side."""

import asyncio
import json
import os
import sys
import time
import traceback
import urllib.request

import claude_agent_sdk as sdk

program, control, at_once, *only = sys.argv[1:]
LIMIT = 30  # seconds; a scenario that takes longer has failed


def fetch(url, data=None):
    with urllib.request.urlopen(urllib.request.Request(url, data=data and json.dumps(data).encode())) as r:
        return json.load(r)


class Place:
    """What a scenario works with: a directory, a home, and a fake API that answers by its script."""

    def __init__(self, made):
        self.dir, self.home, self.url, self.key, self.api = (made[k] for k in ("dir", "home", "url", "key", "api"))
        self.stderr = ""
        self.program = program
        # The SDK hands on what it inherits; what names another program's settings is emptied.
        self.env = {k: "" for k in os.environ if k.startswith(("ANTHROPIC_", "CLAUDE_CODE_", "LATHE_"))}
        self.env |= {"HOME": self.home, "ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": self.url, "IS_SANDBOX": "1",
                     "LATHE_RETRY_BASE_DELAY_MS": "1", "CLAUDE_CODE_OVERLOADED_RETRY_BASE_DELAY_MS": "1"}

    def path(self, name):
        return os.path.join(self.dir, name)

    def file(self, name, text):
        p = self.path(name)
        os.makedirs(os.path.dirname(p), exist_ok=True)
        with open(p, "w") as f:
            f.write(text)
        return p

    def has(self, name):
        return os.path.exists(self.path(name))

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def _heard(self, line):
        self.stderr += line + "\n"

    def options(self, **o):
        env = self.env | o.pop("env", {})
        o.setdefault("setting_sources", [])
        return sdk.ClaudeAgentOptions(cli_path=program, cwd=self.dir, env=env, stderr=self._heard, **o)

    async def all(self, prompt, each=None, **o):
        """Runs a query to its end."""
        seen = Seen()
        async for m in sdk.query(prompt=prompt, options=self.options(**o)):
            seen.append(m)
            if each:
                await each(m)
        return seen

    async def fails(self, error, prompt, **o):
        """Runs a query that must end with an error of the SDK; gives what came before, and the error."""
        seen = Seen()
        try:
            async for m in sdk.query(prompt=prompt, options=self.options(**o)):
                seen.append(m)
        except error as e:
            return seen, e
        raise AssertionError(f"no {error.__name__}: {seen}")

    async def requests(self):
        return await asyncio.to_thread(fetch, f"{self.api}/_fake/bodies?key={self.key}")

    async def last(self):
        return (await self.requests())[-1]

    async def until(self, what, cond):
        for _ in range(1000):
            if cond():
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"waited too long for {what}")


class Seen(list):
    """The messages of a query."""

    def type(self, cls, subtype=None):
        return [m for m in self if isinstance(m, cls) and (subtype is None or m.subtype == subtype)]

    def blocks(self, cls):
        return [b for m in self.type((sdk.AssistantMessage, sdk.UserMessage)) if isinstance(m.content, list) for b in m.content if isinstance(b, cls)]

    @property
    def results(self):
        return self.type(sdk.ResultMessage)

    @property
    def result(self):
        return self.results[-1]

    @property
    def init(self):
        return self.type(sdk.SystemMessage, "init")[0].data


async def one(gate, name, script, run):
    async with gate:
        began, place, error = time.monotonic(), None, None
        try:
            made = await asyncio.to_thread(fetch, control, {"name": name, "script": script})
            if made.get("error"):
                raise RuntimeError(made["error"])
            place = Place(made)
            await asyncio.wait_for(run(place), LIMIT)
        except BaseException as e:  # a scenario may fail in any way
            error = "".join(traceback.format_exception(e)) + "\nstandard error: " + (place.stderr if place else "")
        line = {"name": name, "ok": error is None, "error": error, "key": place and place.key, "ms": int(1000 * (time.monotonic() - began))}
        print(json.dumps(line), flush=True)


async def main():
    from scenarios import SCENARIOS

    gate = asyncio.Semaphore(int(at_once))
    todo = [s for s in SCENARIOS if not only or any(o in s[0] for o in only)]
    await asyncio.gather(*(one(gate, *s) for s in todo))


asyncio.run(main())
