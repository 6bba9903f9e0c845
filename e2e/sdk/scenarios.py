"""The scenarios of run.py: each has a name, a script for the fake API, and what is done and seen."""

import asyncio
import base64
import json
import os
import sys

import claude_agent_sdk as sdk
from claude_agent_sdk import (
    AgentDefinition, AssistantMessage, HookMatcher, PermissionResultAllow, PermissionResultDeny, PermissionUpdate, StreamEvent,
    SystemMessage, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, UserMessage,
)

SCENARIOS = []
FREE = {"permission_mode": "bypassPermissions"}


def scenario(name, *script):
    def put(f):
        SCENARIOS.append(("python/" + name, list(script), f))
        return f

    return put


def call(tool, **inp):
    return {"tool": tool, "input": inp}


def say(*blocks, **more):
    return {"blocks": [{"text": b} if isinstance(b, str) else b for b in blocks], **more}


def user(content, **more):
    return {"type": "user", "session_id": "", "message": {"role": "user", "content": content}, "parent_tool_use_id": None, **more}


async def prompts(*messages):
    for m in messages:
        yield m


def text(block):
    c = block.content
    return c if isinstance(c, str) else "".join(b.get("text", "") for b in c or [])


@scenario("one turn", say({"thinking": "hm"}, "Hello."))
async def _(c):
    s = await c.all("hi", thinking={"type": "adaptive"})
    r = s.result
    assert (r.subtype, r.result, r.is_error, r.num_turns, r.stop_reason, r.terminal_reason) == ("success", "Hello.", False, 1, "end_turn", "completed"), r
    assert r.usage["output_tokens"] > 0 and r.total_cost_usd > 0 and r.permission_denials == [] and r.uuid and r.session_id
    assert all(u["costUSD"] > 0 and u["contextWindow"] > 0 for u in r.model_usage.values())
    assert [type(b) for b in s.blocks((TextBlock, ThinkingBlock))] == [ThinkingBlock, TextBlock]
    a = s.type(AssistantMessage)
    assert len({m.message_id for m in a}) == 1 and all(m.model and m.uuid and m.session_id == r.session_id and m.error is None for m in a)
    assert s.init["cwd"] == c.dir and "Bash" in s.init["tools"]


@scenario("system prompts", say("a"), say("b"), say("c"), say("d"))
async def _(c):
    system = lambda body: json.dumps(body.get("system", ""))
    await c.all("hi")
    assert all(b["text"].strip() for b in (await c.last()).get("system", []))
    await c.all("hi", system_prompt="You are a pirate.")
    assert "You are a pirate." in system(await c.last())
    await c.all("hi", system_prompt={"type": "preset", "preset": "claude_code", "append": "Speak French.", "exclude_dynamic_sections": True})
    body = await c.last()
    assert "Speak French." in system(body) and c.dir not in system(body) and c.dir in json.dumps(body["messages"])
    await c.all("hi", system_prompt={"type": "file", "path": c.file("prompt.md", "From a file.")})
    assert "From a file." in system(await c.last())


@scenario("an iterable of messages", say("one", times=-1))
async def _(c):
    s = await c.all(prompts(*(user(w) for w in ("first", "second", "third"))))
    body = json.dumps((await c.last())["messages"])
    assert s.results and all(w in body for w in ("first", "second", "third"))


@scenario("a conversation", say("one"), say("two"))
async def _(c):
    async with sdk.ClaudeSDKClient(c.options()) as client:
        seen = []
        for q in ("first question", "second question"):
            await client.query(q)
            async for m in client.receive_response():
                seen.append(m)
        r = [m for m in seen if isinstance(m, sdk.ResultMessage)]
        assert [m.result for m in r] == ["one", "two"] and r[0].session_id == r[1].session_id
        assert r[1].total_cost_usd > r[0].total_cost_usd
    assert "first question" in json.dumps((await c.last())["messages"])


@scenario("partial messages", {**say("one two three four"), "chunk": 4})
async def _(c):
    s = await c.all("hi", include_partial_messages=True)
    events = s.type(StreamEvent)
    assert events[0].event["type"] == "message_start" and events[-1].event["type"] == "message_stop"
    assert "".join(e.event["delta"]["text"] for e in events if e.event.get("delta", {}).get("type") == "text_delta") == "one two three four"


@scenario("interrupt", say(call("Bash", command="touch started; sleep 60")), say("Fine."))
async def _(c):
    async with sdk.ClaudeSDKClient(c.options(**FREE)) as client:
        await client.query("go")
        await c.until("the command", lambda: c.has("started"))
        await client.interrupt()
        first = [m async for m in client.receive_response()][-1]
        assert (first.subtype, first.terminal_reason, first.is_error) == ("error_during_execution", "aborted_tools", True), first
        await client.query("go on")
        assert [m async for m in client.receive_response()][-1].result == "Fine."


@scenario("can_use_tool allows", say(call("Bash", command="touch x")), say("ok"))
async def _(c):
    asked = []

    async def judge(name, inp, ctx):
        asked.append((name, inp, ctx))
        return PermissionResultAllow(updated_input={**inp, "command": "touch y"})

    async with sdk.ClaudeSDKClient(c.options(can_use_tool=judge)) as client:
        await client.query("go")
        seen = [m async for m in client.receive_response()]
    [(name, inp, ctx)] = asked
    use = [b for m in seen if isinstance(m, AssistantMessage) for b in m.content if isinstance(b, ToolUseBlock)][0]
    assert (name, inp["command"], ctx.tool_use_id) == ("Bash", "touch x", use.id)
    assert ctx.title and ctx.display_name == "Bash" and ctx.suggestions and all(isinstance(u, PermissionUpdate) for u in ctx.suggestions), ctx
    assert c.has("y") and not c.has("x")


@scenario("can_use_tool denies, then stops", say(call("Bash", command="touch x")), say(call("Bash", command="touch y")), say("no"))
async def _(c):
    answers = [PermissionResultDeny(message="not on a Monday"), PermissionResultDeny(message="stop", interrupt=True)]

    async def judge(name, inp, ctx):
        return answers.pop(0)

    async with sdk.ClaudeSDKClient(c.options(can_use_tool=judge)) as client:
        await client.query("go")
        seen = [m async for m in client.receive_response()]
    r = seen[-1]
    assert "not on a Monday" in str(seen) and r.terminal_reason == "aborted_tools" and len(await c.requests()) == 2
    assert [d["tool_name"] for d in r.permission_denials] == ["Bash", "Bash"] and not c.has("x") and not c.has("y")


@scenario("can_use_tool hands rules back", say(call("Bash", command="touch a")), say(call("Bash", command="touch a")), say(call("Write", file_path="b", content="1")), say("ok"))
async def _(c):
    asked = []

    async def judge(name, inp, ctx):
        asked.append(name)
        return PermissionResultAllow(updated_permissions=ctx.suggestions)

    async with sdk.ClaudeSDKClient(c.options(can_use_tool=judge)) as client:
        await client.query("go")
        _ = [m async for m in client.receive_response()]
    assert asked == ["Bash", "Write"] and c.has("b")


@scenario("can_use_tool with a string prompt and a throw", say(call("Bash", command="touch x")), say("ok"))
async def _(c):
    async def judge(name, inp, ctx):
        raise RuntimeError("boom")

    s = await c.all(prompts(user("go")), can_use_tool=judge)
    assert s.result.result == "ok" and s.blocks(ToolResultBlock)[0].is_error and not c.has("x")


@scenario("hooks around a call", say(call("Bash", command="touch x")), say(call("Write", file_path="a", content="1\n")), say("ok"))
async def _(c):
    seen = []

    async def pre(inp, use, ctx):
        seen.append((inp["hook_event_name"], inp["tool_name"], inp["tool_use_id"] == use))
        if inp["tool_name"] == "Bash":
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "never"}}
        return {}

    async def post(inp, use, ctx):
        seen.append((inp["hook_event_name"], inp["tool_name"], "structuredPatch" in inp["tool_response"]))
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "well written"}}

    s = await c.all("go", **FREE, hooks={"PreToolUse": [HookMatcher(hooks=[pre])], "PostToolUse": [HookMatcher(matcher="Write|Edit", hooks=[post])]})
    assert seen == [("PreToolUse", "Bash", True), ("PreToolUse", "Write", True), ("PostToolUse", "Write", True)], seen
    assert "never" in text(s.blocks(ToolResultBlock)[0]) and not c.has("x")
    assert "well written" in json.dumps(await c.last())


@scenario("hooks around a turn", say(call("Bash", command="exit 3")), say("one"), say("two"))
async def _(c):
    seen = []

    async def note(inp, use, ctx):
        seen.append(inp["hook_event_name"])
        match inp["hook_event_name"]:
            case "UserPromptSubmit":
                assert inp["prompt"] == "go"
                return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "it rains"}}
            case "PostToolUseFailure":
                assert "3" in inp["error"] and inp["tool_input"] == {"command": "exit 3"}
            case "Stop":
                return {} if inp["stop_hook_active"] else {"decision": "block", "reason": "say more"}
        return {}

    s = await c.all("go", **FREE, hooks={e: [HookMatcher(hooks=[note], timeout=20)] for e in ("UserPromptSubmit", "PostToolUseFailure", "Stop")})
    assert seen == ["UserPromptSubmit", "PostToolUseFailure", "Stop", "Stop"], seen
    assert [r.result for r in s.results] == ["two"]
    body = json.dumps(await c.last())
    assert "it rains" in body and "say more" in body


@scenario("a hook ends the turn", say(call("Bash", command="touch x")))
async def _(c):
    async def stop(inp, use, ctx):
        return {"continue_": False, "stopReason": "enough", "systemMessage": "for your eyes"}

    s = await c.all("go", **FREE, hooks={"PostToolUse": [HookMatcher(hooks=[stop])]})
    assert c.has("x") and len(await c.requests()) == 1 and s.result
    assert any("for your eyes" in m.data["content"] for m in s.type(SystemMessage, "informational"))


@scenario("PermissionRequest and Notification hooks", say(call("Bash", command="touch x")), say("ok"))
async def _(c):
    async def decide(inp, use, ctx):
        assert inp["tool_name"] == "Bash"
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}

    await c.all("go", hooks={"PermissionRequest": [HookMatcher(hooks=[decide])]})
    assert c.has("x")


@scenario("a hook that takes too long", say(call("Bash", command="touch x")), say("ok"))
async def _(c):
    async def slow(inp, use, ctx):
        await asyncio.sleep(60)
        return {}

    s = await c.all("go", **FREE, hooks={"PreToolUse": [HookMatcher(hooks=[slow], timeout=0.2)]})
    assert s.blocks(ToolResultBlock)[0].is_error and not c.has("x")


@scenario("hook events of settings", say("ok"))
async def _(c):
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}
    s = await c.all("go", settings=json.dumps({"hooks": hooks}), include_hook_events=True)
    events = s.type(sdk.HookEventMessage)
    assert c.has("ran") and {e.subtype for e in events} == {"hook_started", "hook_response"} and {e.hook_event_name for e in events} == {"UserPromptSubmit"}


def calc():
    @sdk.tool("add", "Adds two numbers", {"a": float, "b": float}, annotations=sdk.ToolAnnotations(readOnlyHint=True))
    async def add(args):
        return {"content": [{"type": "text", "text": f"sum {args['a'] + args['b']:.0f}"}]}

    @sdk.tool("boom", "Throws", {})
    async def boom(args):
        raise RuntimeError("kaboom")

    @sdk.tool("picture", "Gives an image", {})
    async def picture(args):
        png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        return {"content": [{"type": "image", "data": png, "mimeType": "image/png"}]}

    return sdk.create_sdk_mcp_server("calc", "1.0.0", [add, boom, picture])


@scenario("tools in the host's process", say(call("mcp__calc__add", a=2, b=3)), say(call("mcp__calc__boom")), say(call("mcp__calc__picture")), say("ok"))
async def _(c):
    s = await c.all("go", mcp_servers={"calc": calc()}, allowed_tools=["mcp__calc"])
    add, boom, picture = s.blocks(ToolResultBlock)
    assert "sum 5" in text(add) and boom.is_error and "kaboom" in text(boom) and picture.content[0]["type"] == "image"
    assert [(m["name"], m["status"]) for m in s.init["mcp_servers"]] == [("calc", "connected")]
    assert "mcp__calc__add" in s.init["tools"]


SERVER = os.path.join(os.path.dirname(__file__), "server.py")


@scenario("servers as processes: an object, a text, a file", say(call("mcp__small__add", a=1, b=1)), say("a"), say(call("mcp__small__add", a=1, b=2)), say("b"), say(call("mcp__small__add", a=1, b=3)), say("c"))
async def _(c):
    servers = {"small": {"command": sys.executable, "args": [SERVER]}}
    whole = json.dumps({"mcpServers": servers})
    for config, want in ((servers, "2"), (whole, "3"), (c.file("mcp.json", whole), "4")):
        s = await c.all("go", mcp_servers=config, strict_mcp_config=True, **FREE)
        assert "sum: " + want in text(s.blocks(ToolResultBlock)[0]), s.blocks(ToolResultBlock)


@scenario("the state of servers", say("ok"))
async def _(c):
    servers = {"small": {"type": "stdio", "command": sys.executable, "args": [SERVER]}, "calc": calc()}
    async with sdk.ClaudeSDKClient(c.options(mcp_servers=servers)) as client:
        await client.query("go")
        _ = [m async for m in client.receive_response()]
        state = {s["name"]: s for s in (await client.get_mcp_status())["mcpServers"]}
        assert {n: s["status"] for n, s in state.items()} == {"small": "connected", "calc": "connected"}, state
        add = [t for t in state["calc"]["tools"] if t["name"] == "add"][0]
        assert add["annotations"]["readOnly"] is True, add
        assert state["small"]["serverInfo"]["name"] == "small"
        await client.reconnect_mcp_server("small")
        await client.toggle_mcp_server("small", False)
        assert {s["name"]: s["status"] for s in (await client.get_mcp_status())["mcpServers"]}["small"] == "disabled"
        await client.toggle_mcp_server("small", True)
        try:
            await client.toggle_mcp_server("nobody", True)
        except Exception as e:
            assert "nobody" in str(e)
        else:
            raise AssertionError("an unknown server was toggled")


@scenario("mode and model change", say("one"), say(call("Bash", command="touch x")), say("two"), say("three"))
async def _(c):
    async with sdk.ClaudeSDKClient(c.options(extra_args={"allow-dangerously-skip-permissions": None})) as client:
        for prompt, mode, model in (("a", "bypassPermissions", "haiku"), ("b", "default", None), ("c", "plan", None)):
            await client.query(prompt)
            _ = [m async for m in client.receive_response()]
            await client.set_permission_mode(mode)
            await client.set_model(model)
    models = [r["model"] for r in await c.requests()]
    assert c.has("x") and "haiku" in models[1] and models[-1] == models[0], models


@scenario("context usage and server info", say("one"))
async def _(c):
    async with sdk.ClaudeSDKClient(c.options()) as client:
        info = await client.get_server_info()
        assert info["commands"] and info["output_style"] == "default"
        await client.query("go")
        _ = [m async for m in client.receive_response()]
        u = await client.get_context_usage()
        assert u["totalTokens"] > 0 and u["maxTokens"] > 0 and {k["name"] for k in u["categories"]} and u["model"]


@scenario("resume, fork, continue, an id of one's own", *(say(w) for w in ("one", "two", "three", "four", "five")))
async def _(c):
    first = (await c.all("first question")).result.session_id
    assert (await c.all("second", resume=first)).result.session_id == first
    assert "first question" in json.dumps((await c.last())["messages"])
    fork = (await c.all("third", resume=first, fork_session=True)).result.session_id
    assert fork != first
    assert (await c.all("fourth", continue_conversation=True)).result.session_id == fork
    mine = "99999999-2222-4333-8444-555555555591"
    assert (await c.all("fifth", session_id=mine)).result.session_id == mine


@scenario("resume at a message", say("one"), say("two"), say("three"))
async def _(c):
    a = await c.all("first")
    await c.all("second", resume=a.result.session_id)
    await c.all("third", resume=a.result.session_id, resume_session_at=a.type(AssistantMessage)[-1].uuid)
    body = json.dumps((await c.last())["messages"])
    assert "first" in body and "second" not in body


@scenario("an unknown session")
async def _(c):
    seen, e = await c.fails(sdk.ResultError, "x", resume="00000000-0000-4000-8000-000000000000")
    assert e.subtype == "error_during_execution" and "No conversation found with session ID" in e.errors[0] and e.exit_code == 1
    assert "No conversation found" in c.stderr


@scenario("the SDK's session functions", say(call("Glob", pattern="*")), say("one"), say("two"))
async def _(c):
    a = await c.all("what is the answer")
    sid = a.result.session_id
    [info] = sdk.list_sessions(directory=c.dir)
    assert info.session_id == sid and info.first_prompt == "what is the answer" and info.cwd == c.dir, info
    kept = sdk.get_session_messages(sid, directory=c.dir)
    assert [m.type for m in kept] == ["user", "assistant", "user", "assistant"], kept
    assert [m.uuid for m in kept if m.type == "assistant"] == [m.uuid for m in a.type(AssistantMessage)]
    sdk.rename_session(sid, "renamed", directory=c.dir)
    sdk.tag_session(sid, "tagged", directory=c.dir)
    fork = sdk.fork_session(sid, directory=c.dir)
    assert (await c.all("go on", resume=fork.session_id)).result.session_id == fork.session_id
    assert "what is the answer" in json.dumps((await c.last())["messages"])
    info = sdk.get_session_info(sid, directory=c.dir)
    assert info.custom_title == "renamed" and info.tag == "tagged"
    sdk.delete_session(sid, directory=c.dir)
    assert [s.session_id for s in sdk.list_sessions(directory=c.dir)] == [fork.session_id]


@scenario("a store has the transcript", say("one"), say("two"))
async def _(c):
    store = sdk.InMemorySessionStore()
    a = await c.all("first question", session_store=store)
    kept = await sdk.get_session_messages_from_store(store, a.result.session_id, directory=c.dir)
    assert [m.type for m in kept] == ["user", "assistant"], kept
    b = await c.all("second", session_store=store, resume=a.result.session_id)
    assert b.result.result == "two" and "first question" in json.dumps((await c.last())["messages"])


def agent(prompt, **more):
    return call("Agent", description="look", prompt=prompt, run_in_background=False, **more)


@scenario("agents", say(agent("look around", subagent_type="scout")), say(call("Glob", pattern="*")), say("I looked."), say("ok"))
async def _(c):
    scout = AgentDefinition(description="Looks", prompt="You are a scout.", tools=["Glob"], model="haiku", maxTurns=5)
    s = await c.all("go", agents={"scout": scout}, forward_subagent_text=True)
    use = s.blocks(ToolUseBlock)[0]
    inner = [m for m in s.type((AssistantMessage, UserMessage)) if m.parent_tool_use_id == use.id]
    assert any(isinstance(b, TextBlock) and b.text == "I looked." for m in inner if isinstance(m.content, list) for b in m.content)
    assert "I looked." in text(s.blocks(ToolResultBlock)[-1])
    sub = (await c.requests())[1]
    assert "You are a scout." in json.dumps(sub["system"]) and [t["name"] for t in sub["tools"]] == ["Glob"] and "haiku" in sub["model"]
    assert len(s.result.model_usage) == 2
    [one] = sdk.list_subagents(s.result.session_id, directory=c.dir)
    assert "look around" in str(sdk.get_subagent_messages(s.result.session_id, one, directory=c.dir))


@scenario("structured output", say(call("StructuredOutput", answer=42)))
async def _(c):
    schema = {"type": "object", "properties": {"answer": {"type": "number"}}, "required": ["answer"]}
    s = await c.all("go", output_format={"type": "json_schema", "schema": schema})
    assert s.result.structured_output == {"answer": 42} and json.loads(s.result.result) == {"answer": 42}


@scenario("the limit of turns", say(call("Glob", pattern="*"), times=-1))
async def _(c):
    seen, e = await c.fails(sdk.ResultError, "go", max_turns=2)
    assert e.subtype == "error_max_turns" and e.errors == ["Reached maximum number of turns (2)"] and e.exit_code == 1 and e.terminal_reason == "max_turns"
    assert seen.result.subtype == "error_max_turns"


@scenario("the limit of cost", say(call("Glob", pattern="*"), usage={"output_tokens": 100000}, times=-1))
async def _(c):
    _, e = await c.fails(sdk.ResultError, "go", max_budget_usd=0.5)
    assert e.subtype == "error_max_budget_usd" and e.terminal_reason == "budget_exhausted"


@scenario("an error of the API", {"faults": [{"kind": "status", "status": 400}], "times": -1})
async def _(c):
    seen, e = await c.fails(sdk.ResultError, "go")
    assert e.subtype == "success" and e.api_error_status == 400 and e.terminal_reason == "api_error" and e.result
    assert seen.type(AssistantMessage)[-1].error == "invalid_request"


@scenario("a flag that is not there")
async def _(c):
    _, e = await c.fails(sdk.ClaudeSDKError, "go", extra_args={"no-such-flag": None})
    assert "exit code" in str(e).lower() and "1" in str(e), e  # it may have ended before the handshake was written


@scenario("tools, rules and directories", say(call("Bash", command="touch x")), say(call("Read", file_path="${CWD}/../home/more/a")), say(call("Bash", command="rm x")), say("ok"))
async def _(c):
    os.makedirs(os.path.join(c.home, "more"))
    c.file(os.path.join(c.home, "more", "a"), "inside")
    s = await c.all("go", tools=["Bash", "Read"], allowed_tools=["Bash(touch:*)"], disallowed_tools=["Bash(rm:*)"], add_dirs=[os.path.join(c.home, "more")])
    assert c.has("x") and "inside" in text(s.blocks(ToolResultBlock)[1]) and s.blocks(ToolResultBlock)[2].is_error
    assert sorted(t["name"] for t in (await c.last())["tools"]) == ["Bash", "Read"]
    assert [d["tool_name"] for d in s.result.permission_denials] == ["Bash"]


@scenario("no tools at all", say("ok"))
async def _(c):
    await c.all("go", tools=[])
    assert not (await c.last()).get("tools")


@scenario("model, effort, thinking, fall-back", {"when": {"model": "opus"}, "faults": [{"kind": "status", "status": 529}]}, say("a"), say("b"))
async def _(c):
    s = await c.all("go", model="opus", fallback_model="haiku", effort="low")
    assert s.result.result == "a"
    assert "low" in json.dumps((await c.requests())[0].get("output_config")) and "haiku" in (await c.last())["model"]
    await c.all("go", model="claude-haiku-4-5", thinking={"type": "enabled", "budget_tokens": 4000})
    assert (await c.last())["thinking"]["budget_tokens"] == 4000


@scenario("settings, sources, skills, plugins", say(call("Bash", command="touch x")), say("ok"))
async def _(c):
    c.file("CLAUDE.md", "the word is walrus")
    c.file(".claude/settings.json", json.dumps({"permissions": {"allow": ["Bash(touch:*)"]}}))
    for n in ("knit", "sew"):
        c.file(f".claude/skills/{n}/SKILL.md", f"---\nname: {n}\ndescription: How to {n}\n---\nbody")
    plugin = os.path.join(c.home, "tidy")
    c.file(os.path.join(plugin, ".claude-plugin/plugin.json"), json.dumps({"name": "tidy"}))
    c.file(os.path.join(plugin, "commands/up.md"), "Tidy up $ARGUMENTS!")
    s = await c.all("/tidy:up the room", setting_sources=["project"], skills=["sew"], plugins=[{"type": "local", "path": plugin}], sandbox={"enabled": False})
    body = json.dumps((await c.last())["messages"])
    assert c.has("x") and "Tidy up the room!" in body and "walrus" in body and "How to sew" in body and "How to knit" not in body
    assert [p["name"] for p in s.init["plugins"]] == ["tidy"]


@scenario("files go back", say(call("Write", file_path="a.txt", content="new")), say("one"))
async def _(c):
    o = c.options(permission_mode="acceptEdits", enable_file_checkpointing=True, extra_args={"replay-user-messages": None})
    async with sdk.ClaudeSDKClient(o) as client:
        await client.query("go")
        seen = [m async for m in client.receive_response()]
        assert c.has("a.txt")
        first = [m for m in seen if isinstance(m, UserMessage) and not isinstance(m.content, list) or isinstance(m, UserMessage) and m.content and isinstance(m.content[0], TextBlock)][0]
        await client.rewind_files(first.uuid)
        assert not c.has("a.txt")


@scenario("a background command is told and stopped", say(call("Bash", command="sleep 60", run_in_background=True)), say("It runs.", times=-1))
async def _(c):
    async with sdk.ClaudeSDKClient(c.options(**FREE)) as client:
        await client.query("go")
        seen = [m async for m in client.receive_response()]
        started = [m for m in seen if isinstance(m, sdk.TaskStartedMessage)][0]
        await client.stop_task(started.task_id)
        async for m in client.receive_messages():
            if isinstance(m, sdk.TaskNotificationMessage):
                assert (m.task_id, m.status) == (started.task_id, "stopped") and m.output_file is not None and m.summary
                break


@scenario("an image in the prompt and one that is read", say(call("Read", file_path="a.png")), say("A dot."))
async def _(c):
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    with open(c.path("a.png"), "wb") as f:
        f.write(base64.b64decode(png))
    s = await c.all(prompts(user([{"type": "text", "text": "what is this"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}])))
    assert json.dumps((await c.last())["messages"]).count('"type": "image"') == 2 and s.result.result == "A dot."


@scenario("what is read stays below the length of a line", say(call("Read", file_path="long.txt")), say(call("Bash", command="cat long.txt")), say("ok"))
async def _(c):
    c.file("long.txt", "".join(f"{i} {'x' * 90}\n" for i in range(30000)))
    s = await c.all("go", **FREE)
    assert s.result.result == "ok"


@scenario("leaving early, and many at once", say("x", times=-1))
async def _(c):
    async for _m in sdk.query(prompt="go", options=c.options()):
        break
    async with sdk.ClaudeSDKClient(c.options()) as client:
        await client.query("go")
    all = await asyncio.gather(*(c.all(f"number {i}") for i in range(5)))
    assert len({s.result.session_id for s in all}) == 5 and all[0].result.result == "x"
