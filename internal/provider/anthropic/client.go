package anthropic

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
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
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               proxy(getenv),
			DialContext:         dialer.DialContext,
			TLSClientConfig:     conf,
			TLSHandshakeTimeout: handshakeTimeout,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true, // a compressed stream comes in lumps
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     90 * time.Second,
			HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
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
	trust, extra := getenv("SSL_CERT_FILE"), getenv("NODE_EXTRA_CA_CERTS")
	if trust != "" || extra != "" {
		pool := x509.NewCertPool()
		if trust == "" {
			system, err := x509.SystemCertPool()
			if err != nil {
				return nil, fmt.Errorf("read the system's certificates: %w", err)
			}
			pool = system
		}
		for _, v := range []struct{ name, file string }{{"SSL_CERT_FILE", trust}, {"NODE_EXTRA_CA_CERTS", extra}} {
			if err := addCerts(pool, v.name, v.file); err != nil {
				return nil, err
			}
		}
		conf.RootCAs = pool
	}
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

func addCerts(pool *x509.CertPool, name, file string) error {
	if file == "" {
		return nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s: no certificate in %s; want a PEM file", name, file)
	}
	return nil
}
