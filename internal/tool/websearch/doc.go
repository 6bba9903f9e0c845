// Package websearch is the tool WebSearch: it puts a query to the search that the provider runs on its side, and gives
// back what was found with its sources. The call of the model that searches is made by the session (internal/app),
// outside the conversation; in come the blocks of its answer. A Budget bounds how many searches a session makes.
//
// Documented: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
package websearch
