package anthropic

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Time limits of a connection. The answer itself has none here: the idle watchdog of the model stage knows
// whether anything still comes.
const (
	connectTimeout   = 20 * time.Second
	handshakeTimeout = 15 * time.Second
)

// NewClient returns an HTTP client with the network settings of the environment: HTTP_PROXY, HTTPS_PROXY and
// NO_PROXY (also in lower case), SSL_CERT_FILE (the authorities to trust instead of the system's),
// NODE_EXTRA_CA_CERTS (further ones), CLAUDE_CODE_CLIENT_CERT and CLAUDE_CODE_CLIENT_KEY (PEM files). It fails
// when a file that is named cannot be used. It follows no redirects, which would carry the key elsewhere.
func NewClient(getenv func(string) string) (*http.Client, error) {
	conf, err := tlsConfig(getenv)
	if err != nil {
		return nil, err
	}
	roots, err := authorities(getenv)
	if err != nil {
		return nil, err
	}
	var rt http.RoundTripper = newTransport(getenv, conf)
	if roots != nil {
		rt = &lateRoots{plain: rt.(*http.Transport), secure: sync.OnceValues(func() (http.RoundTripper, error) {
			pool, err := roots()
			if err != nil {
				return nil, err
			}
			conf := conf.Clone()
			conf.RootCAs = pool
			return newTransport(getenv, conf), nil
		})}
	}
	return &http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func newTransport(getenv func(string) string, conf *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               proxy(getenv),
		DialContext:         dialer.DialContext,
		TLSClientConfig:     conf,
		TLSHandshakeTimeout: handshakeTimeout,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // a compressed stream comes in lumps
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// lateRoots parses the authorities when the first connection needs them: a bundle of 150 takes longer than all the
// rest of the start, and a local server needs none.
type lateRoots struct {
	plain  *http.Transport
	secure func() (http.RoundTripper, error)
}

func (l *lateRoots) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "http" {
		via, err := (*url.URL)(nil), error(nil)
		if l.plain.Proxy != nil {
			via, err = l.plain.Proxy(r)
		}
		if err != nil || via == nil || via.Scheme != "https" {
			return l.plain.RoundTrip(r)
		}
	}
	rt, err := l.secure()
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return rt.RoundTrip(r)
}

func proxy(getenv func(string) string) func(*http.Request) (*url.URL, error) {
	conf := httpproxy.Config{
		HTTPProxy:  either(getenv, "HTTP_PROXY", "http_proxy"),
		HTTPSProxy: either(getenv, "HTTPS_PROXY", "https_proxy"),
		NoProxy:    either(getenv, "NO_PROXY", "no_proxy"),
		CGI:        getenv("REQUEST_METHOD") != "",
	}
	if conf.HTTPProxy == "" && conf.HTTPSProxy == "" {
		return nil
	}
	find := conf.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return find(r.URL) }
}

func either(getenv func(string) string, upper, lower string) string {
	if v := getenv(upper); v != "" {
		return v
	}
	return getenv(lower)
}

func tlsConfig(getenv func(string) string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	cert, key := getenv("CLAUDE_CODE_CLIENT_CERT"), getenv("CLAUDE_CODE_CLIENT_KEY")
	if cert == "" && key == "" {
		return conf, nil
	}
	if cert == "" || key == "" {
		return nil, fmt.Errorf("CLAUDE_CODE_CLIENT_CERT and CLAUDE_CODE_CLIENT_KEY: set both or none")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("load the client certificate: %w", err)
	}
	conf.Certificates = []tls.Certificate{pair}
	return conf, nil
}

// authorities returns what makes the pool of the environment's authorities, nil when it names none. The files are
// read now, so that one that cannot be used is told of at the start, and parsed later.
func authorities(getenv func(string) string) (func() (*x509.CertPool, error), error) {
	trust, extra := getenv("SSL_CERT_FILE"), getenv("NODE_EXTRA_CA_CERTS")
	if trust == "" && extra == "" {
		return nil, nil
	}
	var texts [][]byte
	for _, v := range []struct{ name, file string }{{"SSL_CERT_FILE", trust}, {"NODE_EXTRA_CA_CERTS", extra}} {
		if v.file == "" {
			continue
		}
		text, err := os.ReadFile(v.file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
		if !hasCertificate(text) {
			return nil, fmt.Errorf("%s: no certificate in %s; want a PEM file", v.name, v.file)
		}
		texts = append(texts, text)
	}
	return func() (*x509.CertPool, error) {
		pool := x509.NewCertPool()
		if trust == "" {
			system, err := x509.SystemCertPool()
			if err != nil {
				return nil, fmt.Errorf("read the system's certificates: %w", err)
			}
			pool = system
		}
		for _, text := range texts {
			pool.AppendCertsFromPEM(text)
		}
		return pool, nil
	}, nil
}

func hasCertificate(text []byte) bool {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return false
		}
		if block.Type == "CERTIFICATE" {
			if _, err := x509.ParseCertificate(block.Bytes); err == nil {
				return true
			}
		}
		text = rest
	}
}
