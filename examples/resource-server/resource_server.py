"""An API in Python that checks access tokens by itself, with the standard library alone.

Each request is introspected (RFC 7662), so a token that was revoked is refused from the next request on. Without a usable answer of the
authorization server nobody gets in. Operations ask for scopes (RFC 6750) and for a recent or stronger sign-in (RFC 9470). Clients find the
authorization server by the metadata of the API (RFC 9728).
"""

import base64
import json
import os
import re
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlencode, urlsplit

ISSUER = os.environ["ISSUER"]
RESOURCE = os.environ["RESOURCE"]
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
SCOPES = ["notes.read", "notes.write"]
TIMEOUT = 5
LONGEST_ANSWER = 64 * 1024

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_parts = urlsplit(RESOURCE)
_path = "" if _parts.path == "/" else _parts.path
METADATA_URL = f"{_parts.scheme}://{_parts.netloc}{WELL_KNOWN}{_path}"
METADATA = {
    "resource": RESOURCE,
    "authorization_servers": [ISSUER],
    "scopes_supported": SCOPES,
    "bearer_methods_supported": ["header"],
}

# What each operation requires. A note is deleted only by somebody who signed in within the last five minutes.
OPERATIONS = {
    "GET": {"scope": "notes.read"},
    "POST": {"scope": "notes.write"},
    "DELETE": {"scope": "notes.write", "max_age": 300},
}


class NoAnswer(Exception):
    """The authorization server gave no usable answer, so nothing is known of the token."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The credentials of the API go to the introspection endpoint and nowhere else."""

    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(NoRedirect)
_endpoint = None


def ask(request):
    try:
        with _opener.open(request, timeout=TIMEOUT) as response:
            if response.status != 200:
                raise NoAnswer(f"the answer was {response.status}")
            return json.loads(response.read(LONGEST_ANSWER))
    except (OSError, ValueError) as error:
        raise NoAnswer(str(error)) from error


def introspection_endpoint():
    global _endpoint
    if _endpoint is None:
        found = ask(urllib.request.Request(f"{ISSUER}/.well-known/openid-configuration"))
        # RFC 8414 §3.3.
        if not isinstance(found, dict) or found.get("issuer") != ISSUER:
            raise NoAnswer("the issuer of the metadata is another one")
        if not isinstance(found.get("introspection_endpoint"), str):
            raise NoAnswer("the metadata has no introspection_endpoint")
        _endpoint = found["introspection_endpoint"]
    return _endpoint


def introspect(token):
    # RFC 6749 §2.3.1: both parts are form-encoded before they are put together.
    credentials = f"{quote(CLIENT_ID, safe='')}:{quote(CLIENT_SECRET, safe='')}".encode()
    request = urllib.request.Request(
        introspection_endpoint(),
        data=urlencode({"token": token}).encode(),
        headers={"Authorization": "Basic " + base64.b64encode(credentials).decode()},
    )
    answer = ask(request)
    if not isinstance(answer, dict) or not isinstance(answer.get("active"), bool):
        raise NoAnswer("the answer is no introspection response")
    return answer


class Refused(Exception):
    def __init__(self, status, error=None, **parts):
        super().__init__(error)
        self.status = status
        self.error = error
        self.parts = parts


def check(authorization, scope, max_age=None):
    """The claims of the caller. Raises Refused for a token that does not suffice."""
    match = re.fullmatch(r"Bearer +([\w.~+/-]+=*) *", authorization or "", re.IGNORECASE | re.ASCII)
    if match is None:
        raise Refused(401, scope=scope)
    token = introspect(match[1])
    audience = token.get("aud")
    audience = [audience] if isinstance(audience, str) else audience or []
    # A refresh token has no token_type, and a token that an app got for itself has no user.
    is_for_this = (
        token["active"]
        and token.get("token_type") == "Bearer"
        and token.get("iss") == ISSUER
        and RESOURCE in audience
        and isinstance(token.get("sub"), str)
    )
    if not is_for_this:
        raise Refused(401, "invalid_token", scope=scope)
    if scope not in token.get("scope", "").split(" "):
        raise Refused(403, "insufficient_scope", scope=scope)
    if max_age is not None and time.time() - token.get("auth_time", 0) > max_age:
        raise Refused(401, "insufficient_user_authentication", max_age=str(max_age))
    return token


class Api(BaseHTTPRequestHandler):
    def answer(self, status, body, headers=()):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def serve(self):
        path = urlsplit(self.path).path
        if self.command == "GET" and path in (WELL_KNOWN, WELL_KNOWN + _path):
            headers = [("Cache-Control", "public, max-age=3600"), ("Access-Control-Allow-Origin", "*")]
            return self.answer(200, METADATA, headers)
        if path != "/notes":
            return self.answer(404, {"error": "not_found"})
        try:
            caller = check(self.headers.get("Authorization"), **OPERATIONS[self.command])
        except Refused as refused:
            parts = {**({"error": refused.error} if refused.error else {}), **refused.parts}
            parts["resource_metadata"] = METADATA_URL
            challenge = ", ".join(f'{name}="{value}"' for name, value in parts.items())
            headers = [("WWW-Authenticate", f"Bearer {challenge}"), ("Cache-Control", "no-store")]
            return self.answer(refused.status, {"error": refused.error or "missing_token"}, headers)
        except NoAnswer as cause:
            self.log_error("introspection failed: %s", cause)
            return self.answer(503, {"error": "temporarily_unavailable"}, [("Retry-After", "5")])
        return self.answer(200, {"sub": caller["sub"]}, [("Cache-Control", "no-store")])

    do_GET = do_POST = do_DELETE = serve


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Api).serve_forever()
