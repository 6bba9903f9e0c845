package event

// hook gives a line about the command of a hook, where such lines are wanted.
func (e *Encoder) hook(env Envelope, name, subtype string, fields obj) [][]byte {
	if !e.Hooks && name != "SessionStart" && name != "Setup" {
		return nil
	}
	fields["hook_event"] = name
	return e.line(env, "system", subtype, fields)
}

func hookResponse(ev HookDone) obj {
	fields := obj{
		"hook_id": ev.ID, "hook_name": ev.Name, "stdout": ev.Stdout, "stderr": ev.Stderr,
		"output": ev.Stdout + ev.Stderr, "outcome": ev.Outcome,
	}
	if ev.Outcome != "cancelled" {
		fields["exit_code"] = ev.Code
	}
	if ev.Outcome == "success" && ev.Code != 0 { // 2: it did its work, and said no
		fields["outcome"] = "error"
	}
	return fields
}
