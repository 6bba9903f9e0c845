package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"lathe/agent"
)

// The examples answer from recordings, so that they run without a key; without Replay they call a model.

func Example() {
	s, err := agent.Open(agent.Options{
		Dir:    project(),
		Replay: "testdata/hello.jsonl",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	result, err := s.Run(context.Background(), "What is in greeting.txt?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: It says "hello".
}

func ExampleSession_Submit() {
	s, err := agent.Open(agent.Options{Dir: project(), Replay: "testdata/hello.jsonl"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	for e, err := range s.Submit(context.Background(), agent.Prompt{Text: "What is in greeting.txt?"}) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := e.(type) {
		case agent.Text: // a piece of the answer
			fmt.Print(e.Text)
		case agent.ToolStarted:
			fmt.Printf("[%s]\n", e.Summary)
		case agent.Done:
			fmt.Printf("\n%s after %d model calls\n", e.Result.Subtype, e.Result.Turns)
		}
	}
	// Output:
	// [Read greeting.txt]
	// It says "hello".
	// success after 2 model calls
}

func ExampleNewTool() {
	type question struct {
		City string `json:"city" jsonschema:"name of the city"`
	}
	weather := agent.NewTool("weather", "The weather of today in a city.",
		func(_ context.Context, in question) (string, error) {
			return "rain in " + in.City, nil
		})

	s, err := agent.Open(agent.Options{
		Dir:    project(),
		Tools:  []agent.Tool{weather},
		Allow:  []string{"weather"}, // else it is asked for
		Replay: "testdata/weather.jsonl",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	result, err := s.Run(context.Background(), "Do I need an umbrella in Oslo?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: Yes: rain in Oslo.
}

func ExampleOptions_permission() {
	s, err := agent.Open(agent.Options{
		Dir:    project(),
		Replay: "testdata/remove.jsonl",
		Permission: func(_ context.Context, q agent.Question) (agent.Answer, error) {
			if q.Tool == "Bash" && strings.Contains(string(q.Input), "rm ") {
				return agent.Answer{Message: "Nothing is removed here."}, nil
			}
			return agent.Answer{Allow: true}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	result, err := s.Run(context.Background(), "Remove greeting.txt.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	for _, d := range result.Denials {
		fmt.Println("refused:", d.Tool)
	}
	// Output:
	// I may not remove it.
	// refused: Bash
}

func ExampleOptions_hooks() {
	s, err := agent.Open(agent.Options{
		Dir:    project(),
		Allow:  []string{"Bash(ls)"},
		Replay: "testdata/list.jsonl",
		Hooks: []agent.Hook{{
			Event: "PreToolUse", Matcher: "Bash",
			Run: func(_ context.Context, in agent.HookInput) (agent.HookOutput, error) {
				var call struct{ Command string }
				if err := json.Unmarshal(in.ToolInput, &call); err != nil {
					return agent.HookOutput{}, err
				}
				fmt.Println("about to run:", call.Command)
				return agent.HookOutput{}, nil
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	result, err := s.Run(context.Background(), "Which files are there?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output:
	// about to run: ls
	// Only greeting.txt.
}

func ExampleOptions_resume() {
	var store agent.Memory // or nil, for files as lathe keeps them
	dir := project()

	s, err := agent.Open(agent.Options{Dir: dir, Store: &store, Replay: "testdata/hello.jsonl"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.Run(context.Background(), "What is in greeting.txt?"); err != nil {
		log.Fatal(err)
	}
	id := s.ID()
	s.Close()

	s, err = agent.Open(agent.Options{Dir: dir, Store: &store, Resume: id, Replay: "testdata/more.jsonl"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	result, err := s.Run(context.Background(), "In capitals, please.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: HELLO
}

// project is a directory with a file in it, for the examples. What they keep goes beside it.
func project() string {
	dir := filepath.Join(exampleDir, "project")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "greeting.txt"), []byte("hello\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	return dir
}
