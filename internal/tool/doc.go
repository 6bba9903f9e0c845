// Package tool defines what a tool is, the registry of a session's tools, and the state that tools of one
// session share: the workspace and the file-read cache. Each tool is a subfolder with its code and, as .md, the
// description that the model reads. Called by pipeline/tools (stage 9) and pipeline/prompt (definitions).
package tool
