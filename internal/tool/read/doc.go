// Package read is the tool Read: it shows a file to the model. In goes a path, and a range for text or pages for a
// PDF; out come numbered lines, an image, a PDF document or the cells of a notebook, each within what one result
// may hold and with the way to read on. What was seen is recorded, for Edit and Write need it. Called by
// pipeline/tools (stage 9).
package read
