package jsonl

import (
	"bytes"
	"sync"

	"lathe/internal/msg"
)

// The types of records that reading distinguishes.
const (
	typeFrozen = "lathe-frozen"
	typeState  = "lathe-state"
)

type kind uint8

const (
	kindOther kind = iota // not in the chain, not known
	kindUser
	kindAssistant
	kindSystem
	kindAttachment
	kindProgress
	kindState // any record without a uuid that holds state: titles, modes, ours
	kindFrozen
)

// span is a value's place in its line.
type span struct{ start, end uint32 }

// line is one record, cut into the values that reading needs. It points into the file's bytes.
type line struct {
	all   []byte
	kind  kind
	flags flags

	uuid, parent, logical span // without quotes
	message, toolOutput   span
	time, source, request span
	apiError, extras      span
}

type flags uint16

const (
	flagSidechain  flags = 1 << iota
	flagNoParent         // there is no key parentUuid
	flagNull             // parentUuid is null
	flagBoundary         // a compact boundary
	flagTombstone        // withdraws other messages
	flagOurs             // written by us
	flagMeta             // isMeta
	flagSummary          // isCompactSummary
	flagTranscript       // isVisibleInTranscriptOnly
	flagAPIError         // isApiErrorMessage
	flagCopy             // a record with the same uuid came before; set by newTree
)

func (l *line) has(f flags) bool { return l.flags&f != 0 }

// hasContent reports whether a record of a turn has the message that makes it one.
func (l *line) hasContent() bool {
	m := l.get(l.message)
	return l.kind != kindUser && l.kind != kindAssistant || len(m) > 0 && m[0] == '{'
}

func (l *line) get(s span) []byte { return l.all[s.start:s.end] }

// eachField calls fn with the key (unquoted, escapes kept) and the value of each field of the object that src
// begins with. It returns the index behind the object, or -1 for what is no valid object.
func eachField(src []byte, fn func(key, value []byte)) int {
	return walkFields(src, func(key []byte, i int) int {
		end := msg.SkipValue(src, i)
		if end >= 0 {
			fn(key, src[i:end])
		}
		return end
	})
}

// walkFields calls fn with the key of each field and the index at which its value begins; fn returns the index
// behind the value, or -1 when there is none.
func walkFields(src []byte, fn func(key []byte, i int) int) int {
	i := msg.SkipSpace(src, 0)
	if i >= len(src) || src[i] != '{' {
		return -1
	}
	i = msg.SkipSpace(src, i+1)
	if i < len(src) && src[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(src) || src[i] != '"' {
			return -1
		}
		end := msg.SkipValue(src, i)
		if end < 0 {
			return -1
		}
		key := src[i+1 : end-1]
		if i = msg.SkipSpace(src, end); i >= len(src) || src[i] != ':' {
			return -1
		}
		if i = fn(key, msg.SkipSpace(src, i+1)); i < 0 {
			return -1
		}
		if i = msg.SkipSpace(src, i); i >= len(src) {
			return -1
		}
		switch src[i] {
		case ',':
			i = msg.SkipSpace(src, i+1)
		case '}':
			return i + 1
		default:
			return -1
		}
	}
}

// parseLine cuts one record. It reports false for what is no JSON object from its first byte to its last.
func parseLine(src []byte) (line, bool) {
	l := line{all: src, flags: flagNoParent}
	var typ, subtype []byte
	end := eachField(src, func(key, value []byte) {
		at := cap(src) - cap(value) // both slices end where the array ends
		whole := span{uint32(at), uint32(at + len(value))}
		inner := whole
		if value[0] == '"' {
			inner = span{whole.start + 1, whole.end - 1}
		}
		switch string(key) {
		case "type":
			typ = unquoted(value)
		case "subtype":
			subtype = unquoted(value)
		case "uuid":
			l.uuid = stringSpan(value, inner)
		case "parentUuid":
			l.flags &^= flagNoParent
			l.set(flagNull, string(value) == "null")
			l.parent = stringSpan(value, inner)
		case "logicalParentUuid":
			l.logical = stringSpan(value, inner)
		case "timestamp":
			l.time = stringSpan(value, inner)
		case "sourceToolAssistantUUID":
			l.source = stringSpan(value, inner)
		case "requestId":
			l.request = stringSpan(value, inner)
		case "error":
			l.apiError = whole
		case "lathe":
			l.extras = whole
		case "message":
			l.message = whole
		case "toolUseResult":
			l.toolOutput = whole
		default:
			l.flag(key, value)
		}
	})
	if end < 0 || msg.SkipSpace(src, end) != len(src) {
		return line{}, false
	}
	l.kind = kindOf(typ)
	l.set(flagBoundary, l.kind == kindSystem && string(subtype) == msg.SubCompactBoundary)
	l.set(flagTombstone, l.kind == kindSystem && string(subtype) == subTombstone)
	return l, true
}

func stringSpan(value []byte, inner span) span {
	if value[0] != '"' {
		return span{}
	}
	return inner
}

func (l *line) set(f flags, on bool) {
	if on {
		l.flags |= f
	}
}

func (l *line) flag(key, value []byte) {
	yes := string(value) == "true"
	switch string(key) {
	case "isSidechain":
		l.set(flagSidechain, yes)
	case "isMeta":
		l.set(flagMeta, yes)
	case "isCompactSummary":
		l.set(flagSummary, yes)
	case "isVisibleInTranscriptOnly":
		l.set(flagTranscript, yes)
	case "isApiErrorMessage":
		l.set(flagAPIError, yes)
	case "writer":
		l.set(flagOurs, string(value) == `"lathe"`)
	}
}

func kindOf(typ []byte) kind {
	switch string(typ) {
	case "user":
		return kindUser
	case "assistant":
		return kindAssistant
	case "system":
		return kindSystem
	case "attachment":
		return kindAttachment
	case "progress":
		return kindProgress
	case typeFrozen:
		return kindFrozen
	case typeState, "custom-title", "ai-title", "permission-mode", "last-prompt", "summary":
		return kindState
	}
	return kindOther
}

// unquoted returns what is between the quotes; identifiers and type names hold no escapes.
func unquoted(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// isValue reports whether the text is one JSON value.
func isValue(text []byte) bool { return msg.SkipValue(text, 0) == len(text) }

// rescue looks for a whole record at the end of a broken line: a crash cut one record, and the next was written
// on the same line. The number of tries and the bytes read are bounded, since a line may be long and hostile.
func rescue(src []byte) (line, bool) {
	budget := 8 * len(src)
	for range 100 {
		i := bytes.Index(src[min(1, len(src)):], []byte(`{"`))
		if i < 0 || budget < 0 {
			return line{}, false
		}
		src = src[i+1:]
		if l, ok := parseLine(src); ok && l.kind != kindOther {
			return l, true
		}
		budget -= len(src)
	}
	return line{}, false
}

// systemKeys are the keys of system records that have a meaning of their own; the rest is msg.Message.Extra.
var systemKeys = sync.OnceValue(func() map[string]struct{} {
	keys := map[string]struct{}{}
	for _, k := range []string{
		"type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "timestamp", "cwd", "version", "gitBranch",
		"userType", "entrypoint", "writer", "forkedFrom", "isSidechain", "isMeta", "isCompactSummary",
		"isVisibleInTranscriptOnly", "sourceToolAssistantUUID", "requestId", "isApiErrorMessage", "lathe",
		"withdraws", "subtype", "level", "content", "message", "toolUseResult", "slug", "agentId",
	} {
		keys[k] = struct{}{}
	}
	return keys
})
