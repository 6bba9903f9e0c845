package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/msg"
)

// ErrNobody says that the client has nobody who could be asked.
var ErrNobody = errors.New("the client cannot ask a person")

// Tool is one tool that is offered.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	ReadOnly    bool            `json:"read_only"`
}

// Result is what came of a call.
type Result struct {
	Blocks  []msg.Block `json:"content"` // texts and images
	IsError bool        `json:"isError"`
}

// Ask puts a question to the person at the client; ErrNobody where there is none.
type Ask func(ctx context.Context, question string) (yes bool, err error)

// Options are the parts of a server.
type Options struct {
	Tools   []Tool
	Version string
	// Call carries out a call. id is unique in this process. An error is one of the program; what a tool refuses, or nobody
	// allows, is a result.
	Call func(ctx context.Context, id, tool string, input json.RawMessage, ask Ask) (Result, error)
}

// Serve answers one client until its input has ended and all that it asked is answered, or until ctx ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := sdk.NewServer(&sdk.Implementation{Name: "lathe", Title: "Lathe", Version: o.Version}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{}})
	var calls atomic.Int64
	for _, t := range o.Tools {
		open := !t.ReadOnly
		def := &sdk.Tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema, Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: t.ReadOnly, DestructiveHint: &open, OpenWorldHint: &open,
		}}
		s.AddTool(def, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			input := req.Params.Arguments
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			q := question{req: req}
			res, err := o.Call(ctx, fmt.Sprint("call_", calls.Add(1)), t.Name, input, q.ask)
			if err != nil {
				return nil, err
			}
			if q.open != "" { // nothing was done: it comes again, with the answer
				return &sdk.CallToolResult{RequestState: q.open, InputRequests: sdk.InputRequestMap{askID: &sdk.ElicitParams{
					Mode: "form", Message: q.open, RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
				}}}, nil
			}
			return answer(res), nil
		})
	}
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(ctx, draining{&sdk.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}, MaxLineLength: -1}})
	}()
	select {
	case err := <-ended:
		if ctx.Err() != nil || errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case <-ctx.Done(): // the reader ends with the process: standard input cannot be interrupted
		return nil
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// askID names the one question of a call.
const askID = "allow"

// question is what a call may have asked the person at the client. The protocol has the client put it and send the call
// again with the answer (for older clients the library does that): until then the call is refused.
type question struct {
	req  *sdk.CallToolRequest
	open string // it waits for an answer
}

// ask is an Ask. An answer counts for the words that were asked only.
func (q *question) ask(_ context.Context, text string) (bool, error) {
	if res, ok := q.req.Params.InputResponses[askID].(*sdk.ElicitResult); ok && q.req.Params.RequestState == text {
		return res.Action == "accept", nil
	}
	if p := q.req.Session.InitializeParams(); p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil {
		q.open = text
	}
	return false, ErrNobody
}

// answer is a result in the protocol's form.
func answer(r Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: r.IsError, Content: []sdk.Content{}}
	for _, b := range r.Blocks {
		switch {
		case b.Type == msg.TypeText:
			out.Content = append(out.Content, &sdk.TextContent{Text: b.Text})
		case b.Type == msg.TypeImage && b.Source != nil:
			data, err := base64.StdEncoding.DecodeString(b.Source.Data)
			if err != nil {
				continue
			}
			out.Content = append(out.Content, &sdk.ImageContent{Data: data, MIMEType: b.Source.MediaType})
		default:
			out.Content = append(out.Content, &sdk.TextContent{Text: "[" + b.Type + " left out]"})
		}
	}
	return out
}
