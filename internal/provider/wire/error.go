package wire

import (
	"encoding/json"
	"net/http"
	"strings"

	"lathe/internal/provider"
)

// Error reads an error body or an error event. The status is that of the HTTP answer, 0 for an event in a stream
// that began well.
func Error(status int, body []byte) *provider.Error {
	var e struct {
		Error     json.RawMessage `json:"error"`
		Message   string          `json:"message"`
		RequestID string          `json:"request_id"`
	}
	var inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &e)
	if json.Unmarshal(e.Error, &inner) != nil {
		_ = json.Unmarshal(e.Error, &inner.Message) // some gateways send a string
	}
	out := &provider.Error{Status: status, Message: inner.Message, RequestID: e.RequestID}
	if out.Message == "" {
		out.Message = e.Message
	}
	if out.Message == "" {
		out.Message = plain(status, inner.Type, body)
	}
	out.Kind = kind(status, inner.Type, out.Message)
	return out
}

// plain makes a message out of an error body that is not of the API.
func plain(status int, kind string, body []byte) string {
	text := strings.TrimSpace(string(body))
	switch {
	case kind != "":
		return kind
	case text == "" || text[0] == '<' || text[0] == '{':
		if s := http.StatusText(status); s != "" {
			return s
		}
		return "no message"
	case len(text) > 300:
		return strings.ToValidUTF8(text[:300], "") + "…"
	}
	return strings.ToValidUTF8(text, "�")
}

// kind sorts a failure by its type where it has one, else by its status.
func kind(status int, typ, message string) provider.Kind {
	lower := strings.ToLower(message)
	switch typ {
	case "authentication_error":
		return provider.Auth
	case "billing_error":
		return provider.Billing
	case "permission_error":
		return provider.Forbidden
	case "not_found_error":
		return provider.NotFound
	case "request_too_large":
		return tooLarge(lower)
	case "rate_limit_error":
		return limited(lower)
	case "overloaded_error":
		return provider.Overloaded
	case "api_error", "timeout_error", "conflict_error":
		return provider.Server
	case "invalid_request_error":
		if status == http.StatusRequestEntityTooLarge {
			return tooLarge(lower)
		}
		return invalid(lower)
	}
	switch {
	case status == http.StatusUnauthorized:
		return provider.Auth
	case status == http.StatusPaymentRequired:
		return provider.Billing
	case status == http.StatusForbidden:
		return provider.Forbidden
	case status == http.StatusNotFound:
		return provider.NotFound
	case status == http.StatusRequestEntityTooLarge:
		return tooLarge(lower)
	case status == http.StatusTooManyRequests:
		return limited(lower)
	case status == 529:
		return provider.Overloaded
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict:
		return provider.Server
	case status >= 300 && status < 400:
		return provider.Malformed
	case status == 0:
		return provider.Server // an error event of a type that we do not know
	}
	return invalid(lower)
}

func limited(lower string) provider.Kind {
	if strings.Contains(lower, "credit balance") || strings.Contains(lower, "spend limit") || strings.Contains(lower, "spending limit") {
		return provider.Billing
	}
	return provider.RateLimit
}

func tooLarge(lower string) provider.Kind {
	if tooLong(lower) {
		return provider.TooLong
	}
	return provider.TooLarge
}

func tooLong(lower string) bool {
	return strings.Contains(lower, "prompt is too long") || strings.Contains(lower, "input is too long") ||
		strings.Contains(lower, "exceed context limit") || strings.Contains(lower, "context window") ||
		strings.Contains(lower, "context length") || strings.Contains(lower, "exceeds the available context size")
}

// invalid sorts a 400 by its words, since the API has one type for all.
func invalid(lower string) provider.Kind {
	switch {
	case tooLong(lower):
		return provider.TooLong
	case strings.Contains(lower, "credit balance"):
		return provider.Billing
	case strings.Contains(lower, "thinking") && (strings.Contains(lower, "block") || strings.Contains(lower, "signature")):
		return provider.Thinking400
	}
	return provider.Invalid
}
