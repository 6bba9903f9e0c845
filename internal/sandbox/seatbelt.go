package sandbox

import (
	"fmt"
	"strconv"
	"strings"
)

// seatbeltProfile is the policy as text for sandbox-exec on macOS: the last rule that matches counts. Rules are by
// name, so names that do not exist yet are covered without placeholders; folders with such a name
// in them are pinned, so that they cannot be moved away. proxyPort is the only port that can be
// reached; 0 is none.
func seatbeltProfile(p *Policy, proxyPort int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("(version 1)")
	line("(allow default)")
	line("(deny network*)")
	line("(deny appleevent-send)")
	line("(deny mach-lookup (global-name \"com.apple.coreservices.launchservicesd\") (global-name \"com.apple.CoreServices.coreservicesd\") (global-name \"com.apple.lsd.open\"))")
	line("(deny process-info* (target others))")
	line("(deny signal (target others))")
	line("(allow signal (target same-sandbox))")
	if p.Network.UnixSockets {
		line("(allow network* (local unix) (remote unix))")
	}
	if proxyPort > 0 {
		line("(allow network-outbound (remote ip \"localhost:%d\"))", proxyPort)
	}
	if p.Unlimited {
		return b.String()
	}
	line("(deny file-write*)")
	line("(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (regex #\"^/dev/fd/\"))")
	for _, m := range p.mounts() {
		q := strconv.Quote(m.path)
		switch m.kind {
		case writable:
			line("(allow file-read* file-write* (subpath %s))", q)
			line("(deny file-write-unlink (literal %s))", q)
		case kept:
			line("(deny file-write* (subpath %s))", q)
		case readOnly:
			line("(allow file-read* (subpath %s))", q)
		case hidden:
			line("(deny file-read-data file-write* (subpath %s))", q)
		}
	}
	for _, path := range p.Restore {
		line("(deny file-write* (literal %s))", strconv.Quote(path))
	}
	for _, path := range p.Aside {
		line("(deny file-write* (subpath %s))", strconv.Quote(path))
	}
	for _, dir := range p.Pinned {
		line("(deny file-write-unlink (literal %s))", strconv.Quote(dir))
	}
	return b.String()
}
