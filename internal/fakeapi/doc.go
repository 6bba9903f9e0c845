// Package fakeapi is a strict fake of the Messages API, for tests of the real program and for the command
// "lathe dev fake-api". In comes HTTP as the program sends it to any base URL; out go scripted answers, faults on
// demand, and a record of every request with every rule that it broke.
//
// It is an independent judge: it works on the raw JSON of requests and on the published rules, and uses no package
// of the program. Where the API is lenient and a good client must not rely on it, the fake refuses: sampling
// parameters, forced tool choice, two messages of one role in a row, duplicate keys, unknown feature headers.
//
// Start reading at exchange.go (the way of a request), then rules.go (what is checked), seal.go (thinking blocks
// and the prefix that they are bound to), cache.go (the prompt cache), model.go and stream.go (the answer), faults.go.
//
// # Use in a test
//
//	s, err := fakeapi.New(fakeapi.Options{Script: fakeapi.Sequence(
//		fakeapi.Answer{Blocks: []fakeapi.Block{{Thinking: "hm"}, fakeapi.Call("Bash", map[string]any{"command": "ls"})}},
//		fakeapi.Text("done"),
//	)})
//	url, err := s.Start()
//	defer s.Close()
//	// run the program against url, then look at s.Violations(), s.Requests(), s.Totals("")
//
// Many processes can share a server: AddScript gives each its own script, chosen by the base URL
// s.URLFor(name), or by the API key that they send. Another process looks at a server by GET /_fake/requests,
// /_fake/bodies, /_fake/violations and /_fake/totals (both with ?key=), and POST /_fake/release.
//
// # Script files
//
// A script is one JSON object, or JSON lines: each value is one turn, and the first may be an object with the
// script's other fields. All fields are those of Script, Turn, Answer, Block, Fault, When and Capture; unknown ones
// are errors. Durations are texts like "150ms".
//
//	{"vars": {"NAME": "demo"}, "keys": ["good-key"], "models": [{"id": "tiny", "like": "claude-opus-5-5", "context": 32000}]}
//	{"blocks": [{"thinking": "look first"}, {"tool": "Read", "input": {"file_path": "${CWD}/a.txt"}}]}
//	{"faults": [{"kind": "status", "status": 529}], "times": 2}
//	{"capture": [{"name": "PID", "regexp": "pid (\\d+)"}], "blocks": [{"tool": "Bash", "input": {"command": "kill ${PID}"}}]}
//	{"text": "half an ans", "faults": [{"kind": "abort", "after_events": 3}]}
//	{"when": {"no_tools": true}, "text": "A title"}
//	{"text": "done", "usage": {"input_tokens": 29000}, "chunk": 5, "event_delay": "10ms"}
//
// A turn with "when" is given whenever it matches (at most "times" times, if set) and does not take part in the
// sequence; the other turns are given one after the other, each once or "times" times (negative: for ever). A
// request that breaks a rule takes no turn; a fault does. When no turn is left, "default" answers, or else the request is
// refused and recorded as a violation of the rule "script".
//
// Placeholders ${NAME} in texts and inputs are filled in from captures, vars, CWD (the server's directory), model,
// call, last_user, last_tool_result and env:NAME; a name that is not known stays as it is. Thinking blocks are left out when the
// request does not make the model think, and their text is left out where the model's default display is omitted.
//
// # The prompt cache
//
// Tokens are a quarter of the bytes of each block (images by their size in pixels). Positions, lookback, smallest prefix, lifetimes and
// prices follow the published rules, with the clock of Options.Now. Requests carry the result: Usage, Units (price of the
// prompt in units of one uncached input token), Hit, Marks and Prefix, the hash of every position, so that a test can
// find the first one that changed. Usage that a script overrides is only reported to the client, never recorded.
package fakeapi
