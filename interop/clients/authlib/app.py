"""Signs people in with Authlib's Flask client."""

import os
import secrets

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session
from requests import HTTPError
from werkzeug.serving import make_server

ISSUER = os.environ["ISSUER"]
PORT = int(os.environ["PORT"])
APP = f"http://localhost:{PORT}"

app = Flask(__name__)
app.secret_key = secrets.token_bytes(32)
# The cookie holds the session id alone: three tokens are more than a cookie takes.
signed_in: dict[str, dict] = {}


def update_token(token, refresh_token=None, access_token=None):
    """Called after a refresh. Each refresh also returns a new refresh token."""
    current()["token"] = {**current()["token"], **token}


oauth = OAuth(app, update_token=update_token)
tessera = oauth.register(
    "tessera",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


def current() -> dict | None:
    return signed_in.get(session.get("id"))


@app.get("/")
def home():
    if (user := current()) is None:
        return {"signedIn": False}
    return {"signedIn": True, "idToken": user["id_token_claims"]}


@app.get("/login")
def login():
    return tessera.authorize_redirect(f"{APP}/callback")


@app.get("/callback")
def callback():
    token = tessera.authorize_access_token()
    session["id"] = secrets.token_urlsafe()
    # Authlib names the claims of the ID token `userinfo`.
    signed_in[session["id"]] = {"id_token_claims": token.pop("userinfo"), "token": token}
    return redirect("/")


@app.get("/profile")
def profile():
    if (user := current()) is None:
        return redirect("/login")
    return tessera.userinfo(token=user["token"])


@app.get("/refresh")
def refresh():
    """Makes the access token expire at once, so that Authlib refreshes it before its next use."""
    if (user := current()) is not None:
        user["token"]["expires_at"] = 1
    return profile()


@app.post("/logout")
def logout():
    user = signed_in.pop(session.pop("id", None), {"token": {}})
    return tessera.logout_redirect(
        post_logout_redirect_uri=f"{APP}/", id_token_hint=user["token"].get("id_token")
    )


@app.errorhandler(OAuthError)
@app.errorhandler(HTTPError)
def refused(reason):
    """The issuer refused something: ends the session, so that the person signs in again."""
    signed_in.pop(session.pop("id", None), None)
    return {"signedIn": False, "reason": str(reason)}, 401


server = make_server("127.0.0.1", PORT, app)
print(f"Listening at {APP}", flush=True)
server.serve_forever()
