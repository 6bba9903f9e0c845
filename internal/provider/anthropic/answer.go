package anthropic

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"lathe/internal/provider"
	"lathe/internal/provider/sse"
	"lathe/internal/provider/wire"
)

// maxAnswer is how large an answer without streaming may be.
const maxAnswer = 64 << 20

// answer reads the body of a successful response and yields its chunks.
type answer struct {
	resp      *http.Response
	requestID string
	yield     func(provider.Chunk, error) bool
	whole     bool // ChunkStop was yielded
}

// errLeft says that the consumer broke out of the loop.
var errLeft = errors.New("the consumer left")

func (a *answer) read(ctx context.Context) error {
	body := bufio.NewReader(a.resp.Body)
	form, err := a.form(body)
	if err == nil {
		switch form {
		case formStream:
			err = a.stream(body)
		case formJSON:
			err = a.json(body)
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLeft):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

type form int

const (
	formStream form = iota + 1
	formJSON
)

// form tells a stream from a JSON answer, and both from what a proxy or a hotel's login page says. The content
// type decides; where it says nothing, the first byte does.
func (a *answer) form(body *bufio.Reader) (form, error) {
	kind, _, _ := mime.ParseMediaType(a.resp.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		return formStream, nil
	case "application/json":
		return formJSON, nil
	case "", "text/plain", "application/octet-stream", "application/x-ndjson":
	default:
		return 0, a.strange(kind)
	}
	first, err := firstByte(body)
	switch {
	case err == io.EOF:
		return 0, &provider.Error{Kind: provider.Malformed, Status: a.resp.StatusCode, Message: "the server's answer is empty"}
	case err != nil:
		return 0, a.broken(err)
	case first == '<':
		return 0, a.strange("HTML")
	case first == '{':
		return formJSON, nil
	}
	return formStream, nil
}

func (a *answer) strange(kind string) error {
	return &provider.Error{
		Kind: provider.Malformed, Status: a.resp.StatusCode, NoRetry: true,
		Message: fmt.Sprintf("the answer is %s and not of the Messages API; a proxy or a login page may stand between, or the base URL is wrong (%s)",
			kind, a.resp.Request.URL.Redacted()),
	}
}

// firstByte looks at the first byte that is no white space.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

func (a *answer) stream(body io.Reader) error {
	events := sse.NewReader(body)
	for {
		ev, err := events.Next()
		if err == io.EOF {
			return &provider.Error{Kind: provider.Truncated, Message: "the stream ended before its last event", Err: io.ErrUnexpectedEOF}
		}
		if err != nil {
			return a.broken(err)
		}
		if ev.Alive {
			if !a.yield(provider.Chunk{Kind: provider.ChunkPing}, nil) {
				return errLeft
			}
			continue
		}
		c, err := wire.Decode(ev.Data)
		if err != nil {
			if err = a.judge(ev, err); err != nil {
				return err
			}
			c = provider.Chunk{Kind: provider.ChunkUnknown}
		}
		if err := a.pass(c); err != nil || a.whole {
			return err
		}
	}
}

// judge decides what an event that could not be read means. Half an event at the end is a cut, and an event of
// a name that is not of the API is none of our business.
func (a *answer) judge(ev sse.Event, err error) error {
	var pe *provider.Error
	if !errors.As(err, &pe) || pe.Kind != provider.Malformed {
		return err
	}
	if ev.Partial {
		return &provider.Error{Kind: provider.Truncated, Message: "the stream was cut inside an event", Err: io.ErrUnexpectedEOF}
	}
	switch ev.Name {
	case "", "message", "error", "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		return err
	}
	return nil
}

func (a *answer) json(body io.Reader) error {
	var data []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		data = append(data, buf[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return a.broken(err)
		}
		if len(data) > maxAnswer {
			return &provider.Error{Kind: provider.Malformed, Message: "the answer is too large"}
		}
		if !a.yield(provider.Chunk{Kind: provider.ChunkPing}, nil) {
			return errLeft
		}
	}
	chunks, err := wire.Answer(data)
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if err := a.pass(c); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) pass(c provider.Chunk) error {
	if c.Meta != nil {
		c.Meta.RequestID = a.requestID
	}
	a.whole = c.Kind == provider.ChunkStop
	if !a.yield(c, nil) {
		return errLeft
	}
	return nil
}

// broken maps an error of the body to an error of the call.
func (a *answer) broken(err error) error {
	switch {
	case errors.Is(err, sse.ErrTooLarge):
		return &provider.Error{Kind: provider.Malformed, Message: err.Error(), Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &provider.Error{Kind: provider.Truncated, Message: "the connection closed before the answer was whole", Err: err}
	}
	return &provider.Error{Kind: provider.Network, Message: "the connection broke: " + reason(err), Err: err}
}

// withID adds the request id of the response to an error that has none.
func (a *answer) withID(err error) error {
	var pe *provider.Error
	if errors.As(err, &pe) && pe.RequestID == "" {
		pe.RequestID = a.requestID
	}
	return err
}

// finish reads the rest of a body whose answer is whole, a few bytes at most.
func finish(body io.Reader) { _, _ = io.CopyN(io.Discard, body, 4<<10) }
