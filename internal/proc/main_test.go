package proc

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestMain makes the test binary a parent that can be killed: with LATHE_TEST_PARENT set it starts that shell
// command as a child and waits.
func TestMain(m *testing.M) {
	command := os.Getenv("LATHE_TEST_PARENT")
	if command == "" {
		os.Exit(m.Run())
	}
	var g Group
	p, err := g.Start(Spec{Args: []string{"sh", "-c", command}, Env: Env(os.Environ()), Out: os.Stdout})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	<-p.Done()
	time.Sleep(time.Minute) // until the test kills us
}
