package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/msg"
)

// Call is a call of a tool.
type Call struct {
	Tool     Tool
	ID       string          // of the tool use, for the server's records
	Input    json.RawMessage // an object
	Progress func(text string)
}

// Result is what a server gave back.
type Result struct {
	Blocks  []msg.Block // for the model
	Output  any         // for programs: the content in the API's form
	IsError bool
	// Structured is the structured content, nil without.
	Structured json.RawMessage
}

// Call calls a tool. The error says why there is no result, and what may be done.
func (s *Set) Call(ctx context.Context, call Call) (Result, error) {
	sv := s.find(call.Tool.Server)
	if sv == nil {
		return Result{}, fmt.Errorf("the MCP server %q is not part of this session any more", call.Tool.Server)
	}
	var res *sdk.CallToolResult
	err := sv.use(ctx, func(conn *connection) (err error) {
		res, err = conn.call(ctx, call)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return s.content(res, call.Tool), nil
}

// use asks something of the server, once more where the server has forgotten the session, so that it has done nothing. The
// error is for the model.
func (sv *server) use(ctx context.Context, ask func(*connection) error) error {
	conn, err := sv.ready(ctx)
	if err != nil {
		return err
	}
	err = ask(conn)
	if errors.Is(err, sdk.ErrSessionMissing) {
		if rerr := sv.restart(ctx, conn); rerr != nil {
			return fmt.Errorf("the MCP server %q has ended its session, and a new one cannot be had: %w", sv.cfg.Name, rerr)
		}
		if conn, err = sv.ready(ctx); err != nil {
			return err
		}
		err = ask(conn)
	}
	if err != nil {
		return conn.explain(ctx, err)
	}
	return nil
}

// errIdle ends a call that gives no sign of life, errSlow one that takes too long.
var (
	errIdle = errors.New("it gave no sign of life")
	errSlow = errors.New("it took too long")
)

func (c *connection) call(ctx context.Context, call Call) (res *sdk.CallToolResult, err error) {
	err = c.within(ctx, call.Progress, func(ctx context.Context, meta sdk.Meta) error {
		params := &sdk.CallToolParams{Name: call.Tool.Name, Arguments: call.Input, Meta: meta}
		if len(call.Input) == 0 {
			params.Arguments = json.RawMessage("{}")
		}
		if call.ID != "" {
			params.Meta["claudecode/toolUseId"] = call.ID
		}
		res, err = c.session.CallTool(ctx, params)
		if err == nil {
			return nil
		}
		done, derr := c.visit(ctx, err)
		switch {
		case done && derr == nil:
			res, err = c.session.CallTool(ctx, params)
		case done:
			err = derr
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// within asks something of the server within the limits of a call: of the whole, and of the time without a sign of life. ask
// gets what to send with the request, so that the server can tell of progress, which is such a sign. progress may be nil.
func (c *connection) within(ctx context.Context, progress func(text string), ask func(context.Context, sdk.Meta) error) error {
	cfg, set := c.sv.cfg, c.sv.set
	limit := cfg.Timeout()
	if limit == 0 {
		limit = set.milliseconds("MCP_TOOL_TIMEOUT", callTime)
	}
	idle := idleLocal
	if cfg.Remote() {
		idle = idleRemote
	}
	idle = set.milliseconds("CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT", idle)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	whole := time.AfterFunc(limit, func() {
		cancel(fmt.Errorf("%w: more than %s (timeout of its entry, or MCP_TOOL_TIMEOUT)", errSlow, limit))
	})
	defer whole.Stop()
	quiet := time.AfterFunc(idle, func() { cancel(fmt.Errorf("%w for %s (CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT)", errIdle, idle)) })
	defer quiet.Stop()
	var over atomic.Bool
	defer over.Store(true)
	token, stop := c.listen(func(text string) {
		if over.Load() {
			return
		}
		quiet.Reset(idle)
		if progress != nil {
			progress(text)
		}
	})
	defer stop()
	err := ask(ctx, sdk.Meta{"progressToken": token})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return err
}

// explain puts a failed call into words for the model.
func (c *connection) explain(ctx context.Context, err error) error {
	name := c.sv.cfg.Name
	var rpc *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errIdle), errors.Is(err, errSlow):
		return fmt.Errorf("the MCP server %q was asked to stop this call: %w. What it did until then stands", name, err)
	case errors.Is(err, errNeedsAuth):
		return fmt.Errorf("the MCP server %q asks for a sign-in; the user can run lathe mcp login %s", name, name)
	case errors.As(err, &rpc):
		return fmt.Errorf("the MCP server %q refused the call: %s (code %d)", name, rpc.Message, rpc.Code)
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.EOF), c.sv.lost(c):
		c.untilNoticed(ctx)
		return fmt.Errorf("the MCP server %q was lost during this call, and what it did is unknown: %s. Its tools fail until it is connected again (/mcp reconnect %s)", name, c.lostText(), name)
	}
	return fmt.Errorf("the call of the MCP server %q failed: %w", name, err)
}

// untilNoticed waits until the server knows that its process has gone: a next call must not be sent to it and be taken for
// one that it may have done.
func (c *connection) untilNoticed(ctx context.Context) {
	if c.child == nil || c.noticed == nil {
		return
	}
	select {
	case <-c.noticed:
	case <-ctx.Done():
	}
}

// lost reports whether the connection is no longer the server's.
func (sv *server) lost(c *connection) bool {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	return sv.conn != c
}
