package interop;

import java.time.Duration;
import java.util.Map;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.client.ClientAuthorizationException;
import org.springframework.security.oauth2.client.OAuth2AuthorizeRequest;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClient;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientProviderBuilder;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizedClientRepository;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

/** Signs people in with Spring Security's OAuth 2.0 Client. */
@SpringBootApplication
@RestController
public class App {
    private static final String REGISTRATION = "tessera";

    private final DefaultOAuth2AuthorizedClientManager manager;

    App(ClientRegistrationRepository registrations, OAuth2AuthorizedClientRepository clients) {
        manager = new DefaultOAuth2AuthorizedClientManager(registrations, clients);
        // Treats an access token as expired 31 minutes early, so that each use refreshes it.
        manager.setAuthorizedClientProvider(OAuth2AuthorizedClientProviderBuilder.builder()
            .refreshToken(refresh -> refresh.clockSkew(Duration.ofMinutes(31)))
            .build());
    }

    public static void main(String[] args) {
        SpringApplication.run(App.class, args);
    }

    @Bean
    SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository registrations) throws Exception {
        OidcClientInitiatedLogoutSuccessHandler atTheIssuer = new OidcClientInitiatedLogoutSuccessHandler(registrations);
        atTheIssuer.setPostLogoutRedirectUri("{baseUrl}/");
        http.authorizeHttpRequests(requests -> requests.requestMatchers("/").permitAll().anyRequest().authenticated())
            .oauth2Login(Customizer.withDefaults())
            .oidcLogout(logout -> logout.backChannel(Customizer.withDefaults()))
            .logout(logout -> logout.logoutSuccessHandler(atTheIssuer))
            // The driver reads no page of this app, so it has no CSRF token to send.
            .csrf(csrf -> csrf.ignoringRequestMatchers("/logout"));
        return http.build();
    }

    @GetMapping("/")
    Map<String, Object> home(@AuthenticationPrincipal OidcUser user) {
        return user == null
            ? Map.of("signedIn", false)
            : Map.of("signedIn", true, "idToken", user.getIdToken().getClaims());
    }

    /** Spring reads UserInfo at sign-in and merges its claims with those of the ID token. */
    @GetMapping("/profile")
    Map<String, Object> profile(@AuthenticationPrincipal OidcUser user) {
        return user.getUserInfo().getClaims();
    }

    /** Refreshes the access token, and calls an API with the new one: here UserInfo. */
    @GetMapping("/refresh")
    Map<?, ?> refresh(Authentication authentication, HttpServletRequest request) {
        OAuth2AuthorizedClient client = manager.authorize(OAuth2AuthorizeRequest.withClientRegistrationId(REGISTRATION)
            .principal(authentication)
            .attribute(HttpServletRequest.class.getName(), request)
            .build());
        return RestClient.create().get()
            .uri(client.getClientRegistration().getProviderDetails().getUserInfoEndpoint().getUri())
            .headers(headers -> headers.setBearerAuth(client.getAccessToken().getTokenValue()))
            .retrieve()
            .body(Map.class);
    }

    /** The issuer refused the refresh token or the access token: ends the session, so that the person signs in again. */
    @ExceptionHandler({ClientAuthorizationException.class, HttpClientErrorException.Unauthorized.class})
    ResponseEntity<Map<String, Object>> refused(Exception refusal, HttpServletRequest request) {
        request.getSession().invalidate();
        return ResponseEntity.status(401).body(Map.of("signedIn", false, "reason", String.valueOf(refusal.getMessage())));
    }
}
