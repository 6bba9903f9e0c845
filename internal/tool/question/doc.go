// Package question is the tool AskUserQuestion: the model puts one to four questions with choices to the person. The
// question itself travels as event.Ask, like every question about a call; the answers come back as the changed input of
// the call (PlanAnswer), never from the model. Called by pipeline/tools (stage 9), and offered only where somebody can
// answer.
package question
