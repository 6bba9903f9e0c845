package sdk

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"lathe/internal/event"
)

// maxLine is the longest line that is read: a message with a few large images.
const maxLine = 64 << 20

// Frame is one line of standard input.
type Frame struct {
	Type      string          `json:"type"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  *struct {
		Subtype   string          `json:"subtype"`
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"`
		Error     string          `json:"error"`
	} `json:"response"`

	// Of user messages.
	Message *struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	UUID        string `json:"uuid"`
	ShouldQuery *bool  `json:"shouldQuery"`
	Composed    bool   `json:"client_composed"`
	Pasted      pastes `json:"pasted_content"`
}

// pastes are contents that a person pasted: each a text or blocks, of which the texts count. A list of another shape is none.
type pastes []string

func (p *pastes) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil || len(list) > mostPastes {
		return nil
	}
	for _, raw := range list {
		if c, err := content(raw); err == nil && strings.TrimSpace(c.Text) != "" {
			*p = append(*p, c.Text)
		}
	}
	return nil
}

const mostPastes = 1000

// Subtype is the kind of a control request.
func (f Frame) Subtype() string {
	var r struct {
		Subtype string `json:"subtype"`
	}
	_ = json.Unmarshal(f.Request, &r) // a request without one has no kind, and is answered so
	return r.Subtype
}

// Reader reads frames. Lines that are not JSON objects are passed over, as hosts expect.
type Reader struct {
	r *bufio.Reader
	// Skipped counts lines that were passed over.
	Skipped int
}

// NewReader returns a reader of frames.
func NewReader(in io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(in, 64<<10)} }

// Next returns the next frame; io.EOF at the end.
func (r *Reader) Next() (Frame, error) {
	for {
		line, err := r.line()
		if len(bytes.TrimSpace(line)) > 0 {
			var f Frame
			if json.Unmarshal(line, &f) == nil && f.Type != "" {
				return f, nil
			}
			r.Skipped++
		}
		if err != nil {
			return Frame{}, err
		}
	}
}

var errLong = errors.New("a line of more than 64 MB on standard input")

func (r *Reader) line() ([]byte, error) {
	var out []byte
	for {
		part, err := r.r.ReadSlice('\n')
		out = append(out, part...)
		switch {
		case len(out) > maxLine:
			return nil, errLong
		case err == nil:
			return out, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		return out, err
	}
}

// success and failure are control responses.
func success(id string, value json.RawMessage) []byte {
	if value == nil {
		value = json.RawMessage("{}")
	}
	return event.Encode(map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": id, "response": value}})
}

func failure(id, text, code string) []byte {
	r := map[string]any{"subtype": "error", "request_id": id, "error": text}
	if code != "" {
		r["error_code"] = code
	}
	return event.Encode(map[string]any{"type": "control_response", "response": r})
}

func request(id string, fields map[string]any) []byte {
	return event.Encode(map[string]any{"type": "control_request", "request_id": id, "request": fields})
}

func cancelled(id string) []byte {
	return event.Encode(map[string]any{"type": "control_cancel_request", "request_id": id})
}

// Initialized answers the handshake. value is the payload.
func Initialized(id string, value any) []byte {
	return event.Encode(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": id, "response": value,
		"pending_permission_requests": []any{}, "pending_user_dialog_requests": []any{},
	}})
}

// content reads a user message's content: a text, or blocks of the Messages API.
func content(raw json.RawMessage) (event.Prompt, error) {
	var p event.Prompt
	if err := json.Unmarshal(raw, &p.Text); err == nil {
		return p, nil
	}
	blocks, err := decodeBlocks(raw)
	if err != nil {
		return p, fmt.Errorf("the message's content: %w", err)
	}
	for _, b := range blocks {
		if b.Type == "text" && b.Raw == nil {
			if p.Text != "" {
				p.Text += "\n"
			}
			p.Text += b.Text
			continue
		}
		p.Blocks = append(p.Blocks, b)
	}
	return p, nil
}
