package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeatbeltProfile(t *testing.T) {
	p := &Policy{Write: []string{"/w"}, Keep: []string{"/w/.git/config"}, Absent: []string{"/w/.mcp.json"}, Pinned: []string{"/w/.git"}, Hide: []string{"/h/.ssh", `/h/a "b"`}}
	want := `(version 1)
(allow default)
(deny network*)
(deny appleevent-send)
(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd") (global-name "com.apple.CoreServices.coreservicesd") (global-name "com.apple.lsd.open"))
(deny process-info* (target others))
(deny signal (target others))
(allow signal (target same-sandbox))
(allow network-outbound (remote ip "localhost:4000"))
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/fd/"))
(deny file-read-data file-write* (subpath "/h/.ssh"))
(deny file-read-data file-write* (subpath "/h/a \"b\""))
(allow file-read* file-write* (subpath "/w"))
(deny file-write-unlink (literal "/w"))
(allow file-read* file-write* (subpath "/w/.git"))
(deny file-write-unlink (literal "/w/.git"))
(deny file-write* (subpath "/w/.git/config"))
(deny file-write* (subpath "/w/.mcp.json"))
(deny file-write-unlink (literal "/w/.git"))
`
	if diff := cmp.Diff(want, seatbeltProfile(p, 4000)); diff != "" {
		t.Error(diff)
	}
}
