// Package plan is the tools EnterPlanMode and ExitPlanMode. In plan mode the model looks and plans, and changes nothing;
// ExitPlanMode puts the plan to the person (as event.Ask, like every question about a call) and, once it is approved,
// keeps it in a file and goes back to the mode from before. Called by pipeline/tools (stage 9), and offered only where
// somebody can answer. Restore finds the plan in force in a conversation; attach shows it again after a compaction.
package plan
