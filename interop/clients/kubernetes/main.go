// What Kubernetes does with an ID token: the API server's authenticator, with its AuthenticationConfiguration, behind a sign-in.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"golang.org/x/oauth2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

func main() {
	text, err := os.ReadFile(os.Getenv("CONFIGURATION"))
	if err != nil {
		log.Fatal(err)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	object, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), text)
	if err != nil {
		log.Fatal(err)
	}
	configuration := object.(*apiserver.AuthenticationConfiguration).JWT[0]
	tokens, err := oidc.New(context.Background(), oidc.Options{JWTAuthenticator: configuration})
	if err != nil {
		log.Fatal(err)
	}
	// Stands for a ClusterRoleBinding of the group.
	rights := authorizerfactory.NewPrivilegedGroups("tessera:reporters")
	issuer := configuration.Issuer.URL
	signIn := oauth2.Config{
		ClientID:    configuration.Issuer.Audiences[0],
		RedirectURL: "http://localhost:" + os.Getenv("PORT") + "/",
		Scopes:      []string{"openid", "groups"},
		Endpoint: oauth2.Endpoint{
			AuthURL:   issuer + "/oidc/authorize",
			TokenURL:  issuer + "/oidc/token",
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	// One person signs in at a time.
	verifier := oauth2.GenerateVerifier()
	http.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if err := tokens.HealthCheck(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("code") == "" {
			http.Redirect(w, r, signIn.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier)), http.StatusFound)
			return
		}
		issued, err := signIn.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		found, ok, err := tokens.AuthenticateToken(r.Context(), issued.Extra("id_token").(string))
		if err != nil || !ok {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		decision, _, _ := rights.Authorize(r.Context(), authorizer.AttributesRecord{User: found.User})
		if decision != authorizer.DecisionAllow {
			http.Error(w, found.User.GetName()+" may not", http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"user": found.User.GetName(), "groups": found.User.GetGroups()})
	})
	log.Fatal(http.ListenAndServe("localhost:"+os.Getenv("PORT"), nil))
}
