package cli

import (
	"errors"
	"fmt"

	"lathe/internal/app"

	"github.com/spf13/pflag"
)

// hostFlags defines them.
func (o *flags) hostFlags(f *pflag.FlagSet) {
	f.StringVar(&o.ResumeAt, "resume-session-at", "", "with --resume: go on after this `message`")
	f.StringVar(&o.DropsTurn, "resume-drops-turn", "", "… and refuse if more is left out than the turn of this `prompt`")
	f.BoolVar(&o.mirrored, "session-mirror", false, "tell of each record of the transcript (stream-json)")
	f.BoolVar(&o.awaitInit, "await-initialize", false, "take plugins and MCP servers from the host's first message")
	f.StringVar(&o.Policy, "managed-settings", "", "`JSON` of settings that rank above all others")
	f.StringVar(&o.ConfigRoot, "project-config-root", "", "`directory` that the project's settings, commands and skills come from")
	f.StringArrayVar(&o.pluginDirs, "plugin-dir", nil, "load the plugin in this `directory`")
	f.StringArrayVar(&o.noMCP, "plugin-dir-no-mcp", nil, "… without its MCP servers")
	f.BoolVar(&o.NoDynamic, "exclude-dynamic-system-prompt-sections", false, "put what varies into the first message instead of the system prompt")
	f.StringVar(&o.snapshot, "system-prompt-snapshot", "on", "`on`: a resumed session keeps its system prompt and tools; off: they are made anew")
	f.BoolVar(&o.SuggestPrompts, "prompt-suggestions", false, "after a turn, suggest what to ask next (stream-json)")
	f.BoolVar(&o.setupInit, "init", false, "run the Setup hooks for init first")
	f.BoolVar(&o.setupOnly, "init-only", false, "run the hooks of Setup and SessionStart and exit")
	f.BoolVar(&o.setupFix, "maintenance", false, "run the Setup hooks for maintenance first")
}

// takeHostFlags checks them.
func (o *flags) takeHostFlags(f *pflag.FlagSet) error {
	if o.mirrored {
		o.mirror = &mirror{}
		o.Mirror = o.mirror.wrote
	}
	for _, d := range o.pluginDirs {
		o.Plugins = append(o.Plugins, app.PluginDir{Path: d, MCP: true})
	}
	for _, d := range o.noMCP {
		o.Plugins = append(o.Plugins, app.PluginDir{Path: d})
	}
	switch {
	case o.setupInit || o.setupOnly:
		o.Setup = "init"
	case o.setupFix:
		o.Setup = "maintenance"
	}
	o.Refreeze = o.snapshot == "off"
	switch {
	case o.snapshot != "on" && o.snapshot != "off":
		return fmt.Errorf("--system-prompt-snapshot must be on or off, not %q", o.snapshot)
	case o.DropsTurn != "" && o.ResumeAt == "":
		return errors.New("--resume-drops-turn needs --resume-session-at")
	case o.ResumeAt != "" && !f.Changed("resume") && !o.Continue:
		return errors.New("--resume-session-at needs --resume")
	case o.awaitInit && o.inputFormat != "stream-json":
		return errors.New("--await-initialize needs --input-format stream-json")
	}
	return nil
}
