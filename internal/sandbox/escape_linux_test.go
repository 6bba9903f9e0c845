package sandbox

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/perm"
)

// snapshot is everything that must not change: the home and what is beside it, without what commands may write.
func (r *rig) snapshot() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	base := filepath.Dir(r.home)
	err := filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(base, path)
		if rel == "home/.cache" || rel == "home/work/.git/objects" || rel == "home/work/free" {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			b, _ := os.ReadFile(path)
			text += " " + string(b)
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			text += " " + to
		}
		out[rel] = text
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// each runs commands in one sandbox after the other; where the result is bad, each in one of its own to find which.
func (r *rig) each(commands []string, bad func(result) string) {
	r.t.Helper()
	script := ""
	for _, c := range commands {
		script += "(\n" + c + "\n) 2>&1\nmkdir -p free; [ -f free/x.txt ] || echo free > free/x.txt\n"
	}
	res := r.run(script)
	if bad(res) == "" {
		return
	}
	r.t.Errorf("together: %s", res.out)
	for _, c := range commands {
		res := r.run("mkdir -p free; [ -f free/x.txt ] || echo free > free/x.txt\n" + c)
		if why := bad(res); why != "" {
			r.t.Errorf("%s\n%s\noutput: %s", c, why, res.out)
		}
	}
}

// says finds words that must not be said.
func says(words ...string) func(result) string {
	return func(res result) string {
		if w := firstIn(res.out, words); w != "" {
			return "says " + w
		}
		return ""
	}
}

// furnish gives a workspace protected names, present and absent ones, and secrets that rules deny.
func furnish(r *rig) {
	r.put(".claude/settings.json", "{}\n")
	r.put(".vscode/tasks.json", "{}\n")
	r.put("sub/.vscode/tasks.json", "{}\n")
	r.put("sub/.npmrc", "x\n")
	r.put(".env", "SECRET-ENV\n")
	r.put("sub/.env", "SECRET-ENV\n")
	r.put("private/deep/key.pem", "SECRET-PEM\n")
	r.put("asked.txt", "SECRET-ASKED\n")
	r.put("frozen.txt", "frozen\n")
	r.put("~/notes/diary.txt", "SECRET-DIARY\n")
	r.put("free/x.txt", "free\n")
	deny := func(text string) perm.Rule { return perm.Rule{Text: text, Effect: perm.Deny} }
	r.rules = append(r.rules, deny("Read(.env)"), deny("Read(private/**/*.pem)"), deny("Read(~/notes/**)"), deny("Edit(frozen.txt)"),
		deny("Edit(new-frozen.txt)"), perm.Rule{Text: "Read(asked.txt)", Effect: perm.Ask})
}

// Whatever a command tries, nothing outside of what it may write changes, and what is protected inside stays.
func TestNothingChangesOutside(t *testing.T) {
	commands := []string{
		// outside, directly and through planted links
		"echo x > $OUT/file", "echo x >> $OUT/file", "echo x > $OUT/new", "mkdir $OUT/dir", "rm $OUT/file", "mv $OUT/file $OUT/f2", ": > $OUT/file",
		"ln -s $OUT/file free/l1; echo x >> free/l1", "ln -s $OUT free/l2; echo x > free/l2/new", "ln $OUT/file free/l3 && echo x >> free/l3",
		"ln -s / free/root; echo x > free/root$OUT/new", "cp /bin/true $OUT/file", "truncate -s 0 $OUT/file", "mv free/x.txt $OUT/; true", "mv $OUT free/",
		"echo x > ~/x", "echo x >> ~/.bashrc", "mv ~/.bashrc ~/.b", "rm -rf ~/.ssh", "echo x > ~/.lathe/settings.json", "mkdir ~/.claude", "echo x > ~/.gitconfig",
		"cd /proc/self/cwd/../ && echo x > y", "echo x > /proc/self/root$OUT/new", "exec 9<$OUT; echo x > /proc/self/fd/9/new",
		// protected names that exist
		"echo x > .claude/settings.json", "rm -rf .claude", "mv .claude free/c", "echo x > .claude/new", "mkdir -p .claude/hooks", "echo x > .vscode/tasks.json",
		"mv sub free/sub; mkdir -p sub/.vscode", "echo x > sub/.vscode/tasks.json", "echo x > sub/.npmrc", "ln -f free/x.txt .claude/settings.json",
		"ln .claude/settings.json free/hard && echo x > free/hard", "mv free/x.txt .claude/settings.json", "rm .claude/settings.json", "cp -r .claude free/c; rm -rf .claude; mv free/c .claude",
		// protected names that do not exist: made, moved and linked into place, in any order
		"echo x > .mcp.json", "mkdir .idea && echo x > .idea/w.xml", "mv free/x.txt .mcp.json", "ln free/x.txt .mcp.json", "ln -s free/x.txt .mcp.json",
		"rmdir .mcp.json; echo x > .mcp.json", "mv .mcp.json free/m; echo x > .mcp.json", "mkdir -p free/d; mv -T free/d .lathe", "mkdir .lathe; echo '{}' > .lathe/settings.json",
		"ln -s free .idea", "ln -sfn free .idea", "python3 -c 'import os; os.rename(\"free/x.txt\", \".mcp.json\")'",
		"echo x > './/.mcp.json'", "echo x > .mcp.json/", "chmod 777 .mcp.json; echo x > .mcp.json/y", "echo x > free/../.mcp.json",
		// git's own
		"echo x >> .git/config", "git config core.fsmonitor 'touch /x'", "echo x > .git/hooks/pre-commit", "mv .git/hooks free/h; mkdir .git/hooks", "rm -rf .git/hooks",
		"mv .git free/g; mkdir .git", "mkdir free/fake; echo free/fake > .git/commondir", "ln -s ../free/x.txt .git/config.worktree", "mv .git/config .git/c2", "rm .git/config",
		"cp .git/config free/c; mv free/c .git/config", "ln -f free/x.txt .git/config",
		// what rules deny
		"echo x > .env", "mv .env free/e", "rm .env", "echo x > frozen.txt", "mv free/x.txt frozen.txt", "ln -f free/x.txt frozen.txt", "echo x > new-frozen.txt", "echo x > ~/notes/diary.txt",
		"rm -rf private", "mv private free/p", "echo x > asked.txt",
	}
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, furnish, change)
		r.env = append(r.env, "OUT="+r.outside)
		before := r.snapshot()
		r.each(commands, func(res result) string {
			diff := cmp.Diff(before, r.snapshot())
			if diff != "" {
				before = r.snapshot()
			}
			return diff
		})
	})
}

// No way of reading shows what is hidden.
func TestSecretsStayHidden(t *testing.T) {
	commands := []string{
		"cat ~/.ssh/id_ed25519", "cat ~/.lathe/.credentials.json", "cat .env", "cat sub/.env", "cat private/deep/key.pem", "cat ~/notes/diary.txt", "cat asked.txt",
		"python3 -c 'print(open(\".env\").read())'", "cat < .env", "cp .env free/e; cat free/e", "ln .env free/e2; cat free/e2", "ln -s ../.env free/e3; cat free/e3",
		"mv .env free/e4; cat free/e4", "grep -rs SECRET . ~/.ssh ~/notes ~/.lathe", "tar cf - . 2>/dev/null | grep -a SECRET", "cat /proc/self/root$PWD/.env", "cat /proc/self/cwd/.env",
		"cat /proc/1/root$PWD/.env", "cat /proc/*/root$HOME/.ssh/id_ed25519", "git grep --no-index SECRET", "dd if=.env", "chmod 644 .env; cat .env", "cd sub && cat .env",
		"mv sub free/s2; cat free/s2/.env; mv free/s2 sub", "mv private free/p2; cat free/p2/deep/key.pem", "cat /etc/../$PWD/.env", "bash -c 'exec 9<.env; cat <&9'", "ls ~/.ssh | grep id_ && cat ~/.ssh/*", "head -c 1 /etc/shadow | grep -q . && echo SECRET",
	}
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, furnish, change)
		r.each(commands, says("SECRET"))
		if got := r.read(".env"); got != "SECRET-ENV\n" {
			t.Errorf("the file itself is now %q", got)
		}
	})
}

// victim is a process outside with a secret in its environment.
func victim(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = []string{"CANARY=SECRET-ENVIRON", "PATH=" + os.Getenv("PATH")}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func TestOtherProcessesAreOutOfReach(t *testing.T) {
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, change)
		v := victim(t)
		pid := v.Process.Pid
		r.each([]string{
			"cat /proc/*/environ | tr '\\0' '\\n' | grep SECRET", fmt.Sprintf("cat /proc/%d/environ", pid), fmt.Sprintf("ls -la /proc/%d/root/ && echo ESCAPED", pid),
			fmt.Sprintf("cat /proc/%d/mem && echo ESCAPED", pid), fmt.Sprintf("readlink /proc/%d/fd/0 && echo ESCAPED", pid), fmt.Sprintf("cat /proc/%d/environ", os.Getpid()),
			fmt.Sprintf("kill -9 %d && echo ESCAPED", pid), fmt.Sprintf("cd /proc/%d/cwd && echo ESCAPED", pid),
			r.attacker() + fmt.Sprintf("ptrace %d", pid), r.attacker() + fmt.Sprintf("vm-read %d", pid), r.attacker() + fmt.Sprintf("kill %d", pid),
		}, says("ESCAPED", "SECRET"))
		r.each([]string{
			"cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo ESCAPED", "echo 0 > /proc/sys/vm/drop_caches && echo ESCAPED",
			"cat /sys/kernel/mm/transparent_hugepage/enabled > /sys/kernel/mm/transparent_hugepage/defrag && echo ESCAPED",
			"for d in /dev/mem /dev/vda /dev/sda /dev/nvme0n1; do head -c 1 $d 2>/dev/null | wc -c | grep -q 1 && echo ESCAPED; done", "echo x > /proc/irq/default_smp_affinity && echo ESCAPED",
		}, says("ESCAPED"))
		r.run("kill -9 -1 2>/dev/null") // whoever can be reached, in the end the command itself
		if err := v.Process.Signal(os.Signal(sigZero)); err != nil {
			t.Errorf("the process outside is gone: %v", err)
		}
	})
}

// System calls by which a program could get around the rest.
func TestSystemCalls(t *testing.T) {
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, change)
		tries := []string{
			"descriptors", "ptrace 1", "vm-read 1", "mount", "bind", "remount", "umount /proc", "umount " + r.work, "open-tree", "fsopen", "chroot", "unshare", "unshare-net", "setns", "clone", "clone3",
			"io-uring", "keyring", "bpf", "perf", "handle", "tiocsti", "packet", "vsock", "netlink", "unix-self",
		}
		res := r.run(r.attacker() + strings.Join(tries, " , "))
		if strings.Count(res.out, "refused:") != len(tries) || strings.Contains(res.out, "ESCAPED") {
			t.Errorf("%s", res.out)
		}
	})
}

// Neither addresses, nor names, nor sockets of daemons lead out.
func TestNetworkIsClosed(t *testing.T) {
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, change)
		var reached atomic.Int64
		listen := func(network, addr string) net.Addr {
			l, err := net.Listen(network, addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					reached.Add(1)
					_ = c.Close()
				}
			}()
			return l.Addr()
		}
		tcp := listen("tcp", "127.0.0.1:0")
		agent := listen("unix", r.path("agent.sock")) // even where files may be written
		abstract := listen("unix", fmt.Sprintf("@lathe-test-%d-%s", os.Getpid(), backend))
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = udp.Close() })
		a := r.attacker()
		r.env = append(r.env, "SSH_AUTH_SOCK="+agent.String(), "DOCKER_HOST=unix://"+agent.String())
		tries := []string{
			"tcp " + tcp.String(), "tcp 1.1.1.1:443", "tcp 169.254.169.254:80", "tcp [2606:4700:4700::1111]:443", "udp " + udp.LocalAddr().String(), "udp 1.1.1.1:53",
			"dns example.com", "unix " + agent.String(), "unix " + abstract.String(), "unix /var/run/docker.sock", "get http://" + tcp.String() + "/",
		}
		r.each([]string{
			a + "'" + strings.Join(tries, "' , '") + "'", "echo x > /dev/tcp/1.1.1.1/443 && echo ESCAPED",
			"echo x > /dev/tcp/" + strings.Replace(tcp.String(), ":", "/", 1) + " && echo ESCAPED", "echo x > /dev/udp/1.1.1.1/53 && echo ESCAPED",
			"env | grep -E '^(SSH_AUTH_SOCK|DOCKER_HOST)=' && echo ESCAPED",
		}, says("ESCAPED"))
		if n := reached.Load(); n > 0 {
			t.Errorf("%d connections came through", n)
		}
		_ = udp.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if n, _, err := udp.ReadFrom(make([]byte, 64)); err == nil {
			t.Errorf("%d bytes came by UDP", n)
		}
	})
}

var naps atomic.Int64

// What a command leaves behind ends with it, also what left its group and cleaned its environment.
func TestNothingIsLeftBehind(t *testing.T) {
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, change)
		nap := fmt.Sprintf("%d.%d", 70000+os.Getpid()%1000, naps.Add(1))
		res := r.run("(setsid env -i /bin/sleep " + nap + " >/dev/null 2>&1 </dev/null &); /bin/sleep " + nap + " & disown; setsid -f env -i /bin/sh -c 'sleep " + nap + " & sleep " + nap + "' >/dev/null 2>&1; sleep 0.2; echo done")
		if !strings.Contains(res.out, "done") {
			t.Fatalf("the command says %q", res.out)
		}
		alive := func() bool {
			out, _ := exec.Command("pgrep", "-f", "sleep "+nap).Output()
			return len(out) > 0
		}
		for end := time.Now().Add(time.Minute); alive(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("something lives on")
			}
		}
	})
}
