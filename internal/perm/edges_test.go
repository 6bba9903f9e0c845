package perm

import "testing"

// A bare name in a rule that restricts holds at any depth, a path with a slash only where it says.
func TestDepthOfPathRules(t *testing.T) {
	env := testEnv(t, ModeDefault, nil, nil, []string{"Read(secret.txt)", "Read(./conf/key)", "Read(/top.pem)"})
	for path, denied := range map[string]bool{
		"/home/u/p/secret.txt": true, "/home/u/p/a/b/secret.txt": true, "/home/u/p/secret.txt/inside": true, "/home/u/p/not-secret.txt": false,
		"/home/u/p/conf/key": true, "/home/u/p/a/conf/key": false,
		"/home/u/p/top.pem": true, "/home/u/p/a/top.pem": false,
	} {
		if got := env.ReadDenied(path); got != denied {
			t.Errorf("%s: denied %v", path, got)
		}
	}
}

// What holds everything is never removed unasked, whatever the mode and the rules.
func TestRemovalsOfEverything(t *testing.T) {
	for command, asked := range map[string]bool{
		"rm -rf /": true, "rm -rf /usr": true, "rm -rf /usr/": true, "rm -rf ~": true, "rm -rf /home": true, "rm -rf /home/u": true, "rm -rf .": true, "rm -rf ..": true,
		"rm -rf /*": true, "rm -rf ./*": true, "rm -rf build": false, "rm -f a.o": false, "rm -rf /home/u/p/build/*": false,
	} {
		d := Decide(bash(command), testEnv(t, ModeBypass, []string{"Bash(rm:*)"}, nil, nil))
		if (d.Verdict == Ask && d.Source.Kind == "critical") != asked {
			t.Errorf("%s: %v by %s: %s", command, d.Verdict, d.Source.Kind, d.Reason)
		}
	}
}
