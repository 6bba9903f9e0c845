// Package agent is the tool Agent: it hands a task to a sub-agent and gives back its report. In comes the call's input;
// out go the type, model and prompt to run (Request), which package app carries out in a conversation of its own.
package agent
