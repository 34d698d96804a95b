//! Signs people in with the crate openid, and reads their name and address from the ID token alone.
use std::collections::HashMap;
use std::env;
use std::error::Error;

use openid::{
    Bearer, Config, Discovered, Options, Pkce, StandardClaims, TemporalBearerGuard, Token,
};
use serde_json::{Value, json};
use tiny_http::{Header, Request, Response, Server};
use url::Url;

type Failure = Box<dyn Error>;
type Client = openid::Client<Discovered, StandardClaims>;

/// A sign-in that has begun in a browser.
struct Begun {
    state: String,
    nonce: String,
    pkce: Pkce,
}

/// A person who is signed in.
struct Session {
    bearer: Bearer,
    claims: StandardClaims,
}

struct App {
    origin: String,
    runtime: tokio::runtime::Runtime,
    client: Client,
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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let client = runtime.block_on(discover(&origin))?;
    let mut app = App {
        origin: origin.clone(),
        runtime,
        client,
        begun: HashMap::new(),
        sessions: HashMap::new(),
    };
    let server = Server::http(format!("127.0.0.1:{port}")).map_err(|error| error.to_string())?;
    println!("Listening at {origin}");
    for request in server.incoming_requests() {
        let browser = browser_of(&request).unwrap_or_else(random);
        let url = Url::parse(&origin)?.join(request.url())?;
        let answer = app.answer(&browser, &url).unwrap_or_else(|refusal| {
            // Refused by the issuer, or a response that is not genuine: ends the session, so that the person signs in again.
            app.sessions.remove(&browser);
            Answer::Json(
                401,
                json!({ "signedIn": false, "reason": refusal.to_string() }),
            )
        });
        send(request, &browser, answer)?;
    }
    Ok(())
}

/// With an https issuer, `Client::discover` does all of this.
async fn discover(origin: &str) -> Result<Client, Failure> {
    let http = reqwest::Client::new();
    let address = format!("{}/.well-known/openid-configuration", env::var("ISSUER")?);
    let document = http
        .get(address)
        .send()
        .await?
        .error_for_status()?
        .bytes()
        .await?;
    let config: Config = serde_json::from_slice(&document)?;
    let jwks = openid::jwks_insecure(&http, config.jwks_uri.clone()).await?;
    Ok(Client::new(
        config.into(),
        env::var("CLIENT_ID")?,
        env::var("CLIENT_SECRET")?,
        format!("{origin}/callback"),
        http,
        Some(jwks),
    ))
}

impl App {
    fn answer(&mut self, browser: &str, url: &Url) -> Result<Answer, Failure> {
        match url.path() {
            "/" => Ok(Answer::Json(200, self.home(browser))),
            "/login" => Ok(self.login(browser)),
            "/callback" => self.callback(browser, url),
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
        let (state, nonce) = (random(), random());
        let options = Options {
            scope: Some("openid profile email".into()),
            state: Some(state.clone()),
            nonce: Some(nonce.clone()),
            ..Default::default()
        };
        let (address, pkce) = self.client.auth_url_with_new_pkce(&options);
        let begun = Begun { state, nonce, pkce };
        self.begun.insert(browser.into(), begun);
        Answer::Redirect(address.into())
    }

    fn callback(&mut self, browser: &str, url: &Url) -> Result<Answer, Failure> {
        let begun = self.begun.remove(browser).ok_or("no sign-in has begun")?;
        let parameters: HashMap<_, _> = url.query_pairs().into_owned().collect();
        if parameters.get("state") != Some(&begun.state) {
            return Err("the state is not the one that was sent".into());
        }
        let code = parameters.get("code").ok_or("the response has no code")?;
        let verifier = Some(begun.pkce.code_verifier());
        let request = self.client.request_token_pkce(code, verifier);
        let bearer = self.runtime.block_on(request)?;
        let session = self.verified(bearer, Some(&begun.nonce))?;
        self.sessions.insert(browser.into(), session);
        Ok(Answer::Redirect("/".into()))
    }

    fn verified(&self, bearer: Bearer, nonce: Option<&str>) -> Result<Session, Failure> {
        let mut token: Token = bearer.into();
        let id_token = token
            .id_token
            .as_mut()
            .ok_or("the response has no ID token")?;
        self.client.decode_token(id_token)?;
        self.client.validate_token(id_token, nonce, None)?;
        let claims = id_token.payload()?.clone();
        Ok(Session {
            bearer: token.bearer,
            claims,
        })
    }

    /// Each refresh also returns a new refresh token and a new ID token, with what holds now.
    fn refresh(&mut self, browser: &str) -> Result<Answer, Failure> {
        let session = self.sessions.get(browser).ok_or("not signed in")?;
        let bearer = TemporalBearerGuard::from(session.bearer.clone());
        let request = self.client.refresh_token(bearer, None);
        let bearer = self.runtime.block_on(request)?;
        let session = self.verified(bearer, None)?;
        self.sessions.insert(browser.into(), session);
        Ok(Answer::Json(200, self.home(browser)))
    }

    fn logout(&mut self, browser: &str) -> Result<Answer, Failure> {
        let session = self.sessions.remove(browser).ok_or("not signed in")?;
        let end_session = self.client.config().end_session_endpoint.clone();
        let mut address = end_session.ok_or("the issuer has no end_session_endpoint")?;
        address
            .query_pairs_mut()
            .append_pair(
                "id_token_hint",
                session.bearer.id_token.as_deref().unwrap_or_default(),
            )
            .append_pair("post_logout_redirect_uri", &format!("{}/", self.origin));
        Ok(Answer::Redirect(address.into()))
    }
}

/// 256 random bits: those of a new PKCE verifier.
fn random() -> String {
    openid::generate_s256_pkce().code_verifier().to_owned()
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
