package msg_test

import (
	"testing"

	"lathe/internal/msg"
)

func TestTyped(t *testing.T) {
	for in, want := range map[string]string{
		"<command-message>a</command-message>\n<command-name>/a</command-name>":                                            "/a",
		"<command-name>/a</command-name>\n<command-message>a</command-message>\n<command-args>x\ny</command-args>":         "/a x\ny",
		"<command-message>a</command-message>\n<command-name>/a</command-name>\n<command-args>x</b></command-args>":        "/a x</b>",
		"plain <command-name>/a</command-name>":                                                                            "plain <command-name>/a</command-name>",
		"<command-name>/a":                                                                                                 "<command-name>/a",
		"<command-message>a</command-message>\n<command-name>/a</command-name>\n            <command-args></command-args>": "/a",
	} {
		if got, _ := msg.Typed(in); got != want {
			t.Errorf("Typed(%q) = %q, want %q", in, got, want)
		}
	}
}
