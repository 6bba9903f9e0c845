package cli

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/place"
)

const trustUsage = `usage:
  lathe trust            trust this repository, or this directory outside one: its settings may grant and run things
  lathe trust --show     what they would grant and run
  lathe trust --remove   trust it no longer
  lathe trust --list     what is trusted`

// trustCommand keeps the user's trust in the repository, or in the directory outside one, and shows what that means.
func trustCommand(args []string, st Streams) error {
	p, err := here()
	if err != nil {
		return err
	}
	list := config.NewTrust(p.Sys.Dirs.State)
	before, _ := list.List()
	arg := ""
	if len(args) == 1 {
		arg = args[0]
	}
	switch {
	case len(args) == 0:
		if err := p.Approve(list); err != nil {
			return err
		}
		more, err := p.ApproveDeeper(list)
		if err != nil {
			return err
		}
		fmt.Fprintf(st.Out, "Trusted: %s\n", p.TrustKey)
		showGrants(p, more, before, st)
		return nil
	case arg == "--show":
		more := map[string][]config.Grant{}
		for _, dir := range p.Deeper() {
			more[dir] = p.GrantsDeeper(dir)
		}
		fmt.Fprintf(st.Out, "%s\n", p.TrustKey)
		showGrants(p, more, before, st)
		return nil
	case arg == "--remove":
		for _, dir := range append([]string{p.TrustKey}, p.Deeper()...) {
			if err := list.Remove(dir); err != nil {
				return err
			}
		}
		fmt.Fprintf(st.Out, "No longer trusted: %s\n", p.TrustKey)
		return nil
	case arg == "--list":
		return listTrust(list, st)
	}
	return errors.New(trustUsage)
}

// alsoTrusted is what counts with trust and is no setting.
const alsoTrusted = "Its commands, skills and agents count with trust too. What they run or allow is listed; their words and models may change."

func showGrants(p *place.Place, deeper map[string][]config.Grant, before map[string]config.Trusted, st Streams) {
	var parts []config.Part
	var gone []string
	add := func(dir string, grants []config.Grant) {
		more := config.Parts(grants)
		gone = append(gone, before[dir].Seen.Mark(more, dir)...)
		parts = append(parts, more...)
	}
	add(p.TrustKey, p.Grants)
	for _, dir := range p.Deeper() {
		add(dir, deeper[dir])
	}
	if len(parts) == 0 {
		fmt.Fprintln(st.Out, "Its settings grant and run nothing now; when that changes, you are asked again.")
		fmt.Fprintln(st.Out, alsoTrusted)
		return
	}
	fmt.Fprintln(st.Out, "With trust, these count. A change of any of them asks again.")
	at := ""
	for _, g := range parts { // whole: nobody can approve what is left out
		if file := fmt.Sprintf("%s:%d", event.InertLine(g.File), g.Line); file != at {
			at = file
			fmt.Fprintln(st.Out, at)
		}
		state := ""
		if g.State != "" {
			state = " (" + g.State + ")"
		}
		text := event.Inert(strings.ReplaceAll(g.Text, "\t", "␉"))
		sep := " "
		if strings.Contains(text, "\n") || strings.HasPrefix(text, "command: ") {
			sep = "\n      "
		}
		fmt.Fprintf(st.Out, "  %s%s:%s%s\n", event.InertLine(g.Name), state, sep, strings.ReplaceAll(text, "\n", "\n      "))
	}
	for _, name := range gone {
		fmt.Fprintf(st.Out, "  no longer there: %s\n", event.InertLine(name))
	}
	fmt.Fprintln(st.Out, alsoTrusted)
}

func listTrust(list config.Trust, st Streams) error {
	dirs, err := list.List()
	if err != nil {
		return err
	}
	names := make([]string, 0, len(dirs))
	for d := range dirs {
		names = append(names, d)
	}
	sort.Strings(names)
	for _, d := range names {
		only := ""
		if dirs[d].Rules {
			only = "  only the permission rules that you saved there"
		}
		fmt.Fprintf(st.Out, "%s  since %s%s\n", event.InertLine(d), dirs[d].At.Format("2006-01-02"), only)
	}
	return nil
}
