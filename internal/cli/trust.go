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
		p.Grants = append(p.Grants, more...)
		fmt.Fprintf(st.Out, "Trusted: %s\n", p.TrustKey)
		showGrants(p, st)
		return nil
	case arg == "--show":
		for _, dir := range p.Deeper() {
			p.Grants = append(p.Grants, p.GrantsDeeper(dir)...)
		}
		fmt.Fprintf(st.Out, "%s\n", p.TrustKey)
		showGrants(p, st)
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

func showGrants(p *place.Place, st Streams) {
	if len(p.Grants) == 0 {
		fmt.Fprintln(st.Out, "Its settings grant and run nothing now; when that changes, you are asked again.")
		fmt.Fprintln(st.Out, alsoTrusted)
		return
	}
	fmt.Fprintln(st.Out, "With trust, these count. A change of any of them asks again.")
	for _, g := range p.Grants { // whole: nobody can approve what is left out
		fmt.Fprintf(st.Out, "  %s = %s\n      %s:%d\n", event.InertLine(g.Key), strings.ReplaceAll(g.Text, "\n", "\n        "), event.InertLine(g.File), g.Line)
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
