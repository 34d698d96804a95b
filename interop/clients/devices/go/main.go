// A device that signs its user in with golang.org/x/oauth2: RFC 8628.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"golang.org/x/oauth2"
)

func main() {
	ctx, issuer := context.Background(), os.Getenv("ISSUER")
	config := oauth2.Config{
		ClientID: os.Getenv("CLIENT_ID"),
		Scopes:   []string{"openid", "profile", "offline_access"},
		Endpoint: oauth2.Endpoint{
			DeviceAuthURL: issuer + "/oidc/device_authorization",
			TokenURL:      issuer + "/oidc/token",
			AuthStyle:     oauth2.AuthStyleInParams,
		},
	}
	asked, err := config.DeviceAuth(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Enter %s at %s\n", asked.UserCode, asked.VerificationURI)
	tokens, err := config.DeviceAccessToken(ctx, asked)
	if err != nil {
		log.Fatal(err)
	}
	response, err := config.Client(ctx, tokens).Get(issuer + "/oidc/userinfo")
	if err != nil {
		log.Fatal(err)
	}
	var user struct{ Sub string }
	if err := json.NewDecoder(response.Body).Decode(&user); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("You are %s.\n", user.Sub)
	bufio.NewReader(os.Stdin).ReadString('\n')
	tokens.Expiry = time.Now().Add(-time.Hour)
	var refused *oauth2.RetrieveError
	if _, err := config.TokenSource(ctx, tokens).Token(); errors.As(err, &refused) {
		fmt.Printf("Refused: %s\n", refused.ErrorCode)
	} else {
		fmt.Println("Refreshed", err)
	}
}
