package app

import (
	"slices"
	"strings"

	"lathe/internal/pipeline/attach"
	"lathe/internal/skill"
	toolskill "lathe/internal/tool/skill"
)

// skills finds the skills of this moment.
func (r *run) skills() []skill.Skill {
	if r.o.Bare || r.o.NoCommands || r.o.Recording != nil {
		return nil
	}
	d := r.place.Sys.Dirs
	p := skill.Places{Work: r.place.Project, Root: r.place.ProjectRoot, Plugins: r.pluginPlaces(), Project: r.place.Wants("project"), Trusted: r.place.Trusted, Extra: r.skillDirs()}
	if r.place.Wants("user") {
		p.Config, p.State = d.Config, d.State
	}
	r.place.Settings.Decode("skillOverrides", &p.Overrides)
	return r.chosen(r.custom.finder.Find(p))
}

// chosen leaves the model only the skills that the host has chosen, if it has.
func (r *run) chosen(all []skill.Skill) []skill.Skill {
	if r.o.Host == nil || r.o.Host.Skills == nil {
		return all
	}
	for i, s := range all {
		named := slices.ContainsFunc(*r.o.Host.Skills, func(n string) bool { return n == s.Name || strings.HasSuffix(s.Name, ":"+n) })
		all[i].UserOnly = s.UserOnly || !named && !s.Command
	}
	return all
}

// skillDirs are the directories of --add-dir and /add-dir; those that only the settings name give no skills.
func (r *run) skillDirs() []string {
	dirs, err := r.place.ExtraDirs(r.o.Dirs, nil)
	if err != nil {
		return nil
	}
	r.custom.mu.Lock()
	defer r.custom.mu.Unlock()
	return append(dirs, r.custom.dirs...)
}

// skillTool is the tool that loads skills. It is offered when there are any at the start of the session.
func (r *run) skillTool() (*toolskill.Tool, bool) {
	listed := false
	for _, s := range r.skills() {
		listed = listed || !s.UserOnly
	}
	return toolskill.New(toolskill.Deps{
		Find: r.skills, Load: r.loadForModel,
	}), listed
}

// skillSource lists the skills within a hundredth of the window.
func (r *run) skillSource() attach.Source {
	how := "When a task fits one, load it with the Skill tool before you start."
	if _, ok := r.tools.registry.Get(toolskill.Name); !ok {
		how = "When a task fits one, read its SKILL.md before you start."
	}
	return attach.Skills(func() string {
		most := 0
		r.place.Settings.Decode("skillListingMaxDescChars", &most)
		return skill.Listing(r.custom.inSight(r.skills()), r.listingBudget(), most)
	}, how, r.custom.hasNews)
}

// charsPerToken turns a share of the window into characters.
const charsPerToken = 4

func (r *run) listingBudget() int {
	if n := r.number("SLASH_COMMAND_TOOL_CHAR_BUDGET"); n > 0 {
		return n
	}
	window := r.prices.Info(r.session.Model()).Window
	if window <= 0 {
		return skill.DefaultListing
	}
	share := 0.01
	r.place.Settings.Decode("skillListingBudgetFraction", &share)
	return int(float64(window) * min(max(share, 0), 1) * charsPerToken)
}
