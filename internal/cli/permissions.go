package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/app"
	"lathe/internal/event"
	"lathe/internal/perm"
	"lathe/internal/perm/cases"
	"lathe/internal/place"
)

// Exit codes of lathe permissions check.
const (
	exitAsk  = 2
	exitDeny = 3
)

const permissionsUsage = `usage:
  lathe permissions check 'Bash(git push)' [--mode MODE] [--plugin-dir DIR] [--json]   exit code 0 allow, 2 ask, 3 deny
  lathe permissions check Edit '{"file_path":"a.go", …}'
  lathe permissions list [--json]
  lathe permissions test FILE [--json]                              exit code 0 all as expected, 1 not`

// permissionsCommand explains decisions, lists rules and runs a team's tests of its rules.
func permissionsCommand(args []string, st Streams) error {
	if len(args) == 0 {
		return errors.New(permissionsUsage)
	}
	o := app.Options{Log: st.Err}
	var rest []string
	asJSON := false
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--json":
			asJSON = true
		case a == "--trust":
			o.Trust = true
		case a == "--plugin-dir" && i+1 < len(args):
			i++
			o.Plugins = append(o.Plugins, app.PluginDir{Path: args[i], MCP: true})
		case a == "--mode" && i+1 < len(args):
			i++
			o.Mode = args[i]
		default:
			rest = append(rest, a)
		}
	}
	switch {
	case args[0] == "check" && (len(rest) == 1 || len(rest) == 2):
		return checkPermission(o, rest, asJSON, st)
	case args[0] == "list" && len(rest) == 0:
		return listPermissions(o, asJSON, st)
	case args[0] == "test" && len(rest) == 1:
		return testPermissions(rest[0], asJSON, st)
	}
	return errors.New(permissionsUsage)
}

// tellProblems says what is wrong with the settings that the rules come from.
func tellProblems(p *place.Place, st Streams) {
	for _, n := range append(slices.Clone(p.Settings.Problems), p.Notes...) {
		fmt.Fprintf(st.Err, "lathe: %s\n", event.Aside(n))
	}
}

func checkPermission(o app.Options, args []string, asJSON bool, st Streams) error {
	req, err := requestOf(args)
	if err != nil {
		return err
	}
	rules, err := app.OpenRules(o)
	if err != nil {
		return err
	}
	tellProblems(rules.Place(), st)
	decision := rules.Decide(req)
	if asJSON {
		fmt.Fprintf(st.Out, "%s\n", event.Encode(decisionJSON(req, decision)))
	} else {
		printDecision(st, decision)
	}
	switch decision.Verdict {
	case perm.Allow:
		return nil
	case perm.Deny:
		return exitCode(exitDeny)
	}
	return exitCode(exitAsk)
}

// requestOf reads Tool(specifier), or a tool and its input as JSON.
func requestOf(args []string) (perm.Request, error) {
	if len(args) == 2 {
		if !json.Valid([]byte(args[1])) {
			return perm.Request{}, fmt.Errorf("the input of %s is not JSON", args[0])
		}
		return perm.Request{Tool: args[0], Input: json.RawMessage(args[1])}, nil
	}
	name, rest, ok := strings.Cut(args[0], "(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return perm.Request{}, fmt.Errorf("%q is not of the form Tool(what), such as 'Bash(git push)' or 'Edit(a.go)'", args[0])
	}
	what := strings.TrimSuffix(rest, ")")
	field := map[string]string{"Bash": "command", "Monitor": "command", "WebFetch": "url", "Grep": "path", "Glob": "path", "NotebookEdit": "notebook_path"}[name]
	if field == "" {
		field = "file_path"
	}
	in := map[string]string{field: what}
	if name == "Grep" || name == "Glob" {
		in["pattern"] = "*"
	}
	raw, err := json.Marshal(in)
	return perm.Request{Tool: name, Input: raw}, err
}

func printDecision(st Streams, d perm.Decision) {
	fmt.Fprintf(st.Out, "%s: %s\n", d.Verdict, event.InertLine(d.Reason))
	if d.Source.Rule != "" {
		fmt.Fprintf(st.Out, "  by the rule %s (%s)\n", event.InertLine(d.Source.Rule), event.InertLine(d.Source.Where()))
	}
	for _, p := range d.Parts {
		by := p.Reason
		if p.Source.Rule != "" {
			by = fmt.Sprintf("rule %s (%s)", p.Source.Rule, p.Source.Where())
		}
		fmt.Fprintf(st.Out, "  %-7s %s\n          %s\n", p.Verdict, event.InertLine(p.Text), event.InertLine(by))
	}
	for _, r := range d.Suggest {
		fmt.Fprintf(st.Out, "  would be allowed by: %s\n", event.InertLine(r.Text))
	}
}

func decisionJSON(req perm.Request, d perm.Decision) map[string]any {
	parts := []map[string]any{}
	for _, p := range d.Parts {
		parts = append(parts, map[string]any{"text": p.Text, "decision": p.Verdict.String(), "reason": p.Reason, "source": sourceJSON(p.Source)})
	}
	suggest := []string{}
	for _, r := range d.Suggest {
		suggest = append(suggest, r.Text)
	}
	return map[string]any{
		"tool": req.Tool, "input": req.Input, "decision": d.Verdict.String(), "reason": d.Reason,
		"source": sourceJSON(d.Source), "parts": parts, "suggest": suggest,
	}
}

func sourceJSON(s perm.Source) map[string]any {
	return map[string]any{"kind": s.Kind, "rule": s.Rule, "scope": s.Scope, "file": s.File, "line": s.Line}
}

func listPermissions(o app.Options, asJSON bool, st Streams) error {
	rules, err := app.OpenRules(o)
	if err != nil {
		return err
	}
	tellProblems(rules.Place(), st)
	if !asJSON {
		fmt.Fprintf(st.Out, "mode %s\n", perm.Mode(rules.Mode()).Word())
	}
	for _, rule := range rules.List() {
		if asJSON {
			fmt.Fprintf(st.Out, "%s\n", event.Encode(map[string]any{"rule": rule.Text, "effect": rule.Effect.String(), "source": sourceJSON(rule.Source)}))
			continue
		}
		fmt.Fprintf(st.Out, "%-5s %-40s %s\n", rule.Effect, event.InertLine(rule.Text), event.InertLine(rule.Source.Where()))
	}
	return nil
}

// testPermissions runs a file of cases. Each is decided in a folder of its own; nothing is executed.
func testPermissions(file string, asJSON bool, st Streams) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := cases.Read(f)
	if err != nil {
		return err
	}
	base, err := os.MkdirTemp("", "lathe-cases-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	right, tolerable, wrong := 0, 0, 0
	for i, c := range rows {
		res, err := c.Run(filepath.Join(base, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		switch {
		case res.OK:
			right++
		case res.Acceptable:
			tolerable++
		default:
			wrong++
		}
		switch {
		case asJSON:
			fmt.Fprintf(st.Out, "%s\n", event.Encode(res))
		case !res.OK:
			fmt.Fprintf(st.Out, "%s: %s, expected %s: %s\n", res.ID, res.Decision, res.Expect, res.Reason)
		}
	}
	what := "cases"
	if len(rows) == 1 {
		what = "case"
	}
	summary := fmt.Sprintf("%d %s: %d as expected, %d otherwise but acceptable, %d wrong", len(rows), what, right, tolerable, wrong)
	if asJSON {
		fmt.Fprintln(st.Err, summary)
	} else {
		fmt.Fprintln(st.Out, summary)
	}
	if wrong > 0 {
		return exitCode(exitFailed)
	}
	return nil
}
