package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	b64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
	key = "-----BEGIN RSA PRIVATE KEY-----\n" + b64 + "\n" + b64 + "\nabcd1234==\n-----END RSA PRIVATE KEY-----"
)

func known() *Redactor {
	r := New(true)
	r.Env([]string{
		"MY_API_KEY=zq81-known-value", "PATH=/usr/bin", "SHORT_TOKEN=abc", "AUTH_TOKEN=development", "DB=postgres://u:p4ssw0rdX@h/db",
		"KEY_FILE=/run/secrets/12345", "MAX_TOKEN=12345678", "GPG_KEY=0123456789ABCDEF",
	})
	return r
}

func TestString(t *testing.T) {
	rep := strings.Repeat
	tests := []struct{ name, in, want string }{
		{"nothing", "a plain text", "a plain text"},
		{"known", "x zq81-known-value y", "x [redacted: MY_API_KEY] y"},
		{"known inside a word", "xzq81-known-valuey", "x[redacted: MY_API_KEY]y"},
		{"words stay", "in development we use abc and /usr/bin and 12345678", "in development we use abc and /usr/bin and 12345678"},
		{"password of a URL variable", "p4ssw0rdX", "[redacted: DB]"},
		{"aws", "AKIAABCDEFGHIJKLMNOP.", "[redacted: AWS access key]."},
		{"aws of the documentation", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"},
		{"aws too long", "AKIAABCDEFGHIJKLMNOPQ", "AKIAABCDEFGHIJKLMNOPQ"},
		{"github", "(ghp_" + rep("aB3d", 9) + ")", "([redacted: GitHub token])"},
		{"github fine-grained", "github_pat_" + rep("aB3_", 9), "[redacted: GitHub token]"},
		{"anthropic", `"sk-ant-api03-` + rep("aB3-", 9) + `"`, `"[redacted: Anthropic key]"`},
		{"slack", "xoxb-" + rep("1234-", 5) + "abc", "[redacted: Slack token]"},
		{"google", "AIza" + rep("aB3_-", 7), "[redacted: Google API key]"},
		{"jwt", "t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9", "t=[redacted: JWT]"},
		{"no jwt", "eyJhbGciOiJIUzI1NiJ9.hello", "eyJhbGciOiJIUzI1NiJ9.hello"},
		{"bearer", "Authorization: Bearer abcdefgh12345678\n", "Authorization: Bearer [redacted: authorization]\n"},
		{"bearer in prose", "the bearer of this letter, Basic instructions", "the bearer of this letter, Basic instructions"},
		{"url", "see https://me:s3cretpw@host/x", "see https://me:[redacted: URL password]@host/x"},
		{"known before the password", "https://zq81-known-value:s3cretpw@host/x", "https://[redacted: MY_API_KEY]:[redacted: URL password]@host/x"},
		{"url without", "https://host:8080/a@b git@github.com:a/b", "https://host:8080/a@b git@github.com:a/b"},
		{"private key", "a\n" + key + "\nb", "a\n[redacted: private key]\nb"},
		{"private key with numbers", "3\t" + strings.ReplaceAll(key, "\n", "\n4\t") + "\n9\tx", "3\t[redacted: private key]\n9\tx"},
		{"private key without end", key[:strings.Index(key, "\n-----END")] + "\nand text here", "[redacted: private key]\nand text here"},
		{"private key named only", "if strings.HasPrefix(s, \"-----BEGIN PRIVATE KEY-----\") { x() }\n\"-----END PRIVATE KEY-----\"", "if strings.HasPrefix(s, \"-----BEGIN PRIVATE KEY-----\") { x() }\n\"-----END PRIVATE KEY-----\""},
		{"public key", "-----BEGIN PUBLIC KEY-----\n" + b64 + "\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\n" + b64 + "\n-----END PUBLIC KEY-----"},
		{"dotenv", "DB_PASSWORD=hunter2hunter2\nDEBUG=1", "DB_PASSWORD=[redacted: DB_PASSWORD]\nDEBUG=1"},
		{"dotenv quoted", "export STRIPE_SECRET_KEY='whsec 1'\nX_TOKEN: \"abc123def456\",", "export STRIPE_SECRET_KEY='whsec 1'\nX_TOKEN: \"[redacted: X_TOKEN]\","},
		{"code stays", `API_KEY = os.environ["API_KEY1"]; CLIENT_SECRET = "client_secret"; X_TOKEN == abcdefgh1`, `API_KEY = os.environ["API_KEY1"]; CLIENT_SECRET = "client_secret"; X_TOKEN == abcdefgh1`},
		{"placeholder", "API_KEY=your-key-1234", "API_KEY=your-key-1234"},
		{"redacted before", "[redacted: MY_API_KEY] API_KEY=[redacted: API_KEY]", "[redacted: MY_API_KEY] API_KEY=[redacted: API_KEY]"},
	}
	r := known()
	for _, tc := range tests {
		if got := r.String(tc.in); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
	plain := New(false)
	plain.Add("K", "some-value-1")
	if got := plain.String("some-value-1 AKIAABCDEFGHIJKLMNOP"); got != "[redacted: K] AKIAABCDEFGHIJKLMNOP" {
		t.Errorf("known values only: %q", got)
	}
	var none *Redactor
	if got := none.String("x"); got != "x" || string(none.JSON([]byte("{}"))) != "{}" {
		t.Error(got)
	}
}

func TestSeveralLines(t *testing.T) {
	r := New(false)
	r.Add("KEY", key)
	if got := r.String("5\t" + b64 + "\n"); got != "5\t[redacted: KEY]\n" {
		t.Errorf("%q", got)
	}
}

func TestJSON(t *testing.T) {
	r := known()
	for in, want := range map[string]string{
		`{"a":"x zq81-known-value","zq81-known-value":1}`: `{"a":"x [redacted: MY_API_KEY]","[redacted: MY_API_KEY]":1}`,
		`{"a":"zq81\u002dknown-value\n<"}`:                `{"a":"[redacted: MY_API_KEY]\n<"}`,
		`{"a":"\u00e9 \"plain\" \\"}`:                     `{"a":"\u00e9 \"plain\" \\"}`,
		`"` + strings.ReplaceAll(key, "\n", `\n`) + `"`:   `"[redacted: private key]"`,
		`{"a":1} zq81-known-value`:                        `{"a":1} [redacted: MY_API_KEY]`,
		`not json zq81-known-value`:                       `not json [redacted: MY_API_KEY]`,
	} {
		if got := string(r.JSON([]byte(in))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

// However a text is cut into lines, no line of a key comes out.
func TestStream(t *testing.T) {
	text := "before\n" + key + "\nafter zq81-known-value\n"
	lines := strings.SplitAfter(text, "\n")
	for cut := range 1 << len(lines) {
		next := known().Stream()
		var out, piece string
		for i, l := range lines {
			if piece += l; cut>>i&1 == 1 || i == len(lines)-1 {
				out += string(next([]byte(piece)))
				piece = ""
			}
		}
		if strings.Contains(out, b64) || strings.Contains(out, "abcd1234") || !strings.Contains(out, "[redacted: private key]") ||
			!strings.HasPrefix(out, "before\n") || !strings.HasSuffix(out, "\nafter [redacted: MY_API_KEY]\n") {
			t.Fatalf("cut %b: %q", cut, out)
		}
	}
}

// What was redacted once does not change a second time, and no known value is left.
func TestStable(t *testing.T) {
	r := known()
	r.Add("OTHER", "ABCDEFGHIJ")
	parts := []string{
		"zq81-known-value", "ABCDEFGHIJ", "AKIAABCDEFGHIJKLMNOP", "ghp_", strings.Repeat("aB3d", 9), "https://u:", "@h", " ", "\n", "Bearer ", "X_TOKEN=",
		"[redacted: ", "]", "\"", key, b64, "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "eyJ", ".", "=", "a",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "parts"), "")
		once := r.String(s)
		if again := r.String(once); again != once {
			t.Fatalf("%q\nonce  %q\nagain %q", s, once, again)
		}
		if strings.Contains(once, "zq81-known-value") || strings.Contains(once, "ABCDEFGHIJ") && !strings.Contains(once, "[redacted: ") {
			t.Fatalf("%q is left in %q", s, once)
		}
	})
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"", key, "https://a:b123@c", `{"a":"zq81-known-value"}`, "X_TOKEN: 'abc12345'", "eyJh.eyJ.", "[redacted: a\n]", "-----BEGIN PRIVATE KEY-----\\n"} {
		f.Add(s)
	}
	r := known()
	f.Fuzz(func(t *testing.T, s string) {
		once := r.String(s)
		if strings.Contains(once, "zq81-known-value") {
			t.Fatalf("left in %q", once)
		}
		if again := r.String(once); again != once {
			t.Fatalf("%q became %q and then %q", s, once, again)
		}
		if in := []byte(s); json.Valid(in) != json.Valid(r.JSON(in)) {
			t.Fatalf("%q became %q", s, r.JSON(in))
		}
		r.Stream()([]byte(s))
		tab := r.table.Load()
		if _, is := tab.next(s); is != tab.has([]byte(s)) {
			t.Fatalf("%q: has says %v", s, !is)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	r := known()
	for i := range 40 {
		r.Add(fmt.Sprint("K", i), fmt.Sprintf("%c%c%d-some-value", 'a'+i%26, 'A'+i%26, i))
	}
	var text bytes.Buffer
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "%5d\tfunc (s *Stage) append(t *turn.Turn, c *call) error { // https://example.com/%d TOKEN_KEY \"x\"\n", i, i)
	}
	s := text.String()
	doc, _ := json.Marshal(map[string]string{"content": s})
	b.Run("text", func(b *testing.B) {
		b.SetBytes(int64(len(s)))
		for b.Loop() {
			if r.String(s) != s {
				b.Fatal("changed")
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			r.JSON(doc)
		}
	})
}
