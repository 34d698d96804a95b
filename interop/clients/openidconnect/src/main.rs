//! Signs people in with the crate openidconnect, on a small blocking web server.
use std::collections::HashMap;
use std::env;
use std::error::Error;

use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreIdToken, CoreIdTokenClaims, CoreTokenResponse,
    CoreUserInfoClaims,
};
use openidconnect::reqwest::blocking::Client as Http;
use openidconnect::{
    AccessToken, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndSessionUrl,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl, LogoutRequest, Nonce,
    OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, PostLogoutRedirectUrl,
    ProviderMetadataWithLogout, RedirectUrl, RefreshToken, Scope, TokenResponse,
};
use serde_json::{Value, json};
use tiny_http::{Header, Request, Response, Server};
use url::Url;

type Failure = Box<dyn Error>;
type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// A sign-in that has begun in a browser.
struct Begun {
    state: CsrfToken,
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

/// A person who is signed in.
struct Session {
    id_token: CoreIdToken,
    claims: CoreIdTokenClaims,
    access_token: AccessToken,
    refresh_token: RefreshToken,
}

struct App {
    origin: String,
    http: Http,
    client: Client,
    end_session: EndSessionUrl,
    begun: HashMap<String, Begun>,
    sessions: HashMap<String, Session>,
}

enum Answer {
    Json(u16, Value),
    Redirect(String),
}

fn main() -> Result<(), Failure> {
    let port = env::var("PORT")?;
    let origin = format!("http://localhost:{port}");
    // Following redirects would open the client to server-side request forgery.
    let http = openidconnect::reqwest::blocking::ClientBuilder::new()
        .redirect(openidconnect::reqwest::redirect::Policy::none())
        .build()?;
    let metadata =
        ProviderMetadataWithLogout::discover(&IssuerUrl::new(env::var("ISSUER")?)?, &http)?;
    let end_session = metadata
        .additional_metadata()
        .end_session_endpoint
        .clone()
        .ok_or("the issuer has no end_session_endpoint")?;
    let client = CoreClient::from_provider_metadata(
        metadata,
        ClientId::new(env::var("CLIENT_ID")?),
        Some(ClientSecret::new(env::var("CLIENT_SECRET")?)),
    )
    .set_redirect_uri(RedirectUrl::new(format!("{origin}/callback"))?);
    let mut app = App {
        origin: origin.clone(),
        http,
        client,
        end_session,
        begun: HashMap::new(),
        sessions: HashMap::new(),
    };
    let server = Server::http(format!("127.0.0.1:{port}")).map_err(|error| error.to_string())?;
    println!("Listening at {origin}");
    for request in server.incoming_requests() {
        let browser = browser_of(&request).unwrap_or_else(|| CsrfToken::new_random().into_secret());
        let url = Url::parse(&origin)?.join(request.url())?;
        let answer = app.answer(&browser, &url).unwrap_or_else(|refusal| {
            // Refused by the issuer, or a response that is not genuine: ends the session, so that the person signs in again.
            app.sessions.remove(&browser);
            let reason = causes(refusal.as_ref());
            Answer::Json(401, json!({ "signedIn": false, "reason": reason }))
        });
        send(request, &browser, answer)?;
    }
    Ok(())
}

impl App {
    fn answer(&mut self, browser: &str, url: &Url) -> Result<Answer, Failure> {
        match url.path() {
            "/" => Ok(Answer::Json(200, self.home(browser))),
            "/login" => Ok(self.login(browser)),
            "/callback" => self.callback(browser, url),
            "/profile" => self.profile(browser),
            "/refresh" => self.refresh(browser),
            "/logout" => self.logout(browser),
            _ => Ok(Answer::Json(404, json!("not found"))),
        }
    }

    fn home(&self, browser: &str) -> Value {
        match self.sessions.get(browser) {
            None => json!({ "signedIn": false }),
            Some(session) => json!({ "signedIn": true, "idToken": session.claims }),
        }
    }

    fn login(&mut self, browser: &str) -> Answer {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let (address, state, nonce) = self
            .client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                CsrfToken::new_random,
                Nonce::new_random,
            )
            .add_scope(Scope::new("profile".into()))
            .add_scope(Scope::new("email".into()))
            .set_pkce_challenge(challenge)
            .url();
        let begun = Begun {
            state,
            nonce,
            verifier,
        };
        self.begun.insert(browser.into(), begun);
        Answer::Redirect(address.into())
    }

    fn callback(&mut self, browser: &str, url: &Url) -> Result<Answer, Failure> {
        let begun = self.begun.remove(browser).ok_or("no sign-in has begun")?;
        let parameters: HashMap<_, _> = url.query_pairs().into_owned().collect();
        if parameters.get("state") != Some(begun.state.secret()) {
            return Err("the state is not the one that was sent".into());
        }
        let code = parameters.get("code").ok_or("the response has no code")?;
        let tokens = self
            .client
            .exchange_code(AuthorizationCode::new(code.clone()))?
            .set_pkce_verifier(begun.verifier)
            .request(&self.http)?;
        let session = self.verified(&tokens, &begun.nonce)?;
        self.sessions.insert(browser.into(), session);
        Ok(Answer::Redirect("/".into()))
    }

    fn verified(&self, tokens: &CoreTokenResponse, nonce: &Nonce) -> Result<Session, Failure> {
        let id_token = tokens.id_token().ok_or("the response has no ID token")?;
        let claims = id_token.claims(&self.client.id_token_verifier(), nonce)?;
        let refresh_token = tokens.refresh_token().ok_or("no refresh token")?;
        Ok(Session {
            id_token: id_token.clone(),
            claims: claims.clone(),
            access_token: tokens.access_token().clone(),
            refresh_token: refresh_token.clone(),
        })
    }

    fn session(&mut self, browser: &str) -> Result<&mut Session, Failure> {
        Ok(self.sessions.get_mut(browser).ok_or("not signed in")?)
    }

    fn profile(&mut self, browser: &str) -> Result<Answer, Failure> {
        let session = self.session(browser)?;
        let subject = session.claims.subject().clone();
        let access_token = session.access_token.clone();
        let claims: CoreUserInfoClaims = self
            .client
            .user_info(access_token, Some(subject))?
            .request(&self.http)?;
        Ok(Answer::Json(200, json!(claims)))
    }

    fn refresh(&mut self, browser: &str) -> Result<Answer, Failure> {
        let refresh_token = self.session(browser)?.refresh_token.clone();
        let tokens = self
            .client
            .exchange_refresh_token(&refresh_token)?
            .request(&self.http)?;
        let session = self.session(browser)?;
        session.access_token = tokens.access_token().clone();
        // Each refresh also returns a new refresh token, and a new ID token for the sign-out.
        if let Some(refresh_token) = tokens.refresh_token() {
            session.refresh_token = refresh_token.clone();
        }
        if let Some(id_token) = tokens.id_token() {
            session.id_token = id_token.clone();
        }
        self.profile(browser)
    }

    fn logout(&mut self, browser: &str) -> Result<Answer, Failure> {
        let session = self.sessions.remove(browser).ok_or("not signed in")?;
        let home = PostLogoutRedirectUrl::new(format!("{}/", self.origin))?;
        let address = LogoutRequest::from(self.end_session.clone())
            .set_id_token_hint(&session.id_token)
            .set_post_logout_redirect_uri(home)
            .http_get_url();
        Ok(Answer::Redirect(address.into()))
    }
}

/// The session id in the browser's cookie.
fn browser_of(request: &Request) -> Option<String> {
    let header = request.headers().iter().find(|h| h.field.equiv("Cookie"))?;
    let mut pairs = header.value.as_str().split("; ");
    pairs.find_map(|pair| pair.strip_prefix("app_session=").map(String::from))
}

fn send(request: Request, browser: &str, answer: Answer) -> Result<(), Failure> {
    let cookie = format!("Set-Cookie: app_session={browser}; HttpOnly; SameSite=Lax; Path=/");
    let cookie: Header = cookie.parse().map_err(|()| "a header that is none")?;
    match answer {
        Answer::Json(status, body) => {
            let response = Response::from_string(body.to_string()).with_status_code(status);
            request.respond(response.with_header(cookie))?;
        }
        Answer::Redirect(address) => {
            let location = format!("Location: {address}");
            let location: Header = location.parse().map_err(|()| "a header that is none")?;
            let response = Response::empty(302)
                .with_header(cookie)
                .with_header(location);
            request.respond(response)?;
        }
    }
    Ok(())
}

/// An error with what caused it.
fn causes(error: &dyn Error) -> String {
    match error.source() {
        None => error.to_string(),
        Some(source) => format!("{error}: {}", causes(source)),
    }
}
