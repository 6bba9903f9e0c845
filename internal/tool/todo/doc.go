// Package todo is the tools by which the model keeps the session's to-do list: TodoWrite writes a whole new one, TaskCreate,
// TaskUpdate, TaskGet and TaskList write and read it item by item. The list is kept nowhere else than in the conversation:
// Restore finds it there. Called by pipeline/tools (stage 9); pipeline/attach reads the list.
package todo
