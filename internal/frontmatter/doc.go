// Package frontmatter reads the block between --- lines with which a Markdown file of settings begins: rules, notes
// and skills. In comes the file's text, out go its fields and the body. It is lenient, as people write such files by
// hand: what is no YAML has no fields, and its body counts all the same. Used by memory, skill and agent.
package frontmatter
