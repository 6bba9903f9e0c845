package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"lathe/internal/proc"
)

// roleVar makes the test binary a server.
const roleVar = "LATHE_TEST_MCP_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(serve(role))
	}
	goleak.VerifyTestMain(m)
}

// serve is a server on standard input and output, with the fault that the role names.
func serve(role string) int {
	switch role {
	case "silent":
		select {}
	case "hang":
		_, _ = os.Stdin.Read(make([]byte, 1))
		select {}
	case "crash":
		fmt.Fprintln(os.Stderr, "cannot open the database")
		return 3
	case "noise":
		fmt.Println("Starting the server …")
		fmt.Println("{broken")
		for range 2000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 200))
		}
	case "hasty":
		return hasty()
	case "line", "deaf":
		return lineByLine(role == "deaf")
	case "stubborn": // ends neither with its input nor at a signal
		signal.Ignore(syscall.SIGTERM)
	}
	err := newServerWith(role).Run(context.Background(), &sdk.StdioTransport{})
	if role == "stubborn" {
		select {}
	}
	if err != nil {
		return 1
	}
	return 0
}

// hasty tells of changed tools before it has answered anything, and waits with the handshake until that was read.
func hasty() int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hasty","version":"1"}}`
			for range 50 {
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			fmt.Println(`{"jsonrpc":"2.0","id":"read?","method":"ping"}`) // whoever answers this has read them
			if !in.Scan() || !strings.Contains(in.Text(), `"read?"`) {
				return 1
			}
		case "tools/list":
			answer = `"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
	}
	return 0
}

// lineByLine does one thing at a time: it reads a line, and writes the answer before it reads the next one. With deaf it
// reads nothing any more when it has listed its tools.
func lineByLine(deaf bool) int {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments echoIn `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"line","version":"1"}}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			text, _ := json.Marshal(m.Params.Arguments.Text)
			answer = `"result":{"content":[{"type":"text","text":` + string(text) + `}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
		for deaf && m.Method == "tools/list" {
			time.Sleep(time.Hour)
		}
	}
}

type echoIn struct {
	Text string `json:"text"`
}

// newServerWith is the server that all tests of the protocol use.
func newServerWith(role string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1.2"}, &sdk.ServerOptions{Instructions: "Be kind."})
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "says it again", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}, Meta: sdk.Meta{"anthropic/alwaysLoad": true}},
		func(_ context.Context, req *sdk.CallToolRequest, in echoIn) (*sdk.CallToolResult, any, error) {
			id, _ := req.Params.Meta["claudecode/toolUseId"].(string)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(in.Text + " " + id)}}}, nil, nil
		})
	tool := func(name string, f func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		sdk.AddTool(s, &sdk.Tool{Name: name}, func(ctx context.Context, req *sdk.CallToolRequest, _ map[string]any) (*sdk.CallToolResult, any, error) {
			r, err := f(ctx, req)
			return r, nil, err
		})
	}
	say := func(text string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	if role == "shadow" {
		s.RemoveTools("echo")
		tool("b__echo", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("shadow"), nil })
		tool("own", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("own"), nil })
		return s
	}
	tool("fail", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("it is broken")
	})
	tool("die", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "segmentation fault")
		os.Exit(7)
		return nil, nil
	})
	tool("wait", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1, Total: 3, Message: "working"})
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "cancelled")
		return nil, ctx.Err()
	})
	tool("big", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(strings.Repeat("line of output\n", 10_000)), nil
	})
	tool("structured", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"n": 7}}, nil
	})
	tool("mixed", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "see"}, &sdk.ImageContent{Data: pixel, MIMEType: "image/png"},
			&sdk.ImageContent{Data: []byte("<svg/>"), MIMEType: "image/svg+xml"},
			&sdk.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"},
			&sdk.ResourceLink{URI: "test://a", Name: "a"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "test://b", Text: "inside"}},
		}}, nil
	})
	tool("env", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(os.Getenv("MINE") + " " + os.Getenv("CLAUDE_PROJECT_DIR")), nil
	})
	tool("roots", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		//lint:ignore SA1019 servers of earlier versions do it
		r, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		var uris []string
		for _, root := range r.Roots {
			uris = append(uris, root.URI)
		}
		slices.Sort(uris)
		return say(strings.Join(uris, " ")), nil
	})
	tool("ask", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if r, ok := req.Params.InputResponses["who"].(*sdk.ElicitResult); ok {
			return say(fmt.Sprint(r.Action, " ", r.Content["name"])), nil
		}
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"who": &sdk.ElicitParams{
			Mode: "form", Message: "who?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
		}}}, nil
	})
	tool("grow", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		tool("grown", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("new"), nil })
		return say("done"), nil
	})
	tool("stock", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.AddResource(&sdk.Resource{URI: "test://new", Name: "new"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{}, nil
		})
		return say("done"), nil
	})
	tool("visit", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: sdk.CodeURLElicitationRequired, Message: "visit", Data: json.RawMessage(`{"elicitations":[{"mode":"url","url":"https://x.test/","elicitationId":"1","message":"go"}]}`)}
	})
	s.AddResource(&sdk.Resource{URI: "test://a", Name: "a", MIMEType: "text/plain"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "test://a", Text: "content of a"}}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "greet", Description: "a greeting", Arguments: []*sdk.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Greet " + req.Params.Arguments["name"]}}}}, nil
		})
	return s
}

var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

// bench is a set of servers under test.
type bench struct {
	*Set
	t       *testing.T
	env     map[string]string
	mu      sync.Mutex
	saved   map[string][]byte
	changed chan string
	asked   []Elicitation
}

func newBench(t *testing.T, edit func(*Deps), configs ...Config) *bench {
	t.Helper()
	b := &bench{t: t, env: map[string]string{}, saved: map[string][]byte{}, changed: make(chan string, 100)}
	procs := &proc.Group{}
	d := Deps{
		Procs: procs, Environ: os.Environ, Getenv: func(k string) string { return b.env[k] }, Dir: t.TempDir(), Project: "/project", Version: "0", Roots: []string{"/work dir"},
		Spill: func(name string, data []byte) (string, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.saved[name] = data
			return "/spill/" + name, nil
		},
		Changed: func(name string) { b.changed <- name },
		Elicit: func(_ context.Context, e Elicitation) (Elicited, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.asked = append(b.asked, e)
			return Elicited{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		retryDelay: time.Millisecond,
	}
	if edit != nil {
		edit(&d)
	}
	b.Set = New(d, configs)
	t.Cleanup(func() { b.Close(); procs.Close() })
	return b
}

// child is an entry for the test binary in a role.
func childEntry(name, role string) Config {
	return Config{Name: name, Scope: User, Type: Stdio, Command: os.Args[0], Env: map[string]string{roleVar: role, "MINE": "own"}}
}

func (b *bench) up() *bench {
	b.t.Helper()
	b.Start()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if late := b.Wait(ctx, func(Config) bool { return true }); len(late) > 0 {
		b.t.Fatalf("still connecting: %v", late)
	}
	return b
}

func (b *bench) state(name string) Status {
	b.t.Helper()
	st, ok := b.Server(name)
	if !ok {
		b.t.Fatalf("no server %s", name)
	}
	return st
}

// call calls a tool and renders what comes back.
func (b *bench) call(ctx context.Context, full, input string) string {
	b.t.Helper()
	tl, ok := b.Tool(full)
	if !ok {
		b.t.Fatalf("there is no tool %s; %+v", full, b.Status())
	}
	res, err := b.Call(ctx, Call{Tool: tl, ID: "toolu_1", Input: json.RawMessage(input)})
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for _, blk := range res.Blocks {
		if blk.Type == "text" {
			out = append(out, blk.Text)
		} else {
			out = append(out, "<"+blk.Type+" "+blk.Source.MediaType+">")
		}
	}
	bad := ""
	if res.IsError {
		bad = "! "
	}
	return bad + strings.Join(out, "|")
}

// httpServer serves the test server over HTTP, with or without sessions; the SDK speaks the protocol of 2026-07-28
// only without.
func httpServer(t *testing.T, stateless bool, wrap func(http.Handler) http.Handler) string {
	s := newServerWith("http")
	var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: stateless})
	if wrap != nil {
		h = wrap(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}
