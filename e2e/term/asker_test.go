//go:build unix

package term

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/fakeapi"
)

// asker is an MCP server on standard input and output whose tools ask the person.
func asker() {
	s := mcp.NewServer(&mcp.Implementation{Name: "asker", Version: "1.0"}, nil)
	ask := func(name string, p *mcp.ElicitParams) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Asks the person.", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got, ok := req.Params.InputResponses["it"].(*mcp.ElicitResult)
			if !ok {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"it": p}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint("got ", got.Action, " ", got.Content)}}}, nil
		})
	}
	ask("form", &mcp.ElicitParams{Message: "How shall the table be booked?", RequestedSchema: map[string]any{
		"type": "object", "required": []string{"a_name", "b_guests", "d_place"},
		"properties": map[string]any{
			"a_name":   map[string]any{"type": "string", "title": "Name", "minLength": 2},
			"b_guests": map[string]any{"type": "integer", "title": "Guests", "description": "How many come", "minimum": 1, "maximum": 12},
			"c_dog":    map[string]any{"type": "boolean", "title": "A dog comes along", "default": false},
			"d_place":  map[string]any{"type": "string", "title": "Place", "enum": []string{"in", "out"}, "enumNames": []string{"Inside", "In the garden"}},
		},
	}})
	ask("visit", &mcp.ElicitParams{Mode: "url", Message: "Please sign in first.", URL: "https://example.com/login?state=1", ElicitationID: "e1"})
	s.AddResource(&mcp.Resource{URI: "menu://tonight", Name: "tonight", Title: "What the kitchen has"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "menu://tonight", Text: "Soup of the day: leek."}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "recipe://{dish}", Name: "recipe", Title: "How a dish is made"}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: "Take " + req.Params.URI}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "order", Description: "Orders a dish", Arguments: []*mcp.PromptArgument{{Name: "dish", Required: true}, {Name: "drink"}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprint("Please order ", req.Params.Arguments)}}}}, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// askerRig has the server for all of the user's projects, its tools allowed.
func askerRig(t *testing.T, script *fakeapi.Script) *rig {
	t.Helper()
	path, err := exec.LookPath("asker")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, script)
	r.homeFile(".claude.json", fmt.Sprintf(`{"mcpServers": {"asker": {"type": "stdio", "command": %q}}}`, path))
	r.homeFile(".claude/settings.json", `{"permissions": {"allow": ["mcp__asker"]}}`)
	return r
}

// The resources of a server are offered beside files, by their address or their title, and what is chosen is sent along.
func TestMentionOfResource(t *testing.T) {
	r := askerRig(t, fakeapi.Sequence(fakeapi.Text("Hello."), fakeapi.Text("Leek it is."), fakeapi.Text("Again.")))
	r.file("kitchen/tools.md", "# Tools\n")
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("hello<enter>") // the first turn waits for the server
	s.waitFor("Hello.", "what shall be done?")
	s.keys("what is there @kitchen")
	s.waitFor("kitchen/tools.md", "asker:menu://tonight What the kitchen has")
	s.keys("<esc>")
	s.gone("tools.md")
	s.keys("<c-u>what is there @asker:")
	s.waitFor("❯ asker:menu://tonight")
	s.keys("<tab>")
	s.waitFor("❯ what is there @asker:menu://tonight\n")
	s.keys("<enter>")
	s.waitFor("Leek it is.")
	if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "Soup of the day: leek.") {
		t.Errorf("the resource was not sent: %s", body)
	}
}

func TestElicitForm(t *testing.T) {
	for _, cols := range sizes {
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			t.Parallel()
			r := askerRig(t, fakeapi.Sequence(answer(fakeapi.Call("mcp__asker__form", map[string]any{})), fakeapi.Text("Booked.")))
			s := r.start(cols, 40)
			s.waitFor("manual mode")
			s.keys("go<enter>")
			s.waitFor("The MCP server asker asks", "How shall the table be booked?", "A dog comes along", "In the garden", "No, decline")
			s.golden(fmt.Sprintf("elicit-%d", cols))
			s.keys("A<enter>")
			s.waitFor("must have at least 2 characters")
			s.keys("da<enter>13<enter>")
			s.waitFor("must be 12 or less")
			s.keys("<backspace>2<enter><space><enter><down><space><enter>")
			s.waitFor("❯ Send")
			s.keys("<enter>")
			s.waitFor("Booked.")
			if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "got accept map[a_name:Ada b_guests:12 c_dog:true d_place:out]") {
				t.Errorf("the answer did not arrive:\n%s", body)
			}
		})
	}
}

func TestElicitRefused(t *testing.T) {
	for keys, want := range map[string]string{"<esc>": "got cancel", "<s-tab><enter>": "got decline", "<c-c>": "got cancel"} {
		r := askerRig(t, fakeapi.Sequence(answer(fakeapi.Call("mcp__asker__form", map[string]any{})), fakeapi.Text("Then not.")))
		s := r.start(80, 40)
		s.waitFor("manual mode")
		s.keys("go<enter>")
		s.waitFor("The MCP server asker asks")
		s.keys(keys)
		s.waitFor("Then not.")
		if body := string(r.api.Requests()[1].Body); !strings.Contains(body, want) {
			t.Errorf("%s: not %q:\n%s", keys, want, body)
		}
	}
}

func TestElicitVisit(t *testing.T) {
	for _, cols := range sizes {
		t.Run(fmt.Sprint(cols), func(t *testing.T) {
			t.Parallel()
			r := askerRig(t, fakeapi.Sequence(answer(fakeapi.Call("mcp__asker__visit", map[string]any{})), fakeapi.Text("Signed in.")))
			s := r.start(cols, 40)
			s.waitFor("manual mode")
			s.keys("go<enter>")
			s.waitFor("Please sign in first.", "It leads to example.com", "https://example.com/login?state=1")
			s.golden(fmt.Sprintf("visit-%d", cols))
			s.keys("c")
			s.waitFor("copied", "❯ 3. Go on")
			if !strings.Contains(s.written(), "\x1b]52;c;") {
				t.Error("the address is not in the clipboard")
			}
			s.keys("<enter>")
			s.waitFor("Signed in.")
			if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "got accept") {
				t.Errorf("the answer did not arrive:\n%s", body)
			}
		})
	}
}

// TestElicitPlain: a screen reader's user is asked line by line.
func TestElicitPlain(t *testing.T) {
	r := askerRig(t, fakeapi.Sequence(answer(fakeapi.Call("mcp__asker__form", map[string]any{})), fakeapi.Text("Booked.")))
	s := r.start(80, 50, "--ax-screen-reader")
	s.waitFor("Ready. Model")
	s.keys("go<enter>")
	s.waitFor("The MCP server asker asks: How shall the table be booked?", "Name")
	for _, line := range []string{"Ada", "4", "no", "2", "send"} {
		s.keys(line + "<enter>")
	}
	s.waitFor("Booked.")
	if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "got accept map[a_name:Ada b_guests:4 c_dog:false d_place:out]") {
		t.Errorf("the answer did not arrive:\n%s", body)
	}
}
