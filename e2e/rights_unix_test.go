//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lathe/internal/fakeapi"
)

// What the program would refuse at its start, a host cannot ask for later.
func TestBypassIsRefusedForRootLater(t *testing.T) {
	t.Parallel()
	if syscall.Geteuid() != 0 {
		t.Skip("not root")
	}
	r := newRig(t, fakeapi.Sequence())
	r.env = append(r.env, "IS_SANDBOX=")
	h := r.host(t, "--allow-dangerously-skip-permissions")
	if m := h.query(`{"subtype":"set_permission_mode","mode":"bypassPermissions"}`); m["subtype"] != "error" || !strings.Contains(m["error"].(string), "refused for root") {
		t.Errorf("%v", m)
	}
	h.end()
}

// A host's word about files that are none holds nothing up.
func TestSeedOfAPipe(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence())
	if err := syscall.Mkfifo(filepath.Join(r.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := r.host(t)
	for _, q := range []string{"seed_read_state", "read_file"} {
		h.query(`{"subtype":"` + q + `","path":"fifo","mtime":99999999999999}`)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}

// query asks the program and returns its answer.
func (h *host) query(request string) map[string]any {
	h.t.Helper()
	h.say(`{"type":"control_request","request_id":"query","request":%s}`, request)
	m := h.next("the answer", func(m map[string]any) bool {
		return m["type"] == "control_response" && at(m, "response.request_id") == "query"
	})
	return m["response"].(map[string]any)
}
