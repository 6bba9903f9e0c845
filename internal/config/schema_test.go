package config_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/config"
)

// settingRead is how the code asks for a setting by its name.
var settingRead = regexp.MustCompile(`(?:\.(?:Bool|String|Text|Strings|AllStrings|Decode|DecodeGranted)\(|\.Keys\[|trustedList\([^"\n]*|read\(l, )"([A-Za-z]+)"`)

// The schema does not say of a setting that the code reads that nothing is done with it.
func TestSchemaKnowsWhatIsRead(t *testing.T) {
	var doc struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(config.Schema, &doc); err != nil {
		t.Fatal(err)
	}
	found := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range settingRead.FindAllStringSubmatch(string(text), -1) {
			p, ok := doc.Properties[m[1]]
			if ok {
				found++
			}
			if strings.Contains(p.Description, "does nothing with it") {
				t.Errorf("%s reads %s, of which the schema says that nothing is done with it", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 30 {
		t.Errorf("only %d reads of settings were found: the pattern is out of date", found)
	}
}
