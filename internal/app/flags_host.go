package app

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// hostOptions are the options that programs use which drive this one.
type hostOptions struct {
	resumeAt, dropsTurn string
	mirrored            bool
	mirror              *mirror // nil: transcripts are not mirrored
	awaitInit           bool
	managed             string // settings of the host's organisation, as JSON
	configRoot          string // the project's settings, commands and skills come from here
	plugins             []pluginDir
	pluginDirs          []string
	pluginDirsNoMCP     []string
	noDynamic           bool // nothing that varies stands in the system prompt
	snapshot            string
	suggestPrompts      bool
	agentSummaries      bool   // a host wants to know what sub-agents do, in words
	setup               string // init or maintenance: Setup hooks run first
	setupOnly           bool
	setupInit, setupFix bool
}

// pluginDir is a plugin that was named for this run.
type pluginDir struct {
	path string
	mcp  bool // its MCP servers count
}

// hostFlags defines them.
func (o *options) hostFlags(f *pflag.FlagSet) {
	f.StringVar(&o.resumeAt, "resume-session-at", "", "with --resume: go on after this `message`")
	f.StringVar(&o.dropsTurn, "resume-drops-turn", "", "… and refuse if more is left out than the turn of this `prompt`")
	f.BoolVar(&o.mirrored, "session-mirror", false, "tell of each record of the transcript (stream-json)")
	f.BoolVar(&o.awaitInit, "await-initialize", false, "take plugins and MCP servers from the host's first message")
	f.StringVar(&o.managed, "managed-settings", "", "`JSON` of settings that rank above all others")
	f.StringVar(&o.configRoot, "project-config-root", "", "`directory` that the project's settings, commands and skills come from")
	f.StringArrayVar(&o.pluginDirs, "plugin-dir", nil, "load the plugin in this `directory`")
	f.StringArrayVar(&o.pluginDirsNoMCP, "plugin-dir-no-mcp", nil, "… without its MCP servers")
	f.BoolVar(&o.noDynamic, "exclude-dynamic-system-prompt-sections", false, "put what varies into the first message instead of the system prompt")
	f.StringVar(&o.snapshot, "system-prompt-snapshot", "on", "`on`: a resumed session keeps its system prompt and tools; off: they are made anew")
	f.BoolVar(&o.suggestPrompts, "prompt-suggestions", false, "after a turn, suggest what to ask next (stream-json)")
	f.BoolVar(&o.setupInit, "init", false, "run the Setup hooks for init first")
	f.BoolVar(&o.setupOnly, "init-only", false, "run the hooks of Setup and SessionStart and exit")
	f.BoolVar(&o.setupFix, "maintenance", false, "run the Setup hooks for maintenance first")
}

// takeHostFlags checks them.
func (o *options) takeHostFlags(f *pflag.FlagSet) error {
	if o.mirrored {
		o.mirror = &mirror{}
	}
	for _, d := range o.pluginDirs {
		o.plugins = append(o.plugins, pluginDir{path: d, mcp: true})
	}
	for _, d := range o.pluginDirsNoMCP {
		o.plugins = append(o.plugins, pluginDir{path: d})
	}
	switch {
	case o.setupInit || o.setupOnly:
		o.setup = "init"
	case o.setupFix:
		o.setup = "maintenance"
	}
	switch {
	case o.snapshot != "on" && o.snapshot != "off":
		return fmt.Errorf("--system-prompt-snapshot must be on or off, not %q", o.snapshot)
	case o.dropsTurn != "" && o.resumeAt == "":
		return errors.New("--resume-drops-turn needs --resume-session-at")
	case o.resumeAt != "" && !f.Changed("resume") && !o.cont:
		return errors.New("--resume-session-at needs --resume")
	case o.awaitInit && o.inputFormat != "stream-json":
		return errors.New("--await-initialize needs --input-format stream-json")
	}
	return nil
}
