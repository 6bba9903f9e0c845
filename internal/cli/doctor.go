package cli

import "fmt"

const doctorUsage = `usage: lathe doctor [model]   what a session rests on; with model also one small call`

// doctorCommand is /doctor without a session that is kept.
func doctorCommand(args []string, st Streams) error {
	prompt := "/doctor"
	switch {
	case len(args) == 1 && args[0] == "model":
		prompt += " model"
	case len(args) > 0:
		return fmt.Errorf("%s", doctorUsage)
	}
	o, _, err := parseFlags([]string{"-p", prompt, "--no-session-persistence"})
	if err != nil {
		return err
	}
	if code := runPrompt(o, st); code != exitOK {
		return exitCode(code)
	}
	return nil
}
