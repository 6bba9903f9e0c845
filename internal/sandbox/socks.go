package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"
)

// Answers of SOCKS5 (RFC 1928).
const (
	socksOK         = 0
	socksFailed     = 1
	socksRefused    = 2
	socksUnknown    = 7
	socksNoAuth     = 0
	socksNoMethod   = 0xff
	socksConnect    = 1
	socksIPv4       = 1
	socksDomain     = 3
	socksIPv6       = 4
	socksVersion    = 5
	socksReplyBytes = 10
)

// socks serves one SOCKS5 client: no authentication, CONNECT only, names resolved here.
func (p *proxy) socks(c net.Conn, r *bufio.Reader) {
	if !socksGreeting(c, r) {
		return
	}
	command, host, port, err := socksRequest(r)
	if err != nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if command != socksConnect {
		socksReply(c, socksUnknown)
		return
	}
	up, err := p.connect(host, port)
	switch {
	case errors.Is(err, errRefused):
		socksReply(c, socksRefused)
		return
	case err != nil:
		socksReply(c, socksFailed)
		return
	}
	socksReply(c, socksOK)
	p.splice(c, r, up)
}

// socksGreeting agrees on no authentication.
func socksGreeting(c io.Writer, r *bufio.Reader) bool {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return false
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(r, methods); err != nil {
		return false
	}
	for _, m := range methods {
		if m == socksNoAuth {
			_, err := c.Write([]byte{socksVersion, socksNoAuth})
			return err == nil
		}
	}
	_, _ = c.Write([]byte{socksVersion, socksNoMethod})
	return false
}

func socksRequest(r *bufio.Reader) (command byte, host string, port uint16, err error) {
	var head [4]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return 0, "", 0, err
	}
	size := 0
	switch head[3] {
	case socksIPv4:
		size = 4
	case socksIPv6:
		size = 16
	case socksDomain:
		n, err := r.ReadByte()
		if err != nil {
			return 0, "", 0, err
		}
		size = int(n)
	default:
		return 0, "", 0, errors.New("unknown kind of address")
	}
	addr := make([]byte, size+2)
	if _, err = io.ReadFull(r, addr); err != nil {
		return 0, "", 0, err
	}
	host, port = string(addr[:size]), binary.BigEndian.Uint16(addr[size:])
	if head[3] != socksDomain {
		ip, _ := netip.AddrFromSlice(addr[:size])
		host = ip.Unmap().String()
	}
	return head[1], host, port, nil
}

func socksReply(c io.Writer, code byte) {
	out := make([]byte, socksReplyBytes)
	out[0], out[1], out[3] = socksVersion, code, socksIPv4
	_, _ = c.Write(out)
}
