#!/bin/sh
# Makes the secrets of compose.yaml, once. Run it as root: the files belong to the user of the container (10001) and nobody else.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "deploy/compose/secrets exists already: its secrets belong to the database, and stay as they are." >&2
  exit 1
fi
umask 077
mkdir secrets
password=$(openssl rand -hex 24)
printf '%s\n' "$password" > secrets/database-password
printf 'postgres://tessera:%s@database/tessera\n' "$password" > secrets/database-url
openssl rand -base64 32 | tr -d '=' > secrets/secret
chown 10001:10001 secrets/database-url secrets/secret
echo "Made deploy/compose/secrets. Back up secrets/secret: without it, the database cannot be used."
