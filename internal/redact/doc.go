// Package redact takes secrets out of text. In comes what a tool printed, a file held or a record is about to keep;
// out comes the same text with [redacted: NAME] in the place of each secret. It knows values (of the environment, of a
// key helper) and the forms of common keys. The same input always gives the same output, and what was redacted once
// does not change a second time. It is used where a message is made (engine), where output is stored (tool/bash,
// pipeline/compact) and by the writers of traces, debug logs and recordings; docs/adr/005-redaction.md says why there.
package redact
