// Package prompt is stage 4 of the pipeline: the system prompt and the tool definitions. In come the tools, the
// workspace and the user's overrides; out go the system blocks (a static part that is the same for everybody, a
// boundary, a dynamic part) and the definitions. Both are built once, for the first call of a session, and are
// frozen with it: what was sent is sent again byte for byte, after a resume too.
package prompt
