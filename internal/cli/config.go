package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"lathe/internal/config"
	"lathe/internal/event"
)

const configUsage = `usage:
  lathe config [KEY] [--json]   every setting, where it stands and whether it counts
  lathe config schema           the JSON schema of settings files`

// configCommand shows each setting with where it stands and whether it counts, or prints the schema.
func configCommand(args []string, st Streams) error {
	asJSON, key := false, ""
	for _, a := range args {
		switch {
		case a == "--json":
			asJSON = true
		case a == "schema" && len(args) == 1:
			_, err := st.Out.Write(config.Schema)
			return err
		case a == "" || a[0] == '-' || key != "":
			return errors.New(configUsage)
		default:
			key = a
		}
	}
	p, err := here()
	if err != nil {
		return err
	}
	for _, problem := range p.Settings.Problems {
		fmt.Fprintf(st.Err, "lathe: %s\n", event.Aside(problem))
	}
	found := false
	for _, v := range p.Settings.Effective() {
		if key != "" && v.Key != key {
			continue
		}
		found = true
		if asJSON {
			fmt.Fprintf(st.Out, "%s\n", event.Encode(v))
			continue
		}
		where, note := string(v.Scope), ""
		if v.File != "" {
			where = fmt.Sprintf("%s %s:%d", v.Scope, v.File, v.Line)
		}
		if !v.Used {
			note = "  (" + v.Why + ")"
		}
		fmt.Fprintf(st.Out, "%s = %s\n    %s%s\n", event.InertLine(v.Key), event.InertLine(event.OneLine(string(v.Value), 200)), event.InertLine(where), note)
	}
	switch {
	case found || asJSON && key == "":
		return nil
	case key == "":
		fmt.Fprintln(st.Out, "No settings: everything is as it is by default. lathe config schema lists what can be set; your own file is", filepath.Join(p.Sys.Dirs.State, "settings.json"))
		return nil
	case !config.Known(key):
		return fmt.Errorf("there is no setting %q (lathe config schema lists them)", key)
	}
	return fmt.Errorf("%s is set nowhere", key)
}
