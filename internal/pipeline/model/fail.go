package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

// synthetic is the model of messages that the program makes to show a failure.
const synthetic = "<synthetic>"

// ended is an answer that ends the turn with a text for the person.
type ended struct{ category, terminal, text, reason string }

func (e *ended) Error() string { return e.text }

// fail makes the turn's end out of what ended the pass. What a person has seen of the answer is kept; that works
// after an interrupt too, since the log is not bound to ctx.
func (p *pass) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return p.interrupted(ctx)
	}
	var stop *ended
	var known *turn.Stop
	e := apiError(err)
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &stop):
	case e != nil:
		if keep := p.cur.keepPartial(); keep != nil {
			return keep
		}
		stop = &ended{category: category(e.Kind), terminal: "api_error", text: p.explain(e)}
		if e.Kind == provider.TooLong || e.Kind == provider.TooLarge {
			stop.terminal = "prompt_too_long"
		}
	default:
		return err
	}
	status := 0
	if e != nil {
		status = e.Status
	}
	m := msg.Message{Kind: msg.KindAssistant, Model: synthetic, APIError: stop.category, StopReason: stop.reason, Blocks: []msg.Block{msg.Text(stop.text)}}
	if e != nil {
		m.RequestID = e.RequestID
	}
	if err := p.t.Append(m); err != nil {
		return err
	}
	return &turn.Stop{Subtype: event.Success, Terminal: stop.terminal, Text: stop.text, Status: status, Reason: stop.reason, Err: err}
}

func (p *pass) interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	stop := &turn.Stop{Subtype: event.ErrDuring, Terminal: "aborted_streaming", Errors: []string{cause.Error()}, Err: cause}
	// Front ends may have gone with the turn, so an error of telling them says nothing; one of the disk does.
	if p.cur.keepPartial() != nil && p.cur.lost != nil {
		stop.Errors = append(stop.Errors, p.cur.lost.Error())
	}
	return stop
}

// category names a kind of failure as the stream-json output does.
func category(k provider.Kind) string {
	switch k {
	case provider.Auth:
		return "authentication_failed"
	case provider.Billing:
		return "billing_error"
	case provider.RateLimit:
		return "rate_limit"
	case provider.Overloaded:
		return "overloaded"
	case provider.NotFound:
		return "model_not_found"
	case provider.Server, provider.Network, provider.Absent, provider.Truncated, provider.Malformed, provider.Idle:
		return "server_error"
	case provider.TooLong, provider.TooLarge, provider.Invalid, provider.Thinking400:
		return "invalid_request"
	}
	return "unknown"
}

// explain says what failed and what to do about it.
func (p *pass) explain(e *provider.Error) string {
	said := "API Error: " + e.Error()
	switch e.Kind {
	case provider.Auth:
		return said + ". The key that was sent is not accepted: check ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the apiKeyHelper of the settings, and that it belongs to ANTHROPIC_BASE_URL."
	case provider.Billing:
		return said + ". Add credit to the account or raise its limit, then send the prompt again."
	case provider.Forbidden:
		return said + ". The key may not do this: check its workspace and the access to " + p.req.Model + "."
	case provider.NotFound:
		return said + ". Does the model " + p.req.Model + " exist, and may the key use it? Choose another with --model; check ANTHROPIC_BASE_URL too."
	case provider.RateLimit:
		text := "API Error: Request rejected (429): " + e.Message + withID(e)
		if e.After > p.conf.MaxWait {
			return text + fmt.Sprintf(". The server asks to wait %s.", e.After)
		}
		return text + ". The limits of the key are used up for now: wait a little, then send the prompt again."
	case provider.Overloaded:
		return "API Error: Repeated 529 Overloaded errors: " + e.Message + withID(e) + ". Try again later, or set another model with --fallback-model."
	case provider.Server:
		return said + ". The server failed; try again later."
	case provider.Network:
		return said + ". Check the network, the proxy settings and ANTHROPIC_BASE_URL."
	case provider.Absent:
		return said + ". No server has answered there yet. Is it running, and is the address in that variable right?"
	case provider.Idle, provider.Truncated:
		return said + ". The response above may be incomplete; send \"continue\" to go on."
	case provider.Malformed:
		return said + ". The server's answer was empty or malformed: check ANTHROPIC_BASE_URL and what stands between."
	case provider.TooLong:
		return "Prompt is too long (" + said + "). Start a new session, or resume this one with a model that has a larger window."
	case provider.TooLarge:
		return said + ". The request is too large: remove images or documents, or start a new session."
	case provider.Thinking400:
		return said + ". Start a new session to go on."
	case provider.Replay:
		return "Replay: " + e.Error()
	}
	return said + ". The request is not valid as it is; if it was not your input, please report this."
}

func withID(e *provider.Error) string {
	if e.RequestID == "" {
		return ""
	}
	return " (request " + e.RequestID + ")"
}

// refusal says that the model refused, and why where it says so.
func refusal(a *attempt) string {
	var d struct {
		Category    string `json:"category"`
		Explanation string `json:"explanation"`
	}
	_ = json.Unmarshal(a.asm.details, &d)
	text := "API Error: the model refused to answer"
	if d.Category != "" {
		text += " (" + d.Category + ")"
	}
	if d.Explanation != "" {
		text += ": " + d.Explanation
	}
	return strings.TrimRight(text, ".") + ". Its partial answer was taken back. Word the prompt in another way or choose another model; earlier messages may be the cause too, which a new session does not have."
}
