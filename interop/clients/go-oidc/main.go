// Signs people in with go-oidc and x/oauth2.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// session is what the app keeps of a browser.
type session struct {
	// The sign-in that has begun.
	state, nonce, verifier string

	// The person who is signed in.
	claims  map[string]any
	idToken string
	sid     string
	tokens  *oauth2.Token
}

type app struct {
	origin     string
	provider   *oidc.Provider
	verifier   *oidc.IDTokenVerifier
	config     oauth2.Config
	endSession string

	mutex    sync.Mutex
	sessions map[string]*session
}

func main() {
	ctx := context.Background()
	origin := "http://localhost:" + os.Getenv("PORT")
	provider, err := oidc.NewProvider(ctx, os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil {
		log.Fatal(err)
	}
	a := &app{
		origin:   origin,
		provider: provider,
		verifier: provider.Verifier(&oidc.Config{ClientID: os.Getenv("CLIENT_ID")}),
		config: oauth2.Config{
			ClientID:     os.Getenv("CLIENT_ID"),
			ClientSecret: os.Getenv("CLIENT_SECRET"),
			Endpoint:     provider.Endpoint(),
			RedirectURL:  origin + "/callback",
			Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
		},
		endSession: metadata.EndSession,
		sessions:   map[string]*session{},
	}
	http.HandleFunc("GET /{$}", a.home)
	http.HandleFunc("GET /login", a.login)
	http.HandleFunc("GET /callback", a.callback)
	http.HandleFunc("GET /profile", a.profile)
	http.HandleFunc("GET /refresh", a.refresh)
	http.HandleFunc("POST /logout", a.logout)
	http.HandleFunc("POST /backchannel-logout", a.backchannelLogout)
	fmt.Println("Listening at " + origin)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func (a *app) home(w http.ResponseWriter, r *http.Request) {
	if s := a.session(r); s != nil && s.tokens != nil {
		answer(w, http.StatusOK, map[string]any{"signedIn": true, "idToken": s.claims})
		return
	}
	answer(w, http.StatusOK, map[string]any{"signedIn": false})
}

func (a *app) login(w http.ResponseWriter, r *http.Request) {
	s := &session{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier()}
	a.keep(w, s)
	address := a.config.AuthCodeURL(s.state, oidc.Nonce(s.nonce), oauth2.S256ChallengeOption(s.verifier))
	http.Redirect(w, r, address, http.StatusFound)
}

func (a *app) callback(w http.ResponseWriter, r *http.Request) {
	begun := a.session(r)
	if begun == nil || r.FormValue("state") != begun.state {
		a.refuse(w, r, errors.New("the state is not the one that was sent"))
		return
	}
	tokens, err := a.config.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(begun.verifier))
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	raw, _ := tokens.Extra("id_token").(string)
	idToken, err := a.verifier.Verify(r.Context(), raw)
	if err == nil && idToken.Nonce != begun.nonce {
		err = errors.New("the nonce is not the one that was sent")
	}
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	s := &session{idToken: raw, tokens: tokens}
	var claims struct {
		SessionID string `json:"sid"`
	}
	if err := errors.Join(idToken.Claims(&s.claims), idToken.Claims(&claims)); err != nil {
		a.refuse(w, r, err)
		return
	}
	s.sid = claims.SessionID
	a.drop(r)
	a.keep(w, s)
	http.Redirect(w, r, "/", http.StatusFound)
}

func (a *app) profile(w http.ResponseWriter, r *http.Request) {
	s := a.session(r)
	if s == nil || s.tokens == nil {
		http.Redirect(w, r, "/login", http.StatusFound)
		return
	}
	// The source refreshes the tokens where they have expired.
	tokens, err := a.config.TokenSource(r.Context(), s.tokens).Token()
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	a.mutex.Lock()
	s.tokens = tokens
	if raw, ok := tokens.Extra("id_token").(string); ok {
		s.idToken = raw
	}
	a.mutex.Unlock()
	info, err := a.provider.UserInfo(r.Context(), oauth2.StaticTokenSource(tokens))
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	var claims map[string]any
	if err := info.Claims(&claims); err != nil {
		a.refuse(w, r, err)
		return
	}
	answer(w, http.StatusOK, claims)
}

// refresh makes the access token expire at once.
func (a *app) refresh(w http.ResponseWriter, r *http.Request) {
	if s := a.session(r); s != nil && s.tokens != nil {
		a.mutex.Lock()
		s.tokens.Expiry = time.Now()
		a.mutex.Unlock()
	}
	a.profile(w, r)
}

func (a *app) logout(w http.ResponseWriter, r *http.Request) {
	query := url.Values{"client_id": {a.config.ClientID}, "post_logout_redirect_uri": {a.origin + "/"}}
	if s := a.session(r); s != nil {
		query.Set("id_token_hint", s.idToken)
	}
	a.drop(r)
	http.Redirect(w, r, a.endSession+"?"+query.Encode(), http.StatusSeeOther)
}

func (a *app) backchannelLogout(w http.ResponseWriter, r *http.Request) {
	token, err := a.verifier.VerifyLogout(r.Context(), r.PostFormValue("logout_token"))
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"reason": err.Error()})
		return
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for id, s := range a.sessions {
		if s.claims == nil {
			continue
		}
		// Without a session id the token ends every session of the person.
		if s.sid == token.SessionID || token.SessionID == "" && s.claims["sub"] == token.Subject {
			delete(a.sessions, id)
		}
	}
}

// refuse ends the session where the issuer refused something, so that the person signs in again.
func (a *app) refuse(w http.ResponseWriter, r *http.Request, reason error) {
	a.drop(r)
	answer(w, http.StatusUnauthorized, map[string]any{"signedIn": false, "reason": reason.Error()})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

const cookie = "app_session"

func (a *app) keep(w http.ResponseWriter, s *session) {
	id := rand.Text()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.sessions[id] = s
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func (a *app) session(r *http.Request) *session {
	found, err := r.Cookie(cookie)
	if err != nil {
		return nil
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.sessions[found.Value]
}

func (a *app) drop(r *http.Request) {
	if found, err := r.Cookie(cookie); err == nil {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		delete(a.sessions, found.Value)
	}
}
