// Package style finds output styles: texts at the end of the system prompt that say how answers are to look. In come the
// folders of the user, the project and plugins; out go the styles by name, those built in last. It is called by app when
// outputStyle is set, and to list what there is.
package style
