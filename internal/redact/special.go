package redact

import "strings"

// How far a token or a private key reaches, and how short a key is, in bytes.
const (
	maxJWT = 8 << 10
	maxKey = 32 << 10
	minKey = 48
)

func isToken(b byte) bool { return isWord(b) || b == '-' }

// jwt finds a signed token: three parts of base64 with points between, of which the first two are JSON.
func jwt(s string, i int) found {
	if i > 0 && isToken(s[i-1]) {
		return found{}
	}
	end := i
	for part := range 3 {
		start := end
		for end < len(s) && end-i < maxJWT && isToken(s[end]) {
			end++
		}
		if part < 2 {
			if end-start < 10 || end >= len(s) || s[end] != '.' || part == 1 && !strings.HasPrefix(s[start:], "eyJ") {
				return found{}
			}
			end++
			continue
		}
		if end-start < 10 {
			return found{}
		}
	}
	return found{i, end, Mark("JWT")}
}

// bearer finds what follows "Bearer " or "Basic " in a header.
func bearer(s string, i int) found {
	word := len("Bearer ")
	if s[i+2] == 's' {
		word = len("Basic ")
	}
	if i > 0 && isWord(s[i-1]) || len(s) < i+word || s[i+word-1] != ' ' ||
		!strings.EqualFold(s[i:i+word], "bearer ") && !strings.EqualFold(s[i:i+word], "basic ") {
		return found{}
	}
	from := i + word
	end := from
	for end < len(s) && end-from < maxJWT && (isToken(s[end]) || strings.IndexByte(".~+/=", s[end]) >= 0) {
		end++
	}
	if end-from < 16 || !mixed(s[from:end]) {
		return found{}
	}
	return found{from, end, Mark("authorization")}
}

// urlPassword finds the password of scheme://user:password@host. i is at the colon before the slashes.
func urlPassword(s string, i int) found {
	if i == 0 || !isWord(s[i-1]) {
		return found{}
	}
	colon := -1
	for j := i + 3; j < len(s) && j-i < 512; j++ {
		switch b := s[j]; {
		case b == '[' && mark(s, j).to > 0: // a name that was redacted; a password that was is done
			if colon == j-1 {
				return found{}
			}
			j = mark(s, j).to - 1
		case b == ':' && colon < 0:
			colon = j
		case b == '@':
			if colon < 0 || j-colon-1 < 3 || placeholder(s[colon+1:j]) {
				return found{}
			}
			return found{colon + 1, j, Mark("URL password")}
		case b <= ' ' || b == '/' || b == '"' || b == '\'' || b == '<' || b == '>' || b == '`' || b == '[' || b == '\\':
			return found{}
		}
	}
	return found{}
}

// privateKey finds a PEM private key with all its lines, whatever stands before each line (a number, say). One whose
// end is missing reaches as far as its lines do.
func privateKey(s string, i int) found {
	const begin, end = "-----BEGIN ", "PRIVATE KEY"
	if !strings.HasPrefix(s[i:], begin) {
		return found{}
	}
	head := s[i:min(len(s), i+64)]
	kind := strings.Index(head, end)
	if kind < 0 || strings.ContainsAny(head[:kind], "\n\\") {
		return found{}
	}
	rest := s[i:min(len(s), i+maxKey)]
	to := 0
	if stop := strings.Index(rest, "-----END "); stop >= kind+len(end) && keyBody(rest[kind+len(end):stop]) {
		if tail := strings.Index(rest[stop+9:], "-----"); tail >= 0 && tail < 64 {
			to = stop + 9 + tail + 5
		}
	}
	if to == 0 {
		if to = keyLines(rest); to-kind < minKey {
			return found{} // only named, as in a program that reads keys
		}
	}
	return found{i, i + to, Mark("private key")}
}

// keyBody reports whether what stands between the first and the last line of a key is one: base64, and the numbers,
// quotes and escapes that tools put around lines.
func keyBody(s string) bool {
	n := 0
	for i := range len(s) {
		switch b := s[i]; {
		case isWord(b) || b == '+' || b == '/' || b == '=':
			n++
		case b > ' ' && b < 0x7f && strings.IndexByte(`\",':-|#*.`, b) < 0:
			return false
		}
	}
	return n >= minKey
}

// keyLines is the length of the lines of a key that has no end, its first line included.
func keyLines(s string) int {
	at := strings.IndexByte(s, '\n')
	if at < 0 {
		return len(s)
	}
	for at < len(s) {
		line, _, _ := strings.Cut(s[at+1:], "\n")
		if !keyLine(line) {
			return at
		}
		at += 1 + len(line)
	}
	return len(s)
}

// keyLine reports whether a line can be one of a PEM block, with a line number before it or without.
func keyLine(line string) bool {
	body := strings.TrimSpace(line)
	if i := strings.LastIndexAny(body, "\t→ :|"); i >= 0 && strings.Trim(body[:i], "0123456789 →\t:|") == "" {
		body = body[i:]
		body = strings.TrimLeft(body, "\t→ :|")
	}
	if strings.HasPrefix(body, "Proc-Type:") || strings.HasPrefix(body, "DEK-Info:") {
		return true
	}
	if len(body) < 8 {
		return false
	}
	for _, b := range []byte(body) {
		if !isWord(b) && b != '+' && b != '/' && b != '=' {
			return false
		}
	}
	return true
}

// assigned finds NAME=value and NAME: "value" where the name, in capitals, says that it is a secret.
func assigned(s string, i int) found {
	start := i
	for start > 0 && i-start < 64 && isUpper(s[start-1]) {
		start--
	}
	end := i
	for end < len(s) && end-start < 100 && isUpper(s[end]) {
		end++
	}
	from, quote := valueStart(s, end)
	if from < 0 || start > 0 && isWord(s[start-1]) || end < len(s) && isWord(s[end]) || !secretName(s[start:end]) {
		return found{}
	}
	to := from
	for to < len(s) && to-from < 4<<10 && valueByte(s[to], quote) {
		to++
	}
	value := s[from:to]
	if quote != 0 && (to >= len(s) || s[to] != quote) || quote == 0 && to < len(s) && s[to] > ' ' && strings.IndexByte(`;,"'`, s[to]) < 0 {
		return found{} // an expression, not a value
	}
	if len(value) < minValue || !mixed(value) || placeholder(value) {
		return found{}
	}
	return found{from, to, Mark(s[start:end])}
}

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' }

// valueStart finds where a value begins behind a name, and the quote around it; -1 when nothing is assigned.
func valueStart(s string, i int) (from int, quote byte) {
	if i < len(s) && s[i] == '"' { // "NAME": "value"
		i++
	}
	i = blanks(s, i)
	if i >= len(s) || s[i] != '=' && s[i] != ':' {
		return -1, 0
	}
	i++
	if i < len(s) && s[i] == '=' {
		return -1, 0 // a comparison
	}
	i = blanks(s, i)
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		return i + 1, s[i]
	}
	return i, 0
}

func blanks(s string, i int) int {
	for end := i + 2; i < end && i < len(s) && s[i] == ' '; i++ {
	}
	return i
}

func valueByte(b, quote byte) bool {
	if quote != 0 {
		return b > ' ' && b != quote && b != '[' && b != '\\' && b != '$' && b != '{' && b != '<'
	}
	return b > ' ' && b < 0x7f && strings.IndexByte(`"'()[]{}<>$;,\|`+"`", b) < 0
}

// mixed reports whether a text has both letters and digits, as keys have and words have not.
func mixed(s string) bool {
	letter, digit := false, false
	for i := range len(s) {
		b := s[i]
		letter = letter || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
		digit = digit || b >= '0' && b <= '9'
	}
	return letter && digit
}

// placeholder reports whether a value only stands for one.
func placeholder(s string) bool {
	low := strings.ToLower(s)
	for _, word := range []string{"example", "changeme", "your", "placeholder", "xxxx", "****", "password", "${", "<", "%s", "{{"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return strings.HasPrefix(s, "$")
}
