// Package agent finds the definitions of sub-agents. In come the places to look at (Places) and definitions given as
// JSON; out come definitions (Def), one a name, the nearest source first. Files are read only for their text: nothing
// in them runs here. Package app asks for them when the model calls the tool Agent, and when a session begins.
package agent
