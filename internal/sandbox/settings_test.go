package sandbox

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadSettings(t *testing.T) {
	user := func(text string) Layer {
		return Layer{Raw: json.RawMessage(text), Name: "user", Trusted: true, Anchor: "/h/.lathe"}
	}
	project := func(trusted bool, text string) Layer {
		return Layer{Raw: json.RawMessage(text), Name: "project", Trusted: trusted, Repo: true, Anchor: "/h/p"}
	}
	managed := func(text string) Layer {
		return Layer{Raw: json.RawMessage(text), Name: "managed", Trusted: true, Managed: true, Anchor: "/etc/x"}
	}
	base := Settings{AutoAllow: true, Escape: true, Ignore: map[string][]string{}}
	with := func(change func(*Settings)) Settings { s := base; change(&s); return s }
	for _, c := range []struct {
		name   string
		layers []Layer
		want   Settings
	}{
		{"nothing", nil, base},
		{"on", []Layer{user(`{"enabled":true}`)}, with(func(s *Settings) { s.Mode = On })},
		{"required", []Layer{user(`{"enabled":true,"failIfUnavailable":true}`)}, with(func(s *Settings) { s.Mode = Required })},
		{"required alone is off", []Layer{user(`{"failIfUnavailable":true}`)}, base},
		{"a trusted project switches off", []Layer{project(true, `{"enabled":false}`), user(`{"enabled":true}`)}, base},
		{"an untrusted one does not", []Layer{project(false, `{"enabled":false}`), user(`{"enabled":true}`)}, with(func(s *Settings) { s.Mode = On })},
		{"an untrusted one switches on", []Layer{project(false, `{"enabled":true,"failIfUnavailable":true}`)}, with(func(s *Settings) { s.Mode = Required })},
		{
			"an untrusted project only restricts",
			[]Layer{project(false, `{"autoAllowBashIfSandboxed":false,"allowUnsandboxedCommands":true,"excludedCommands":["x"],"enableWeakerNestedSandbox":true,"bwrapPath":"/x",
				"filesystem":{"allowWrite":["/w"],"denyRead":["secret"],"disabled":true},"network":{"allowedDomains":["a.b"],"deniedDomains":["c.d"],"allowAllUnixSockets":true,"httpProxyPort":1}}`)},
			with(func(s *Settings) {
				s.AutoAllow = false
				s.DenyRead = []string{"/h/p/secret"}
				s.DenyDomains = []string{"c.d"}
			}),
		},
		{
			"lists are joined, paths have anchors",
			[]Layer{project(true, `{"filesystem":{"allowWrite":["./out","//abs","~/x"]},"network":{"allowedDomains":["a.b"]}}`), user(`{"filesystem":{"allowWrite":["y"],"disabled":false},"network":{"allowedDomains":["e.f"]}}`)},
			with(func(s *Settings) {
				s.AllowWrite = []string{"/h/p/out", "/abs", "/h/x", "/h/.lathe/y"}
				s.AllowDomains = []string{"a.b", "e.f"}
			}),
		},
		{"a repository cannot lift the files", []Layer{project(true, `{"filesystem":{"disabled":true}}`)}, base},
		{"the user can", []Layer{user(`{"filesystem":{"disabled":true}}`)}, with(func(s *Settings) { s.NoFiles = true })},
		{
			"what an administrator requires, a repository does not widen",
			[]Layer{managed(`{"enabled":true,"failIfUnavailable":true}`), project(true, `{"enabled":false,"excludedCommands":["x"],"network":{"allowedDomains":["a.b"]}}`)},
			with(func(s *Settings) { s.Mode = Required }),
		},
		{
			"managed domains only",
			[]Layer{managed(`{"network":{"allowManagedDomainsOnly":true,"allowedDomains":["m.n"]}}`), user(`{"network":{"allowedDomains":["a.b"]}}`)},
			with(func(s *Settings) { s.OnlyManagedDomains = true; s.AllowDomains = []string{"m.n"} }),
		},
		{"other platforms", []Layer{user(`{"enabled":true,"enabledPlatforms":["macos"]}`)}, base},
		{"credential files are hidden", []Layer{user(`{"credentials":{"files":[{"path":"~/k","mode":"mask"}],"envVars":[{"name":"TOKEN","mode":"deny"}]}}`)}, with(func(s *Settings) {
			s.DenyRead, s.DropEnv = []string{"/h/k"}, []string{"TOKEN"}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problems := ReadSettings(c.layers, "/h", "linux")
			if diff := cmp.Diff(c.want, got); diff != "" || len(problems) > 0 {
				t.Error(problems, diff)
			}
		})
	}
	if _, problems := ReadSettings([]Layer{user(`{"enabled":"yes"}`)}, "/h", "linux"); len(problems) != 1 {
		t.Errorf("problems %q", problems)
	}
}

// TestWrongTypes: what a settings file says wrongly is named in its own words.
func TestWrongTypes(t *testing.T) {
	for raw, want := range map[string]string{
		`true`:                              `f: sandbox is a bool, and must be an object such as {"enabled": true}: it is ignored, and switches nothing on`,
		`{"enabled":"yes"}`:                 `f: sandbox.enabled is a string, and must be true or false: it is ignored`,
		`{"excludedCommands":"docker *"}`:   `f: sandbox.excludedCommands is a string, and must be a list: it is ignored`,
		`{"network":{"httpProxyPort":"x"}}`: `f: sandbox.network.httpProxyPort is a string, and must be a whole number: it is ignored`,
	} {
		_, problems := ReadSettings([]Layer{{Raw: []byte(raw), Name: "f"}}, "/home/u", "linux")
		if diff := cmp.Diff([]string{want}, problems); diff != "" {
			t.Errorf("%s:\n%s", raw, diff)
		}
	}
}
