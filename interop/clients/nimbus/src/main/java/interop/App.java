package interop;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jwt.JWT;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.GeneralException;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.oauth2.sdk.token.RefreshToken;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.AuthenticationResponseParser;
import com.nimbusds.openid.connect.sdk.LogoutRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.claims.IDTokenClaimsSet;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/** Signs people in with the Nimbus OAuth 2.0 SDK, and reads their name and address from the ID token alone. */
public class App {
    private record Begun(State state, Nonce nonce, CodeVerifier verifier) {
    }

    private record Session(JWT idToken, IDTokenClaimsSet claims, RefreshToken refreshToken) {
    }

    private final String origin = "http://localhost:" + System.getenv("PORT");
    private final ClientID clientId = new ClientID(System.getenv("CLIENT_ID"));
    private final Secret clientSecret = new Secret(System.getenv("CLIENT_SECRET"));
    private final OIDCProviderMetadata provider;
    private final IDTokenValidator validator;
    private final Map<String, Begun> begun = new ConcurrentHashMap<>();
    private final Map<String, Session> sessions = new ConcurrentHashMap<>();

    App() throws Exception {
        provider = OIDCProviderMetadata.resolve(new Issuer(System.getenv("ISSUER")));
        validator = new IDTokenValidator(
            provider.getIssuer(), clientId, JWSAlgorithm.RS256, provider.getJWKSetURI().toURL());
    }

    public static void main(String[] args) throws Exception {
        App app = new App();
        int port = Integer.parseInt(System.getenv("PORT"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", app::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        String browser = cookie(exchange);
        if (browser == null) {
            browser = new State(32).getValue();
            exchange.getResponseHeaders().add("Set-Cookie", "app_session=" + browser + "; HttpOnly; SameSite=Lax; Path=/");
        }
        try {
            switch (exchange.getRequestURI().getPath()) {
                case "/" -> json(exchange, 200, home(browser));
                case "/login" -> redirect(exchange, login(browser));
                case "/callback" -> redirect(exchange, callback(browser, exchange.getRequestURI()));
                case "/refresh" -> json(exchange, 200, refresh(browser));
                case "/logout" -> redirect(exchange, logout(browser));
                default -> json(exchange, 404, Map.of());
            }
        } catch (Exception refused) {
            // Refused by the issuer, or a response that is not genuine: ends the session, so that the person signs in again.
            sessions.remove(browser);
            json(exchange, 401, Map.of("signedIn", false, "reason", refused.toString()));
        }
    }

    private Map<String, Object> home(String browser) {
        Session session = sessions.get(browser);
        if (session == null) {
            return Map.of("signedIn", false);
        }
        return Map.of("signedIn", true, "idToken", session.claims.toJSONObject());
    }

    private URI login(String browser) {
        Begun one = new Begun(new State(), new Nonce(), new CodeVerifier());
        begun.put(browser, one);
        Scope scope = Scope.parse("openid profile email");
        return new AuthenticationRequest.Builder(ResponseType.CODE, scope, clientId, URI.create(origin + "/callback"))
            .endpointURI(provider.getAuthorizationEndpointURI())
            .state(one.state)
            .nonce(one.nonce)
            .codeChallenge(one.verifier, CodeChallengeMethod.S256)
            .build()
            .toURI();
    }

    private URI callback(String browser, URI request) throws Exception {
        var response = AuthenticationResponseParser.parse(URI.create(origin + request));
        Begun one = begun.remove(browser);
        if (one == null || !one.state.equals(response.getState()) || !response.indicatesSuccess()) {
            throw new GeneralException("the response is not to a request of this browser");
        }
        AuthorizationCode code = response.toSuccessResponse().getAuthorizationCode();
        keep(browser, new AuthorizationCodeGrant(code, URI.create(origin + "/callback"), one.verifier), one.nonce);
        return URI.create("/");
    }

    /** Each refresh also returns a new refresh token and a new ID token, with what holds now. */
    private Map<String, Object> refresh(String browser) throws Exception {
        Session session = sessions.get(browser);
        if (session == null) {
            throw new GeneralException("not signed in");
        }
        keep(browser, new RefreshTokenGrant(session.refreshToken), null);
        return home(browser);
    }

    private void keep(String browser, AuthorizationGrant grant, Nonce nonce) throws Exception {
        ClientSecretBasic client = new ClientSecretBasic(clientId, clientSecret);
        TokenRequest request = new TokenRequest.Builder(provider.getTokenEndpointURI(), client, grant).build();
        var response = OIDCTokenResponseParser.parse(request.toHTTPRequest().send());
        if (!response.indicatesSuccess()) {
            throw new GeneralException(response.toErrorResponse().getErrorObject());
        }
        var tokens = ((OIDCTokenResponse) response.toSuccessResponse()).getOIDCTokens();
        IDTokenClaimsSet claims = validator.validate(tokens.getIDToken(), nonce);
        sessions.put(browser, new Session(tokens.getIDToken(), claims, tokens.getRefreshToken()));
    }

    private URI logout(String browser) throws GeneralException {
        Session session = sessions.remove(browser);
        if (session == null) {
            throw new GeneralException("not signed in");
        }
        URI endSession = provider.getEndSessionEndpointURI();
        return new LogoutRequest(endSession, session.idToken, URI.create(origin + "/"), null).toURI();
    }

    private static String cookie(HttpExchange exchange) {
        String header = exchange.getRequestHeaders().getFirst("Cookie");
        for (String pair : header == null ? new String[0] : header.split("; ")) {
            if (pair.startsWith("app_session=")) {
                return pair.substring("app_session=".length());
            }
        }
        return null;
    }

    private static void redirect(HttpExchange exchange, URI address) throws IOException {
        exchange.getResponseHeaders().add("Location", address.toString());
        exchange.sendResponseHeaders(302, -1);
        exchange.close();
    }

    private static void json(HttpExchange exchange, int status, Map<String, Object> body) throws IOException {
        byte[] bytes = JSONObjectUtils.toJSONString(body).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
