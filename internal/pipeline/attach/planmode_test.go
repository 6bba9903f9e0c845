package attach_test

import (
	"encoding/json"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
	"lathe/internal/tool/plan"
	"lathe/internal/turn"
)

// exit adds a call of ExitPlanMode and its result.
func (w *world) exit(id, text string, approved bool) {
	in, _ := json.Marshal(map[string]string{"plan": text})
	out, _ := json.Marshal(plan.ExitOutput{Plan: &text, FilePath: "/p/plan.md"})
	result := msg.Message{Kind: msg.KindUser, SourceAssistant: "a", Blocks: []msg.Block{msg.ToolResult(id, !approved, msg.Text("said"))}}
	if approved {
		result.ToolOutput = out
	}
	w.t.Messages = append(w.t.Messages,
		msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{{Type: msg.TypeToolUse, ID: id, Name: plan.Exit, Input: in}}}, result)
}

func TestPlanMode(t *testing.T) {
	on := false
	stage := attach.New(attach.PlanMode(func() bool { return on }, func(*turn.Turn) string { return "HOW TO PLAN" }))
	w := newWorld()
	run := func() error { return stage(t.Context(), w.t) }
	expect(t, "off from the start", w.pass(t, 1, run), "no PLAN", "no Plan mode is off")
	on = true
	expect(t, "begins", w.pass(t, 1, run), "HOW TO PLAN")
	expect(t, "told once", w.pass(t, 2, run), "no PLAN")
	w.exit("x1", "the plan", false)
	expect(t, "refused: goes on", w.pass(t, 3, run), "no PLAN")
	w.compacted()
	expect(t, "told again after a compaction", w.pass(t, 4, run), "HOW TO PLAN")
	w.exit("x2", "the plan", true)
	on = false
	expect(t, "approved: the result has said so", w.pass(t, 5, run), "no Plan mode is off")
	on = true
	expect(t, "again", w.pass(t, 1, run), "HOW TO PLAN")
	on = false
	expect(t, "ended by the user", w.pass(t, 1, run), "Plan mode is off")
	expect(t, "told once", w.pass(t, 1, run), "no Plan mode is off")
}

func TestApprovedPlan(t *testing.T) {
	text := "the plan"
	stage := attach.New(attach.Plan(func() (string, string, bool) { return "/p/plan.md", text, true }))
	w := newWorld()
	run := func() error { return stage(t.Context(), w.t) }
	w.exit("x1", text, true)
	expect(t, "the call holds it", w.pass(t, 1, run), "no the plan")
	w.compacted()
	expect(t, "after a compaction", w.pass(t, 2, run), "the plan", "/p/plan.md")
	expect(t, "once", w.pass(t, 3, run), "no the plan")
	text = "another plan"
	expect(t, "its file was changed", w.pass(t, 4, run), "The plan has changed", "another plan")
}
