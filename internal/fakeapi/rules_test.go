package fakeapi

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// ruleCase is one request; rule "" means that it is good, else the first violation must be of this rule and its
// words must hold the part.
type ruleCase struct {
	name string
	over obj
	rule string
	part string
}

func runRules(t *testing.T, cases []ruleCase, header ...string) {
	t.Helper()
	s, url := start(t, Options{Script: &Script{Default: &Answer{Text: "ok"}}})
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			before := len(s.Violations())
			g := post(t, url, base(tc.over), header...)
			bad := s.Violations()[before:]
			if tc.rule == "" {
				if g.status != 200 || len(bad) > 0 {
					t.Fatalf("refused: %d %s", g.status, g.body)
				}
				return
			}
			if len(bad) == 0 {
				t.Fatalf("not refused: %d %.200s", g.status, g.body)
			}
			if bad[0].Rule != tc.rule || !strings.Contains(bad[0].String(), tc.part) {
				t.Fatalf("got rule %s: %s", bad[0].Rule, bad[0])
			}
			if g.status != bad[0].Status || !strings.HasPrefix(g.body, `{"type":"error","error":{"type":"`+bad[0].Type+`"`) {
				t.Fatalf("answer: %d %s", g.status, g.body)
			}
		})
	}
}

func msgs(m ...any) obj { return obj{"messages": m} }

func TestRulesTop(t *testing.T) {
	runRules(t, []ruleCase{
		{"good", nil, "", ""},
		{"all good fields", obj{
			"system": []any{text("s")}, "tools": []any{tool("A")}, "tool_choice": obj{"type": "auto"}, "metadata": obj{"user_id": "u"},
			"stop_sequences": []any{"END"}, "service_tier": "auto", "thinking": obj{"type": "adaptive", "display": "summarized"},
			"output_config": obj{"effort": "max"}, "cache_control": obj{"type": "ephemeral"},
		}, "", ""},
		{"not streamed", obj{"stream": nil}, "", ""},
		{"prewarm", obj{"max_tokens": 0}, "", ""},
		{"dated model", obj{"model": "claude-haiku-4-5-20251001"}, "", ""},
		{"no model", obj{"model": nil}, "field", "model: Field required"},
		{"unknown model", obj{"model": "claude-nope"}, "model", "model: claude-nope"},
		{"no messages", obj{"messages": nil}, "field", "messages: Field required"},
		{"messages no array", obj{"messages": "hi"}, "field", "messages: Input should be a valid array"},
		{"empty messages", obj{"messages": []any{}}, "field", "at least one message"},
		{"no max_tokens", obj{"max_tokens": nil}, "field", "max_tokens: Field required"},
		{"max_tokens text", obj{"max_tokens": "9"}, "field", "valid integer"},
		{"max_tokens negative", obj{"max_tokens": -1}, "field", "greater than or equal to 0"},
		{"max_tokens too large", obj{"max_tokens": 128001}, "limit", "128001 > 128000"},
		{"max_tokens old model", obj{"model": "claude-sonnet-4-5", "max_tokens": 64001}, "limit", "64000"},
		{"unknown field", obj{"foo": 1}, "field", "foo: Extra inputs are not permitted"},
		{"field without its beta", obj{"context_management": obj{}}, "field", "context_management"},
		{"temperature", obj{"temperature": 1}, "sampling", "temperature"},
		{"top_p", obj{"top_p": 1}, "sampling", "top_p"},
		{"top_k", obj{"top_k": 1}, "sampling", "top_k"},
		{"stream text", obj{"stream": "yes"}, "field", "stream"},
		{"metadata extra", obj{"metadata": obj{"x": 1}}, "field", "metadata.x"},
		{"blank stop sequence", obj{"stop_sequences": []any{" "}}, "field", "stop_sequences.0"},
		{"service tier", obj{"service_tier": "gold"}, "field", "service_tier"},
		{"fast", obj{"speed": "fast"}, "", ""},
		{"fast where there is none", obj{"speed": "fast", "model": "claude-sonnet-5-5"}, "speed", "not supported by claude-sonnet-5-5"},
		{"fast without its beta", obj{"speed": "fast", "model": "claude-opus-5"}, "field", "fast-mode-2026-02-01"},
		{"another speed", obj{"speed": "warp"}, "field", "'standard' or 'fast'"},
		{"choice without tools", obj{"tool_choice": obj{"type": "auto"}}, "tool_choice", "providing tools"},
		{"choice any", obj{"tools": []any{tool("A")}, "tool_choice": obj{"type": "any"}}, "tool_choice", "forces"},
		{"choice tool", obj{"tools": []any{tool("A")}, "tool_choice": obj{"type": "tool", "name": "A"}}, "tool_choice", "forces"},
		{"choice unknown", obj{"tools": []any{tool("A")}, "tool_choice": obj{"type": "x"}}, "tool_choice", "'x'"},
		{"empty system block", obj{"system": []any{text("")}}, "text", "system.0: text content blocks must be non-empty"},
		{"system image", obj{"system": []any{picture("image/png", "")}}, "field", "system.0"},
		{"effort", obj{"output_config": obj{"effort": "huge"}}, "effort", "huge"},
		{"effort xhigh on 4.6", obj{"model": "claude-opus-4-6", "output_config": obj{"effort": "xhigh"}}, "effort", "xhigh"},
		{"effort max on 4.6", obj{"model": "claude-opus-4-6", "output_config": obj{"effort": "max"}}, "", ""},
		{"effort on haiku 4.5", obj{"model": "claude-haiku-4-5", "output_config": obj{"effort": "low"}}, "effort", "low"},
		{"output format", obj{"output_config": obj{"format": obj{"type": "json_schema", "schema": obj{"type": "object"}}}}, "", ""},
		{"bad output format", obj{"output_config": obj{"format": obj{"type": "json"}}}, "field", "output_config.format"},
	})
}

func TestRulesThinkingParameter(t *testing.T) {
	think := func(model string, effort any, p obj) obj {
		o := obj{"model": "claude-" + model, "thinking": p, "max_tokens": 4000}
		if effort != nil {
			o["output_config"] = obj{"effort": effort}
		}
		return o
	}
	adaptive, disabled, between := obj{"type": "adaptive"}, obj{"type": "disabled"}, obj{"type": "between_tools"}
	enabled := obj{"type": "enabled", "budget_tokens": 2000}
	var cases []ruleCase
	for model, ok := range map[string]string{
		"fable-5-2": "adaptive", "fable-5-1": "adaptive", "mythos-5": "adaptive", "opus-5-5": "adaptive",
		"opus-5": "adaptive disabled", "haiku-5-5": "adaptive disabled", "sonnet-5-5": "adaptive between_tools",
		"sonnet-5": "adaptive disabled", "opus-4-8": "adaptive disabled", "opus-4-7": "adaptive disabled",
		"opus-4-6": "adaptive enabled disabled", "sonnet-4-6": "adaptive enabled disabled",
		"opus-4-5": "enabled disabled", "sonnet-4-5": "enabled disabled", "haiku-4-5": "enabled disabled",
	} {
		for typ, p := range map[string]obj{"adaptive": adaptive, "enabled": enabled, "disabled": disabled, "between_tools": between} {
			rule := "thinking"
			if strings.Contains(" "+ok+" ", " "+typ+" ") {
				rule = ""
			}
			cases = append(cases, ruleCase{model + " " + typ, think(model, nil, p), rule, ""})
		}
	}
	cases = append(cases,
		ruleCase{"disabled at high effort", think("opus-5", "high", disabled), "", ""},
		ruleCase{"disabled at max effort", think("opus-5", "max", disabled), "thinking", "effort max"},
		ruleCase{"between_tools at xhigh", think("sonnet-5-5", "xhigh", between), "thinking", "effort xhigh"},
		ruleCase{"small budget", think("opus-4-6", nil, obj{"type": "enabled", "budget_tokens": 1023}), "thinking", "1024"},
		ruleCase{"budget over max_tokens", think("opus-4-6", nil, obj{"type": "enabled", "budget_tokens": 4000}), "thinking", "greater than thinking.budget_tokens"},
		ruleCase{"no budget", think("opus-4-6", nil, obj{"type": "enabled"}), "thinking", "budget_tokens"},
		ruleCase{"budget with adaptive", think("opus-5-5", nil, obj{"type": "adaptive", "budget_tokens": 2000}), "field", "budget_tokens"},
		ruleCase{"display", think("opus-5-5", nil, obj{"type": "adaptive", "display": "loud"}), "thinking", "display"},
		ruleCase{"display updates without beta", think("opus-5-5", nil, obj{"type": "adaptive", "display": "updates"}), "thinking", "beta"},
		ruleCase{"binding without beta", think("opus-5-5", nil, obj{"type": "adaptive", "block_binding": obj{"prefix_mismatch_behavior": "drop_block"}}), "thinking", "beta"},
		ruleCase{"unknown type", think("opus-5-5", nil, obj{"type": "deep"}), "thinking", "deep"})
	runRules(t, cases)
	runRules(t, []ruleCase{
		{"binding with beta", think("opus-5-5", nil, obj{"type": "adaptive", "block_binding": obj{"prefix_mismatch_behavior": "drop_block"}}), "", ""},
		{"binding value", think("opus-5-5", nil, obj{"type": "adaptive", "block_binding": obj{"prefix_mismatch_behavior": "x"}}), "thinking", "drop_block"},
	}, "anthropic-beta", bindingBeta)
}

func TestRulesTools(t *testing.T) {
	schema := func(s any) obj { return obj{"tools": []any{obj{"name": "A", "input_schema": s}}} }
	named := func(n string) obj { return obj{"tools": []any{tool(n)}} }
	with := func(k string, v any) obj {
		x := tool("A")
		x[k] = v
		return obj{"tools": []any{x}}
	}
	runRules(t, []ruleCase{
		{"good", obj{"tools": []any{tool("A"), tool("mcp__s__t-1")}}, "", ""},
		{"server tool", obj{"tools": []any{obj{"type": "web_search_20260318", "name": "web_search", "max_uses": 3}}}, "", ""},
		{"unknown type", with("type", "magic"), "tool", "magic"},
		{"twice", obj{"tools": []any{tool("A"), tool("A")}}, "tool", "unique"},
		{"bad name", named("a b"), "tool", "tools.0.name"},
		{"long name", named(strings.Repeat("x", 129)), "tool", "tools.0.name"},
		{"no name", named(""), "tool", "tools.0.name"},
		{"extra field", with("annotations", obj{}), "field", "tools.0.annotations"},
		{"strict text", with("strict", "yes"), "field", "tools.0.strict"},
		{"no schema", schema(nil), "schema", "Field required"},
		{"schema array", schema([]any{}), "field", "input_schema"},
		{"schema root type", schema(obj{"type": "string"}), "schema", "'object'"},
		{"schema root oneOf", schema(obj{"type": "object", "oneOf": []any{}}), "schema", "oneOf"},
		{"schema root anyOf", schema(obj{"type": "object", "anyOf": []any{}}), "schema", "anyOf"},
		{"schema root allOf", schema(obj{"type": "object", "allOf": []any{}}), "schema", "allOf"},
		{"schema inner anyOf", schema(obj{"type": "object", "properties": obj{"a": obj{"anyOf": []any{}}}}), "", ""},
		{"required unknown", schema(obj{"type": "object", "required": []any{"a"}}), "schema", "not one of the properties"},
		{"all deferred", with("defer_loading", true), "tool", "At least one"},
	})
}

func TestRulesMessages(t *testing.T) {
	call, res := assistant(use("t1", "A")), user(result("t1", "r"))
	hi := user(text("hi"))
	runRules(t, []ruleCase{
		{"string content", msgs(obj{"role": "user", "content": "hi"}), "", ""},
		{"tool turn", msgs(hi, call, res), "", ""},
		{"text after results", msgs(hi, call, user(result("t1", "r"), text("more"))), "", ""},
		{"two calls", msgs(hi, assistant(use("t1", "A"), use("t2", "A")), user(result("t2", "r"), result("t1", "r"))), "", ""},
		{"result without content", msgs(hi, call, user(obj{"type": "tool_result", "tool_use_id": "t1"})), "", ""},
		{"first assistant", msgs(assistant(text("x")), hi), "role", "first message"},
		{"two users", msgs(hi, hi), "role", "multiple \"user\" roles"},
		{"two assistants", msgs(hi, assistant(text("a")), assistant(text("b")), hi), "role", "multiple \"assistant\""},
		{"role tool", msgs(obj{"role": "tool", "content": "x"}), "role", "messages.0.role"},
		{"extra message field", msgs(obj{"role": "user", "content": "x", "id": "u"}), "field", "messages.0.id"},
		{"no content", msgs(obj{"role": "user"}), "field", "messages.0.content"},
		{"empty content", msgs(obj{"role": "user", "content": []any{}}), "text", "non-empty content"},
		{"empty string", msgs(obj{"role": "user", "content": ""}), "text", "non-empty content"},
		{"empty text", msgs(user(text(""))), "text", "messages.0.content.0: text content blocks must be non-empty"},
		{"blank text", msgs(user(text(" \n"))), "text", "non-whitespace"},
		{"empty text in result", msgs(hi, call, user(result("t1", ""))), "text", "messages.2.content.0.content.0"},
		{"unknown block", msgs(user(obj{"type": "video"})), "block", "'video'"},
		{"extra block field", msgs(user(obj{"type": "text", "text": "x", "id": "b"})), "field", "messages.0.content.0.id"},
		{"use in user", msgs(user(use("t1", "A"))), "block", "not allowed in user"},
		{"result in assistant", msgs(hi, assistant(result("t1", "r")), hi), "block", "not allowed in assistant"},
		{"image in assistant", msgs(hi, assistant(picture("image/png", pngData(1, 1))), hi), "block", "not allowed in assistant"},
		{"use input array", msgs(hi, assistant(obj{"type": "tool_use", "id": "t1", "name": "A", "input": []any{}}), res), "tool", "input"},
		{"use id", msgs(hi, assistant(use("t 1", "A")), user(result("t 1", "r"))), "tool", "tool_use.id"},
		{"unanswered at end", msgs(hi, call), "pairing", "without `tool_result`"},
		{"unanswered", msgs(hi, call, hi), "pairing", "messages.1: `tool_use` ids were found without"},
		{"answered late", msgs(hi, call, user(text("x")), assistant(text("y")), res), "pairing", "without"},
		{"half answered", msgs(hi, assistant(use("t1", "A"), use("t2", "A")), res), "pairing", "t2"},
		{"stray result", msgs(user(result("t9", "r"))), "pairing", "unexpected `tool_use_id`"},
		{"answered twice", msgs(hi, call, user(result("t1", "r"), result("t1", "r"))), "pairing", "single result"},
		{"text before result", msgs(hi, call, user(text("x"), result("t1", "r"))), "pairing", "must come first"},
		{"id used twice", msgs(hi, call, res, call, res), "pairing", "must be unique"},
		{"only results while a server tool waits", msgs(hi, assistant(obj{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": obj{}}, use("t1", "A")),
			user(result("t1", "r"), text("x"))), "pairing", "pending server tool"},
		{"error with image", msgs(hi, call, user(obj{
			"type": "tool_result", "tool_use_id": "t1", "is_error": true,
			"content": []any{picture("image/png", pngData(1, 1))},
		})), "block", "type `text` if `is_error`"},
		{"prefill", msgs(hi, assistant(text("I"))), "prefill", "prefill"},
		{"trailing space", msgs(hi, assistant(text("I "))), "text", "trailing whitespace"},
		{"paused server tool", msgs(hi, assistant(obj{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": obj{}})), "", ""},
		{"thinking without signature", msgs(hi, assistant(obj{"type": "thinking", "thinking": "x"}, text("y")), hi), "thinking", "signature"},
		{"foreign signature", msgs(hi, assistant(obj{"type": "thinking", "thinking": "x", "signature": "EqQB"}, text("y")), hi), "thinking", "messages.1.content.0: Invalid `signature`"},
		{"thinking in user", msgs(user(obj{"type": "thinking", "thinking": "x", "signature": "EqQB"})), "block", "thinking"},
		{"system role refused", msgs(hi, obj{"role": "system", "content": "s"}), "role", "not supported"},
	})
	opus5 := func(m ...any) obj { return obj{"model": "claude-opus-5", "messages": m} }
	sys := obj{"role": "system", "content": "be brief"}
	runRules(t, []ruleCase{
		{"system at end", opus5(hi, sys), "", ""},
		{"system before assistant", opus5(hi, sys, assistant(text("x")), hi), "", ""},
		{"system after results", opus5(hi, call, res, sys), "", ""},
		{"system first", opus5(sys, hi), "role", "follow a user turn"},
		{"system after assistant", opus5(hi, assistant(text("x")), sys), "role", "follow a user turn"},
		{"system before user", opus5(hi, sys, hi), "role", "before an assistant turn"},
		{"prefill on 4.5", obj{"model": "claude-sonnet-4-5", "messages": []any{hi, assistant(text("I"))}}, "", ""},
	})
}

func TestRulesCacheMarks(t *testing.T) {
	marked := func(b obj, ttl string) obj {
		m := obj{"type": "ephemeral"}
		if ttl != "" {
			m["ttl"] = ttl
		}
		b["cache_control"] = m
		return b
	}
	runRules(t, []ruleCase{
		{"four", obj{
			"tools": []any{marked(tool("A"), "1h")}, "system": []any{marked(text("s"), "1h")},
			"messages": []any{user(marked(text("a"), ""), marked(text("b"), "5m"))},
		}, "", ""},
		{"five", obj{
			"cache_control": obj{"type": "ephemeral"}, "system": []any{marked(text("s"), ""), marked(text("s"), "")},
			"messages": []any{user(marked(text("a"), ""), marked(text("b"), ""))},
		}, "cache", "maximum of 4"},
		{"1h after 5m", obj{"system": []any{marked(text("s"), "5m")}, "messages": []any{user(marked(text("a"), "1h"))}}, "cache", "must not come after"},
		{"type", obj{"system": []any{obj{"type": "text", "text": "s", "cache_control": obj{"type": "forever"}}}}, "cache", "ephemeral"},
		{"ttl", obj{"system": []any{marked(text("s"), "2h")}}, "cache", "'5m' or '1h'"},
		{"extra", obj{"cache_control": obj{"type": "ephemeral", "scope": "x"}}, "field", "cache_control.scope"},
		{"empty text", msgs(user(marked(text(""), ""))), "text", "non-empty"},
		{"inside a result", msgs(user(text("x")), assistant(use("t1", "A")), user(obj{
			"type": "tool_result", "tool_use_id": "t1",
			"content": []any{marked(text("r"), "")},
		})), "cache", "inside another"},
		{"thinking", msgs(user(text("x")), assistant(marked(obj{"type": "thinking", "thinking": "", "signature": seal{Model: "claude-opus-5-5"}.sign()}, ""), text("y")),
			user(text("z"))), "cache", "`thinking`"},
	})
}

func TestRulesMedia(t *testing.T) {
	one := func(b ...any) obj { return msgs(user(b...)) }
	doc := func(media, data string) obj {
		return one(obj{"type": "document", "source": obj{"type": "base64", "media_type": media, "data": data}})
	}
	many := func(n, w int) obj {
		var list []any
		for range n {
			list = append(list, picture("image/png", pngData(w, 1)))
		}
		return one(list...)
	}
	old := func(o obj) obj { o["model"] = "claude-haiku-4-5"; return o }
	runRules(t, []ruleCase{
		{"png", one(picture("image/png", pngData(2, 2))), "", ""},
		{"url", one(obj{"type": "image", "source": obj{"type": "url", "url": "https://example.com/a.png"}}), "", ""},
		{"wrong type", one(picture("image/jpeg", pngData(2, 2))), "image", "appears to be image/png"},
		{"unknown type", one(picture("image/bmp", "Qk0=")), "image", "media_type"},
		{"not base64", one(picture("image/png", "%%%")), "image", "invalid base64"},
		{"empty", one(picture("image/png", "")), "image", "invalid base64"},
		{"broken", one(picture("image/png", pngData(2, 2)[:16])), "image", "Could not process image"},
		{"too wide", one(picture("image/png", pngData(8001, 1))), "image", "8000 pixels"},
		{"wide among many", many(21, 3001), "image", "3000 pixels"},
		{"wide among few", many(20, 3001), "", ""},
		{"too large", one(picture("image/png", strings.Repeat("A", maxImageBase64+4))), "image", "10 MB"},
		{"101 on an old model", old(many(101, 1)), "image", "101 > 100"},
		{"101 on a new model", many(101, 1), "", ""},
		{"601", many(601, 1), "image", "601 > 600"},
		{"pdf", doc("application/pdf", "JVBERi0xLjQK"), "", ""},
		{"no pdf", doc("application/pdf", "aGVsbG8="), "document", "not valid"},
		{"document type", doc("text/html", "aGVsbG8="), "document", "application/pdf"},
		{"text document", one(obj{"type": "document", "source": obj{"type": "text", "media_type": "text/plain", "data": "x"}}), "", ""},
	})
}

func TestRulesHeaders(t *testing.T) {
	s, url := start(t, Options{Script: &Script{Default: &Answer{Text: "ok"}, Keys: []string{"k"}, Betas: []string{"own-2026"}}})
	for _, tc := range []struct {
		name   string
		header []string
		status int
		part   string
	}{
		{"good", nil, 200, ""},
		{"bearer", []string{"X-Api-Key", "", "Authorization", "Bearer k"}, 200, ""},
		{"no key", []string{"X-Api-Key", ""}, 401, "authentication_error"},
		{"basic", []string{"X-Api-Key", "", "Authorization", "Basic k"}, 401, "authentication_error"},
		{"wrong key", []string{"X-Api-Key", "other"}, 401, "invalid x-api-key"},
		{"no version", []string{"Anthropic-Version", ""}, 400, "anthropic-version: header is required"},
		{"version", []string{"Anthropic-Version", "2024-01-01"}, 400, "anthropic-version"},
		{"new version", []string{"Anthropic-Version", "2026-10-21"}, 200, ""},
		{"no content type", []string{"Content-Type", ""}, 400, "content-type"},
		{"content type", []string{"Content-Type", "text/plain"}, 400, "content-type"},
		{"charset", []string{"Content-Type", "application/json; charset=utf-8"}, 200, ""},
		{"beta", []string{"Anthropic-Beta", bindingBeta + ", own-2026"}, 200, ""},
		{"unknown beta", []string{"Anthropic-Beta", "magic-2026-01-01"}, 400, "magic-2026-01-01"},
		{"beta twice", []string{"Anthropic-Beta", "own-2026,own-2026"}, 400, "twice"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := post(t, url, base(nil), tc.header...)
			if g.status != tc.status || !strings.Contains(g.body, tc.part) {
				t.Fatalf("%d %s", g.status, g.body)
			}
			if g.header.Get("request-id") == "" {
				t.Error("no request-id")
			}
		})
	}
	if n := len(s.Violations()); n != 9 {
		t.Errorf("%d violations recorded", n)
	}
}

func TestRulesBody(t *testing.T) {
	s, url := start(t, Options{Script: &Script{Default: &Answer{Text: "ok"}}})
	for _, tc := range []struct {
		name, body, part string
		status           int
	}{
		{"not json", `{"model":`, "not valid JSON", 400},
		{"empty", ``, "not valid JSON", 400},
		{"array", `[]`, "model: Field required", 400},
		{"duplicate key", `{"model":"a","model":"b"}`, "twice", 400},
		{"not utf-8", "{\"model\":\"\xff\"}", "UTF-8", 400},
		{"too large", strings.Repeat(" ", maxBody+1), "request_too_large", http.StatusRequestEntityTooLarge},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := post(t, url, []byte(tc.body))
			if g.status != tc.status || !strings.Contains(g.body, tc.part) {
				t.Fatalf("%d %s", g.status, g.body)
			}
		})
	}
	g := post(t, url, base(msgs(user(text(strings.Repeat("word ", 900_000))))))
	if g.status != 400 || !strings.Contains(g.body, "prompt is too long: 1125007 tokens > 1000000 maximum") {
		t.Errorf("over the window: %d %s", g.status, g.body)
	}
	last := s.Requests()[len(s.Requests())-1]
	if last.Violations[0].Rule != "window" || bytes.Equal(last.Body, nil) {
		t.Errorf("record: %+v", last.Violations)
	}
}

func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"claude-opus-5-5","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`: "",
		`{"model":"claude-opus-5-5","max_tokens":1,"messages":[{"role":"user","content":""}]}`:  "text",
		`{"model":"x"}`: "model",
		`{`:             "json",
	} {
		bad := Check(nil, []byte(body))
		if want == "" && len(bad) > 0 || want != "" && (len(bad) == 0 || bad[0].Rule != want) {
			t.Errorf("%s: %v", body, bad)
		}
	}
}
