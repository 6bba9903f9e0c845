package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// chalkJob writes tests for a package that is published without any, and mends what they find.
func chalkJob() job {
	const test = `import test from 'node:test';
import assert from 'node:assert/strict';
import {Chalk} from './source/index.js';

test('red', () => {
	assert.equal(new Chalk({level: 1}).red('x'), '\u001B[31mx\u001B[39m');
});

test('nested', () => {
	const c = new Chalk({level: 1});
	assert.equal(c.red('a' + c.blue('b') + 'c'), '\u001B[31ma\u001B[34mb\u001B[39m\u001B[31mc\u001B[39m');
});
`
	const from, to = "\tlet index = string.indexOf(substring);\n\tif (index === -1) {\n\t\treturn string;\n\t}\n\n\tconst substringLength", "\tlet index = string.indexOf(substring);\n\tif (index < 0) {\n\t\treturn string;\n\t}\n\n\tconst substringLength"
	return job{
		name: "chalk (JavaScript modules)", fetch: npmPackage("chalk@5.3.0"), prompt: "test it",
		args: []string{"--allowedTools", "Bash(node --test *)"},
		steps: []step{
			{call: glob("source/**/*.js"), want: []string{"source/index.js", "source/vendor/ansi-styles/index.js"}},
			{call: readFile("source/utilities.js"), want: []string{"3\t\tlet index = string.indexOf(substring);"}},
			{call: write("chalk.test.js", test), want: []string{"chalk.test.js"}},
			{call: bash("node --test chalk.test.js 2>&1"), want: []string{"pass 2", "fail 0"}},
			{call: edit("source/utilities.js", from, to)},
			{call: bash("node --test --test-reporter=tap 2>&1 | grep '^# '"), want: []string{"# pass 2"}},
		},
		changes: []string{"M source/utilities.js", "?? chalk.test.js"},
		check: func(t *testing.T, r *rig) {
			r.replaced("source/utilities.js", from, to)
			if got := r.read(filepath.Join(r.dir, "chalk.test.js")); got != test {
				t.Errorf("the new file differs: %s", firstDifference(got, test))
			}
		},
	}
}

// rxjsJob changes TypeScript sources and a bundle whose licence has CRLF line ends and whose code has LF ones.
func rxjsJob() job {
	const bundle = "dist/bundles/rxjs.umd.js"
	const from, to = "    function map(project, thisArg) {\n        return operate(", "    function map(project, thisArg) {\n        if (typeof project !== 'function') throw new TypeError('map: project');\n        return operate("
	const licence, licensed = "***************************************************************************** */\r\n    /* global Reflect, Promise */", "***************************************************************************** */\r\n    /* global Reflect, Promise, Symbol */"
	return job{
		name: "rxjs (TypeScript)", fetch: npmPackage("rxjs@7.8.2"), prompt: "let map check its argument",
		args: []string{"--allowedTools", "Bash(node -e *)"},
		steps: []step{
			{call: glob("src/internal/operators/m*.{ts,tsx}"), want: []string{"src/internal/operators/map.ts", "mergeMap.ts"}},
			{call: grep(`export function map<`, fields{"type": "ts", "output_mode": "content", "-n": true, "path": "src"}), want: []string{"src/internal/operators/map.ts:"}},
			{call: readFile("src/internal/operators/map.ts"), want: []string{"export function map<T, R>"}},
			{call: edit("src/internal/operators/map.ts", "  return operate((source, subscriber) => {\n", "  if (typeof project !== 'function') throw new TypeError('map: project');\n  return operate((source, subscriber) => {\n")},
			{call: grep("function map\\(project", fields{"output_mode": "content", "-n": true, "path": bundle}), want: []string{"2705"}},
			{call: readPart(bundle, 1, 20), want: []string{"Apache License"}},
			{call: readPart(bundle, 2700, 20), want: []string{"2705\t    function map(project, thisArg) {"}},
			{call: edit(bundle, from, to)},
			{call: edit(bundle, strings.ReplaceAll(licence, "\r", ""), strings.ReplaceAll(licensed, "\r", ""))},
			{call: bash(`node -e 'const {of, map} = require("./dist/bundles/rxjs.umd.js"); of(1, 2).pipe(map(x => x * 2)).subscribe(console.log); try { map(1) } catch (e) { console.log(e.message) }'`), want: []string{"2\n4\nmap: project"}},
		},
		changes: []string{"M dist/bundles/rxjs.umd.js", "M src/internal/operators/map.ts"},
		check: func(_ *testing.T, r *rig) {
			r.replaced(bundle, from, to, licence, licensed)
		},
	}
}

// gypJob works on the Python project inside a package: its own unit tests, a batch file with CRLF line ends, and a
// notebook.
func gypJob() job {
	const bat, notebook = "gyp/gyp.bat", "docs/usage.ipynb"
	const cells = `{"cells":[{"cell_type":"markdown","id":"a1","metadata":{},"source":["# Usage\n"]},{"cell_type":"code","execution_count":1,"id":"b2","metadata":{},"outputs":[],"source":["import gyp\n"]}],"metadata":{"kernelspec":{"display_name":"Python 3","language":"python","name":"python3"}},"nbformat":4,"nbformat_minor":5}`
	j := job{
		name: "gyp (Python)", fetch: npmPackage("node-gyp@10.3.1"), prompt: "say how it is used",
		args: []string{"--allowedTools", "Bash(node --check *)"},
		steps: []step{
			{call: grep("class .*TestCase", fields{"glob": "*_test.py", "output_mode": "content", "head_limit": 3}), want: []string{"_test.py"}},
			{call: readFile(bat), want: []string{`5` + "\t" + `@python "%~dp0gyp_main.py" %*`}},
			{call: edit(bat, "found in the LICENSE file.\n\n@python", "found in the LICENSE file.\n@rem It needs Python 3.\n\n@python")},
			{call: write(notebook, cells)},
			{call: readFile(notebook), want: []string{"import gyp", "b2"}},
			{call: fakeapi.Call("NotebookEdit", fields{"notebook_path": notebook, "cell_id": "b2", "new_source": "import gyp\ngyp.main([])\n"}), want: nil},
			{call: fakeapi.Call("NotebookEdit", fields{"notebook_path": notebook, "cell_id": "a1", "edit_mode": "insert", "cell_type": "markdown", "new_source": "It is called by node-gyp."})},
			{call: bash("node --check lib/configure.js && node --check bin/node-gyp.js"), want: nil},
		},
		changes: []string{"M gyp/gyp.bat", "?? docs/usage.ipynb"},
		check: func(t *testing.T, r *rig) {
			r.replaced(bat, "LICENSE file.\r\n\r\n", "LICENSE file.\r\n@rem It needs Python 3.\r\n\r\n")
			var nb struct {
				Cells []struct {
					Type   string `json:"cell_type"`
					Source any    `json:"source"`
				} `json:"cells"`
			}
			if err := json.Unmarshal([]byte(r.read(filepath.Join(r.dir, notebook))), &nb); err != nil {
				t.Fatal(err)
			}
			kinds := ""
			for _, c := range nb.Cells {
				kinds += c.Type + " "
			}
			if kinds != "markdown markdown code " {
				t.Errorf("cells: %s", kinds)
			}
		},
	}
	if _, err := exec.LookPath("python3"); err == nil {
		j.args = append(j.args, "--allowedTools", "Bash(python3 -B -m unittest *)")
		j.steps = append(j.steps, step{call: bash("cd gyp/pylib && python3 -B -m unittest gyp.common_test 2>&1"), want: []string{"Ran 5 tests", "OK"}})
	}
	return j
}
