// The authentication method `jwt` that Vault and OpenBao contain, behind the two HTTP calls that a sign-in makes.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	jwtauth "github.com/hashicorp/vault-plugin-auth-jwt"
	"github.com/hashicorp/vault/sdk/logical"
)

func main() {
	ctx, storage := context.Background(), &logical.InmemStorage{}
	method, err := jwtauth.Factory(ctx, &logical.BackendConfig{
		StorageView: storage,
		System:      logical.TestSystemView(),
		Config:      map[string]string{},
	})
	if err != nil {
		log.Fatal(err)
	}
	handle := func(operation logical.Operation, path string, data map[string]any) *logical.Response {
		request := &logical.Request{Operation: operation, Path: path, Storage: storage, Data: data}
		// As Vault does, which tells a new role from one that changes.
		checked, exists, err := method.HandleExistenceCheck(ctx, request)
		if operation == logical.UpdateOperation && err == nil && checked && !exists {
			request.Operation = logical.CreateOperation
		}
		response, err := method.HandleRequest(ctx, request)
		if err != nil {
			return logical.ErrorResponse(err.Error())
		}
		return response
	}
	// What `vault write auth/oidc/<path> -` was given.
	var calls []struct {
		Path   string
		Fields map[string]any
	}
	if err := json.Unmarshal([]byte(os.Getenv("SETTINGS")), &calls); err != nil {
		log.Fatal(err)
	}
	for _, call := range calls {
		if response := handle(logical.UpdateOperation, call.Path, call.Fields); response.IsError() {
			log.Fatal(call.Path, ": ", response.Error())
		}
	}
	address := "localhost:" + os.Getenv("PORT")
	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		asked := map[string]any{"redirect_uri": "http://" + address + "/oidc/callback"}
		response := handle(logical.UpdateOperation, "oidc/auth_url", asked)
		if response.IsError() {
			http.Error(w, response.Error().Error(), http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, response.Data["auth_url"].(string), http.StatusFound)
	})
	http.HandleFunc("/oidc/callback", func(w http.ResponseWriter, r *http.Request) {
		given := map[string]any{"state": r.FormValue("state"), "code": r.FormValue("code")}
		response := handle(logical.ReadOperation, "oidc/callback", given)
		if response.IsError() {
			http.Error(w, response.Error().Error(), http.StatusForbidden)
			return
		}
		groups := []string{}
		for _, alias := range response.Auth.GroupAliases {
			groups = append(groups, alias.Name)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"policies": response.Auth.Policies, "groups": groups})
	})
	log.Fatal(http.ListenAndServe(address, nil))
}
