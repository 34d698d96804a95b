// An API in Go that checks access tokens by itself, with the standard library alone.
//
// Each request is introspected (RFC 7662), so a token that was revoked is refused from the next request on. Without a usable answer of the
// authorization server nobody gets in. Operations ask for scopes (RFC 6750) and for a recent sign-in (RFC 9470). Clients find the
// authorization server by the metadata of the API (RFC 9728).
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	wellKnown     = "/.well-known/oauth-protected-resource"
	longestAnswer = 64 * 1024
)

// requirement is what an operation asks of its caller.
type requirement struct {
	scope string
	// maxAge is how long ago the caller may have signed in; zero for any time.
	maxAge time.Duration
}

// refusal is an answer of RFC 6750 §3, or of RFC 9470 §3.
type refusal struct {
	status int
	code   string
	parts  [][2]string
}

func (r refusal) Error() string { return r.code }

// token is the part of an introspection response that is used.
type token struct {
	Active    *bool           `json:"active"`
	Issuer    string          `json:"iss"`
	Subject   string          `json:"sub"`
	Scope     string          `json:"scope"`
	Audience  json.RawMessage `json:"aud"`
	TokenType string          `json:"token_type"`
	AuthTime  int64           `json:"auth_time"`
}

func (t token) isFor(resource string) bool {
	var one string
	if json.Unmarshal(t.Audience, &one) == nil {
		return one == resource
	}
	var many []string
	return json.Unmarshal(t.Audience, &many) == nil && slices.Contains(many, resource)
}

type resourceServer struct {
	issuer, resource, clientID, clientSecret string
	metadataURL, path                        string
	client                                   *http.Client

	mu       sync.Mutex
	endpoint string
}

func newResourceServer(issuer, resource, clientID, clientSecret string) (*resourceServer, error) {
	parsed, err := url.Parse(resource)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(parsed.EscapedPath(), "/")
	return &resourceServer{
		issuer: issuer, resource: resource, clientID: clientID, clientSecret: clientSecret,
		path:        path,
		metadataURL: parsed.Scheme + "://" + parsed.Host + wellKnown + path,
		client: &http.Client{
			Timeout: 5 * time.Second,
			// The credentials of the API go to the introspection endpoint and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

func (s *resourceServer) ask(request *http.Request, answer any) error {
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer was %d", response.StatusCode)
	}
	return json.NewDecoder(io.LimitReader(response.Body, longestAnswer)).Decode(answer)
}

func (s *resourceServer) introspectionEndpoint() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endpoint != "" {
		return s.endpoint, nil
	}
	request, err := http.NewRequest(http.MethodGet, s.issuer+"/.well-known/openid-configuration", nil)
	if err != nil {
		return "", err
	}
	var found struct {
		Issuer   string `json:"issuer"`
		Endpoint string `json:"introspection_endpoint"`
	}
	if err := s.ask(request, &found); err != nil {
		return "", err
	}
	// RFC 8414 §3.3.
	if found.Issuer != s.issuer || found.Endpoint == "" {
		return "", errors.New("the metadata is of another issuer, or has no introspection_endpoint")
	}
	s.endpoint = found.Endpoint
	return s.endpoint, nil
}

func (s *resourceServer) introspect(text string) (token, error) {
	endpoint, err := s.introspectionEndpoint()
	if err != nil {
		return token{}, err
	}
	body := strings.NewReader(url.Values{"token": {text}}.Encode())
	request, err := http.NewRequest(http.MethodPost, endpoint, body)
	if err != nil {
		return token{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	// RFC 6749 §2.3.1: both parts are form-encoded before they are put together.
	request.SetBasicAuth(url.QueryEscape(s.clientID), url.QueryEscape(s.clientSecret))
	var answer token
	if err := s.ask(request, &answer); err != nil {
		return token{}, err
	}
	if answer.Active == nil {
		return token{}, errors.New("the answer is no introspection response")
	}
	return answer, nil
}

var bearer = regexp.MustCompile(`(?i)^Bearer +([A-Za-z0-9_.~+/-]+=*) *$`)

// check gives the caller of a request. An error that is no refusal means that nothing is known of the token.
func (s *resourceServer) check(authorization string, required requirement) (token, error) {
	scope := [2]string{"scope", required.scope}
	match := bearer.FindStringSubmatch(authorization)
	if match == nil {
		return token{}, refusal{status: http.StatusUnauthorized, parts: [][2]string{scope}}
	}
	found, err := s.introspect(match[1])
	if err != nil {
		return token{}, err
	}
	// A refresh token has no token_type, and a token that an app got for itself has no user.
	if !*found.Active || found.TokenType != "Bearer" || found.Issuer != s.issuer || found.Subject == "" || !found.isFor(s.resource) {
		return token{}, refusal{http.StatusUnauthorized, "invalid_token", [][2]string{scope}}
	}
	if !slices.Contains(strings.Split(found.Scope, " "), required.scope) {
		return token{}, refusal{http.StatusForbidden, "insufficient_scope", [][2]string{scope}}
	}
	if required.maxAge > 0 && time.Since(time.Unix(found.AuthTime, 0)) > required.maxAge {
		maxAge := [2]string{"max_age", fmt.Sprint(int(required.maxAge.Seconds()))}
		return token{}, refusal{http.StatusUnauthorized, "insufficient_user_authentication", [][2]string{maxAge}}
	}
	return found, nil
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Print(err)
	}
}

// require lets only those callers reach a handler whose token suffices.
func (s *resourceServer) require(required requirement, handler func(http.ResponseWriter, token)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		caller, err := s.check(r.Header.Get("Authorization"), required)
		var refused refusal
		switch {
		case errors.As(err, &refused):
			parts := refused.parts
			if refused.code != "" {
				parts = append([][2]string{{"error", refused.code}}, parts...)
			}
			written := make([]string, 0, len(parts)+1)
			for _, part := range append(parts, [2]string{"resource_metadata", s.metadataURL}) {
				written = append(written, fmt.Sprintf("%s=%q", part[0], part[1]))
			}
			w.Header().Set("WWW-Authenticate", "Bearer "+strings.Join(written, ", "))
			code := refused.code
			if code == "" {
				code = "missing_token"
			}
			write(w, refused.status, map[string]string{"error": code})
		case err != nil:
			log.Print("introspection failed: ", err)
			w.Header().Set("Retry-After", "5")
			write(w, http.StatusServiceUnavailable, map[string]string{"error": "temporarily_unavailable"})
		default:
			handler(w, caller)
		}
	}
}

func (s *resourceServer) metadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	write(w, http.StatusOK, map[string]any{
		"resource":                 s.resource,
		"authorization_servers":    []string{s.issuer},
		"scopes_supported":         []string{"notes.read", "notes.write"},
		"bearer_methods_supported": []string{"header"},
	})
}

func main() {
	server, err := newResourceServer(
		os.Getenv("ISSUER"), os.Getenv("RESOURCE"), os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	answer := func(w http.ResponseWriter, caller token) {
		write(w, http.StatusOK, map[string]string{"sub": caller.Subject})
	}
	mux := http.NewServeMux()
	// Some clients look for it without the path of the resource.
	for _, path := range slices.Compact([]string{wellKnown, wellKnown + server.path}) {
		mux.HandleFunc("GET "+path, server.metadata)
	}
	mux.HandleFunc("GET /notes", server.require(requirement{scope: "notes.read"}, answer))
	mux.HandleFunc("POST /notes", server.require(requirement{scope: "notes.write"}, answer))
	// A note is deleted only by somebody who signed in within the last five minutes.
	mux.HandleFunc("DELETE /notes", server.require(requirement{scope: "notes.write", maxAge: 5 * time.Minute}, answer))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}
