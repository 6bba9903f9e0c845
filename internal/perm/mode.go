package perm

import (
	"context"
	"fmt"
)

// ParseMode reads a mode by its documented name; "manual" is another name of default.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ModeDefault, ModeAcceptEdits, ModePlan, ModeAuto, ModeDontAsk, ModeBypass:
		return m, nil
	case "manual":
		return ModeDefault, nil
	}
	return "", fmt.Errorf("there is no permission mode %q; the modes are default, acceptEdits, plan, auto, dontAsk and bypassPermissions", s)
}

// Classifier answers in mode auto for what Decide gives the source kind "classifier". An error means that there is
// no answer: the person is asked.
type Classifier interface {
	Classify(ctx context.Context, req Request, asked Decision) (Decision, error)
}
