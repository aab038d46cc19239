// Command exec-kubelet is the streaming half of a kubelet for the tests: it serves exec with the genuine handlers of
// kubelets, and runs the commands on this machine, whatever the pod and the container. It prints its port, and ends with
// its input.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

func main() {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate()}})
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/exec/", serveExec)
	go func() { _ = http.Serve(listener, nil) }()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	made, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}
}

// serveExec answers /exec/NAMESPACE/POD/CONTAINER.
func serveExec(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/exec/"), "/")
	options, err := remotecommand.NewOptions(r)
	if err != nil || len(parts) != 3 {
		http.Error(w, "not an exec", http.StatusBadRequest)
		return
	}
	command := r.URL.Query()["command"]
	remotecommand.ServeExec(w, r, machine{}, parts[1], "", parts[2], command, options,
		time.Hour, 30*time.Second, remotecommand.SupportedStreamingProtocols)
}

type machine struct{}

func (machine) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader,
	out, errs io.WriteCloser, tty bool, sizes <-chan remotecommand.TerminalSize, _ time.Duration) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = os.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PS1=# ", "TERM=xterm"}
	if tty {
		return exited(runOnTerminal(cmd, in, out, sizes))
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		if in != nil {
			_, _ = io.Copy(stdin, in)
		}
		_ = stdin.Close()
	}()
	return exited(cmd.Wait())
}

func exited(err error) error {
	if failed, ok := err.(*exec.ExitError); ok {
		return utilexec.CodeExitError{Err: err, Code: failed.ExitCode()}
	}
	return err
}

func runOnTerminal(cmd *exec.Cmd, in io.Reader, out io.Writer, sizes <-chan remotecommand.TerminalSize) error {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer terminal.Close()
	fd := int(terminal.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	side, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	_ = side.Close()
	if err != nil {
		return err
	}
	go func() {
		for size := range sizes {
			_ = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
		}
	}()
	go func() {
		if in != nil {
			_, _ = io.Copy(terminal, in)
			// Who types is gone.
			_ = cmd.Process.Signal(syscall.SIGHUP)
		}
	}()
	printed := make(chan struct{})
	go func() {
		_, _ = io.Copy(out, terminal)
		close(printed)
	}()
	err = cmd.Wait()
	<-printed
	return err
}
