delete from "account" where "id" = $1 returning "id";
delete from "address_change" where "account_id" = $1 and "created_at" >= $2 and "by_operator" = $3;
delete from "address_change" where "hash" = $1;
delete from "address_change" where "hash" in (select "hash" from "address_change" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "app_assignment" where "id" = $1 and "ended_at" is not null;
delete from "audit_event" where "id" <= $1 returning "id";
delete from "authorization_code" where "family_id" in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25);
delete from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1) and "sid" <> $2 and "redeemed_at" is null;
delete from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1) and "sid" = $2 and "ends_with_session" = $3 and "redeemed_at" is null;
delete from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1) and "sid" = $2 and "redeemed_at" is null;
delete from "authorization_code" where "hash" = $1 and "redeemed_at" is null;
delete from "authorization_code" where "hash" in (select "hash" from "authorization_code" where "expires_at" <= $1 and "redeemed_at" is null order by "expires_at" limit $2) returning "hash";
delete from "authorization_code" where "hash" in (select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1 and "client_id" = $2) and "redeemed_at" is null and ("acr" is null or "acr" not in ($3, $4))) and "redeemed_at" is null returning "hash";
delete from "authorization_code" where "hash" in (select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1) and "redeemed_at" is null and ("acr" is null or "acr" not in ($2, $3))) and "redeemed_at" is null returning "hash";
delete from "authorization_code" where "redeemed_at" is null;
delete from "browser_session" where "account_id" = $1 and "sid" <> $2 returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "account_id" = $1 and "sid" = $2 returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "account_id" = $1 and ("acr" is null or "acr" not in ($2, $3)) returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "hash" = $1 returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "hash" in (select "hash" from "browser_session" where "account_id" = $1 order by case when "generation" = $2 then 0 else 1 end, "last_seen_at" desc, "auth_time" desc limit $3 offset $4) returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "hash" in (select "hash" from "browser_session" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "browser_session" where "hash" in (select "hash" from "browser_session" where "last_seen_at" <= $1 order by "last_seen_at" limit $2) and "last_seen_at" <= $3 returning "hash";
delete from "challenge" where "account_id" = $1;
delete from "challenge" where "account_id" = $1 and "purpose" = $2;
delete from "challenge" where "account_id" = $1 and "purpose" = $2 and "generation" <> $3;
delete from "challenge" where "account_id" is null;
delete from "challenge" where "admin_key_id" = $1 and "used_at" is null returning "expires_at";
delete from "challenge" where "browser_hash" = $1 and "purpose" = $2 and "account_id" is null;
delete from "challenge" where "hash" = $1;
delete from "challenge" where "hash" in (select "hash" from "challenge" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "client" where "id" = $1 returning "id";
delete from "client" where "id" in (select "client_id" from "playground_visit" where "expires_at" <= $1 order by "expires_at" limit $2) returning "id";
delete from "client_api_scope" where "api_id" = $1 and "name" = $2 returning "id";
delete from "client_api_scope" where "id" = $1;
delete from "client_assertion" where "hash" in (select "hash" from "client_assertion" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "client_origin" where "client_id" = $1;
delete from "client_secret" where "id" = $1 and "client_id" = $2;
delete from "client_token" where "jti" in (select "jti" from "client_token" where "ends_at" <= $1 order by "ends_at" limit $2) returning "jti";
delete from "consent_grant" where "id" in (select "id" from "consent_grant" where "revoked_at" <= $1 and "revoked_at" > 0 order by "revoked_at" limit $2) returning "id";
delete from "data_export" where "account_id" = $1;
delete from "data_export" where "account_id" = $1 and "id" = $2;
delete from "data_export" where "account_id" in (select "account_id" from "data_export" where "created_at" <= $1 limit $2) returning "id";
delete from "data_export" where "account_id" in (select "e"."account_id" from "data_export" as "e" inner join "account" as "a" on "a"."id" = "e"."account_id" where "e"."created_at" > $1 and "e"."generation" <> "a"."generation");
delete from "group_member" where "id" = $1;
delete from "group_member" where "id" in (select "id" from "group_member" where "group_id" = $1 limit $2) returning "id";
delete from "id_token_key";
delete from "id_token_key" where "kid" = $1;
delete from "interaction";
delete from "interaction" where "hash" in (select "hash" from "interaction" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "invitation" where "admin_key_id" = $1 and "used_at" is null returning "expires_at";
delete from "invitation" where "hash" in (select "hash" from "invitation" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "invitation" where "id" = $1 and "used_at" is null returning "id";
delete from "invitation" where "inviter_id" = $1 and "used_at" is null returning "id";
delete from "invitation" where "used_at" is null;
delete from "known_browser" where "account_id" = $1;
delete from "known_browser" where "account_id" = $1 and "browser_hash" in (select "browser_hash" from "known_browser" where "account_id" = $2 order by "last_seen_at" desc limit $3 offset $4);
delete from "known_browser" where "account_id" > $1 and "account_id" <= $2;
delete from "known_browser" where ("account_id", "browser_hash") in (select "account_id", "browser_hash" from "known_browser" where "last_seen_at" <= $1 order by "last_seen_at" limit $2) returning "browser_hash";
delete from "logout_notice" where "id" = $1 and "attempts" = $2 returning "id";
delete from "mail" where "account_id" = $1 and "status" = $2 and "recipient" = $3 and "kind" = $4 and "attempts" = $5 returning "message_id", "sealed", "due_at", "challenge_hash";
delete from "mail" where "account_id" = $1 and "status" = $2 and "recipient" = $3 and "kind" = $4 and "due_at" > $5 returning "message_id", "sealed", "due_at", "challenge_hash";
delete from "mail" where "id" in (select "id" from "mail" where "status" = $1 and "due_at" <= $2 order by "due_at" limit $3) returning "id";
delete from "mail" where "id" in (select "id" from "mail" where "status" = $1 order by "id" desc limit $2 offset $3);
delete from "mail_request";
delete from "mail_request" where "id" = $1 returning "id";
delete from "mail_request" where "id" in (select "id" from "mail_request" where "created_at" <= $1 order by "created_at" limit $2) returning "id";
delete from "membership" where "account_id" = $1 and "organization_id" = $2 returning "account_id";
delete from "membership" where "id" in (select "id" from "membership" where "organization_id" = $1 limit $2) returning "id";
delete from "organization" where "id" = $1 and not exists (select "id" from "membership" where "organization_id" = $2);
delete from "passkey" where "account_id" = $1;
delete from "passkey" where "account_id" = $1 and "created_at" >= $2;
delete from "passkey" where "id" = $1 and "account_id" = $2 returning "id";
delete from "pending_sign_in" where "account_id" = $1;
delete from "pending_sign_in" where "account_id" = $1 and "browser_hash" = $2;
delete from "pending_sign_in" where "hash" = $1 returning "hash";
delete from "pending_sign_in" where "hash" in (select "hash" from "pending_sign_in" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "picture" where "account_id" = $1;
delete from "picture" where "client_id" = $1;
delete from "rate_count" where "bucket" in (select "bucket" from "rate_count" where "window_ends_at" <= $1 order by "window_ends_at" limit $2) and "window_ends_at" <= $3 returning "bucket";
delete from "recovery_code" where "account_id" = $1;
delete from "recovery_code" where "account_id" = $1 and "created_at" >= $2;
delete from "recovery_setting" where "account_id" = $1 and ("code_required_at" >= $2 or not exists (select "hash" from "recovery_code" where "account_id" = $3));
delete from "recovery_setting" where "account_id" = $1 returning "account_id";
delete from "signing_key";
delete from "signing_key" where "kid" = $1 returning "kid", "retired_at";
delete from "signing_key" where "retired_at" <= $1;
delete from "token_family" where "id" in ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25);
delete from "totp_secret" where "account_id" = $1 and ("confirmed_at" is null or "confirmed_at" >= $2);
delete from "totp_secret" where "account_id" = $1 returning "account_id";
delete from "trace_step" where "account_id" = $1;
delete from "trace_step" where "flow" in (select "flow" from "trace_step" where "account_id" = $1 and "flow" is not null union select "leads_to" from "trace_step" where "account_id" = $2 and "leads_to" is not null);
delete from "trace_step" where "id" <= $1 returning "id";
delete from "trace_step" where "ring" = $1 and "id" <= (select "id" from "trace_step" where "ring" = $2 order by "id" desc limit $3 offset $4);
delete from "trusted_browser" where "account_id" = $1;
delete from "trusted_browser" where "account_id" = $1 and "hash" = $2 returning "hash";
delete from "trusted_browser" where "hash" in (select "hash" from "trusted_browser" where "account_id" = $1 order by "created_at" desc limit $2 offset $3);
delete from "trusted_browser" where "hash" in (select "hash" from "trusted_browser" where "expires_at" <= $1 order by "expires_at" limit $2) returning "hash";
delete from "user_group" where "id" = $1 and "deleted_at" is not null and not exists (select "id" from "app_assignment" where "group_id" = $2) returning "id";
delete from "username_reservation" where "account_id" = $1;
delete from "username_reservation" where "username" = $1 returning "username";
delete from "username_reservation" where "username" in (select "username" from "username_reservation" where "held_until" <= $1 order by "held_until" limit $2) returning "username";
insert into "account" ("id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28) on conflict do nothing returning "id";
insert into "address_change" ("hash", "account_id", "email", "created_at", "factors_since", "expires_at", "by_operator", "email_key") values ($1, $2, $3, $4, $5, $6, $7, $8);
insert into "admin_key" ("id", "name", "hash", "created_at", "revoked_at") values ($1, $2, $3, $4, $5);
insert into "app_assignment" ("id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at") values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning "id";
insert into "audit_event" ("at", "type", "outcome", "actor_type", "actor_id", "account_id", "client_id", "address", "request_id", "details") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
insert into "authorization_code" ("hash", "face", "grant_id", "account_id", "client_id", "account_generation", "client_generation", "redirect_uri", "scopes", "narrowed", "nonce", "code_challenge", "claims", "resources", "sid", "auth_time", "amr", "acr", "expires_at", "ends_with_session", "assignment_id", "member_id", "redeemed_at", "family_id") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24);
insert into "browser_session" ("hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);
insert into "challenge" ("hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);
insert into "client" ("id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41);
insert into "client_api_scope" ("id", "client_id", "api_id", "name", "created_at") values ($1, $2, $3, $4, $5);
insert into "client_assertion" ("hash", "expires_at") values ($1, $2) on conflict do nothing returning "hash";
insert into "client_origin" ("origin", "client_id") values ($1, $2) on conflict do nothing;
insert into "client_secret" ("id", "client_id", "hash", "created_at", "last_used_at", "expires_at") values ($1, $2, $3, $4, $5, $6);
insert into "client_token" ("jti", "client_id", "client_generation", "created_at", "ends_at", "dead_at", "scopes") values ($1, $2, $3, $4, $5, $6, $7);
insert into "consent_grant" ("id", "account_id", "client_id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "created_at", "updated_at", "revoked_at", "decided_by") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing returning "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by";
insert into "consent_revocation" ("account_id", "client_id", "name", "revoked_at") values ($1, $2, $3, $4) on conflict ("account_id", "client_id") do update set "name" = "excluded"."name", "revoked_at" = "excluded"."revoked_at";
insert into "data_export" ("account_id", "id", "generation", "state", "pieces", "events", "last_event", "bytes", "attempts", "due_at", "created_at") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);
insert into "data_export_piece" ("account_id", "number", "sealed") values ($1, $2, $3);
insert into "data_key" ("id", "sealed", "created_at") values ($1, $2, $3) on conflict do nothing returning "id";
insert into "group_member" ("group_id", "account_id", "organization_id", "added_at") values ($1, $2, $3, $4) on conflict ("group_id", "account_id") do nothing returning "id";
insert into "id_token_key" ("kid", "alg", "sealed", "public_jwk", "created_at", "signs_from", "given_up_at") values ($1, $2, $3, $4, $5, $6, $7);
insert into "interaction" ("hash", "browser_hash", "client_id", "request", "state", "created_at", "expires_at", "signed_in_session", "chosen_session", "outcome") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
insert into "invitation" ("id", "hash", "email", "mailed", "organization_id", "role", "inviter_id", "admin_key_id", "created_at", "expires_at", "used_at", "used_by") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);
insert into "key_set" ("id", "version") values ($1, $2) on conflict do nothing returning "version";
insert into "known_browser" ("account_id", "browser_hash", "last_seen_at") values ($1, $2, $3) on conflict ("account_id", "browser_hash") do update set "last_seen_at" = "excluded"."last_seen_at";
insert into "known_server" ("id", "cluster", "timeline", "database", "relation", "release") values ($1, (SELECT system_identifier FROM pg_control_system())::text, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int, (SELECT oid FROM pg_database WHERE datname = current_database())::text, 'known_server'::regclass::oid::text, current_setting('server_version_num')::int / 10000) on conflict ("id") do update set "cluster" = (SELECT system_identifier FROM pg_control_system())::text, "timeline" = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int, "database" = (SELECT oid FROM pg_database WHERE datname = current_database())::text, "relation" = 'known_server'::regclass::oid::text, "release" = current_setting('server_version_num')::int / 10000;
insert into "logout_notice" ("client_id", "account_id", "sid", "created_at", "attempts", "due_at") values ($1, $2, $3, $4, $5, $6);
insert into "mail" ("message_id", "kind", "priority", "account_id", "recipient", "recipient_domain", "challenge_hash", "sealed", "status", "attempts", "unconfirmed", "due_at", "created_at", "expires_at", "settled_at", "problem") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);
insert into "mail_request" ("id", "purpose", "sealed", "created_at", "attempts", "due_at") values ($1, $2, $3, $4, $5, $6);
insert into "membership" ("account_id", "organization_id", "role") values ($1, $2, $3) on conflict ("account_id") do update set "role" = "excluded"."role" where "membership"."organization_id" = "excluded"."organization_id" returning "account_id";
insert into "node_lease" ("node", "holder", "expires_at") values ($1, $2, $3) on conflict do nothing returning "node";
insert into "organization" ("id", "name", "domain", "require_second_factor", "created_at") values ($1, $2, $3, $4, $5) on conflict do nothing returning "id";
insert into "passkey" ("id", "account_id", "public_key", "counter", "transports", "name", "aaguid", "backup_eligible", "backed_up", "created_at", "last_used_at") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing returning "id";
insert into "pending_sign_in" ("hash", "account_id", "generation", "browser_hash", "methods", "factors_since", "interaction_hash", "created_at", "expires_at") values ($1, $2, $3, $4, $5, $6, $7, $8, $9);
insert into "picture" ("name", "account_id", "client_id", "bytes") values ($1, $2, $3, $4);
insert into "playground_visit" ("browser_hash", "client_id", "turn", "sealed", "expires_at") values ($1, $2, $3, $4, $5);
insert into "rate_count" ("bucket", "count", "window_ends_at") values ($1, $2, $3) on conflict ("bucket") do update set "count" = case when rate_count.window_ends_at <= excluded.window_ends_at - $4 then "excluded"."count" else "rate_count"."count" + "excluded"."count" end, "window_ends_at" = case when rate_count.window_ends_at <= excluded.window_ends_at - $5 then "excluded"."window_ends_at" when rate_count.window_ends_at > excluded.window_ends_at + $6 then excluded.window_ends_at + $7 else "rate_count"."window_ends_at" end where ("rate_count"."count" <= $8 or rate_count.window_ends_at <= excluded.window_ends_at - $9 or rate_count.window_ends_at > excluded.window_ends_at + $10) returning "bucket", "count", "window_ends_at";
insert into "recovery_code" ("account_id", "hash", "created_at", "used_at") values ($1, $2, $3, $4);
insert into "recovery_setting" ("account_id", "code_required_at") values ($1, $2) on conflict ("account_id") do nothing returning "account_id";
insert into "signing_key" ("kid", "sealed", "created_at", "retired_at") values ($1, $2, $3, $4);
insert into "token_family" ("id", "face", "grant_id", "account_id", "client_id", "account_generation", "client_generation", "scopes", "resources", "sid", "auth_time", "amr", "acr", "claims", "leaf_jti", "leaf_kid", "leaf_issued_at", "leaf_expires_at", "assignment_id", "member_id", "created_at", "ends_at", "ends_with_session", "review_at", "sequence", "predecessor_jti", "rotated_at", "dead_at", "dead_reason") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29);
insert into "totp_secret" ("account_id", "sealed", "generation", "created_at", "confirmed_at", "last_step") values ($1, $2, $3, $4, $5, $6) on conflict ("account_id") do update set "sealed" = "excluded"."sealed", "generation" = "excluded"."generation", "created_at" = "excluded"."created_at", "confirmed_at" = "excluded"."confirmed_at", "last_step" = "excluded"."last_step";
insert into "trace_step" ("at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts", "ring") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
insert into "trusted_browser" ("hash", "account_id", "generation", "browser", "system", "network", "created_at", "expires_at") values ($1, $2, $3, $4, $5, $6, $7, $8);
insert into "user_group" ("id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at") values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing returning "id";
insert into "username_reservation" ("username", "account_id", "held_until") values ($1, $2, $3) on conflict ("username") do update set "account_id" = "excluded"."account_id", "held_until" = "excluded"."held_until";
select "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "c"."name", "g"."revoked_at", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "f"."grant_id" = $1;
select "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "c"."name", "g"."revoked_at", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "g"."account_id" = $1 and "f"."sid" <> $2;
select "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "c"."name", "g"."revoked_at", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "g"."account_id" = $1 and "f"."sid" = $2;
select "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "f"."face", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", "f"."withdrawn_scopes", "c"."userinfo_signed_response_alg", "k"."version" as "key_version", "a"."created_at", "a"."updated_at", (select "g"."revoked_at" from "consent_grant" as "g" where -"g"."id" = -"f"."grant_id" and "g"."revoked_at" is not null) as "revoked_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "key_set" as "k" on "k"."id" = $1 where "f"."id" = $2 and "f"."account_id" = $3 and "f"."client_id" = $4;
select "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "f"."face", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", "f"."withdrawn_scopes", "c"."userinfo_signed_response_alg", "k"."version" as "key_version", "a"."created_at", "a"."updated_at", (select "g"."revoked_at" from "consent_grant" as "g" where -"g"."id" = -"f"."grant_id" and "g"."revoked_at" is not null) as "revoked_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access", "f"."resources", "f"."sid", "f"."auth_time", "f"."amr", "f"."acr", "f"."leaf_jti", "f"."leaf_kid", "f"."leaf_issued_at", "f"."leaf_expires_at", "f"."scopes", "f"."sequence", "f"."predecessor_jti", "f"."rotated_at", "f"."dead_reason" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "key_set" as "k" on "k"."id" = $1 where "f"."id" = $2 and "f"."account_id" = $3 and "f"."client_id" = $4;
select "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "f"."face", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", "f"."withdrawn_scopes", "c"."userinfo_signed_response_alg", "k"."version" as "key_version", "a"."created_at", "a"."updated_at", (select "g"."revoked_at" from "consent_grant" as "g" where -"g"."id" = -"f"."grant_id" and "g"."revoked_at" is not null) as "revoked_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access", "f"."resources", "f"."sid", "f"."auth_time", "f"."amr", "f"."acr", "f"."leaf_jti", "f"."leaf_kid", "f"."leaf_issued_at", "f"."leaf_expires_at", "f"."scopes", "f"."sequence", "f"."predecessor_jti", "f"."rotated_at", "f"."dead_reason", "f"."claims" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "key_set" as "k" on "k"."id" = $1 where "f"."id" = $2 and "f"."account_id" = $3 and "f"."client_id" = $4 for update of "f";
select "account_id" from "authorization_code" where "hash" = $1 and "redeemed_at" is null and "expires_at" > $2;
select "account_id" from "membership" where "organization_id" = $1 and "role" = $2;
select "account_id", "id", "generation", "state", "pieces", "events", "last_event", "bytes", "attempts", "created_at" from "data_export" where "account_id" = $1;
select "alg", max("given_up_at") as "at" from "id_token_key" where "given_up_at" is not null group by "alg";
select "browser_hash" from "known_browser" where "account_id" = $1;
select "browser_hash" from "known_browser" where "account_id" = $1 limit $2;
select "browser_hash", "client_id", "turn", "sealed", "expires_at" from "playground_visit" where "browser_hash" = $1;
select "browser_hash", "request", "state", "expires_at", "signed_in_session", "chosen_session", "outcome" from "interaction" where "hash" = $1;
select "bytes" from "picture" where "name" = $1;
select "c"."id", "c"."redirect_uris" from "client" as "c" left join "client_origin" as "o" on "o"."client_id" = "c"."id" where "c"."type" = $1 and "o"."origin" is null;
select "c"."status", "c"."generation", "k"."version" from "client" as "c" inner join "key_set" as "k" on "k"."id" = $1 where "c"."id" = $2;
select "c"."used_at", "c"."expires_at", "c"."generation", "a"."generation" as "current" from "challenge" as "c" left join "account" as "a" on "a"."id" = "c"."account_id" where "c"."hash" = $1;
select "client_id" from "logout_notice" where "due_at" <= $1 group by "client_id" order by min("due_at") limit $2;
select "code_required_at" from "recovery_setting" where "account_id" = $1;
select "confirmed_at" from "totp_secret" where "account_id" = $1 and "confirmed_at" is not null;
select "count", "window_ends_at" from "rate_count" where "bucket" = $1;
select "count", "window_ends_at" from "rate_count" where "bucket" in ($1, $2, $3, $4, $5, $6);
select "created_at" as "at" from "mail_request" where "created_at" <= $1 order by "created_at" limit $2;
select "created_at" from "challenge" where "account_id" = $1 and "purpose" = $2 order by "created_at" desc limit $3;
select "created_at" from "passkey" where "account_id" = $1;
select "d"."face", "d"."grant_id", "d"."account_id", "d"."client_id", "d"."account_generation", "d"."client_generation", "d"."redirect_uri", "d"."scopes", "d"."narrowed", "d"."nonce", "d"."code_challenge", "d"."claims", "d"."resources", "d"."sid", "d"."auth_time", "d"."amr", "d"."acr", "d"."expires_at", "d"."ends_with_session", "d"."assignment_id", "d"."member_id", "d"."redeemed_at", "d"."family_id", "d"."withdrawn_scopes", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "a"."updated_at", "g"."revoked_at", "k"."version" as "key_version", "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "d"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "d"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "d"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "d"."account_id")
      or exists (select 1 from membership as om where om.id = "d"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "d"."account_id"))
  ) then 1 else 0 end as "has_access" from "authorization_code" as "d" inner join "account" as "a" on "a"."id" = "d"."account_id" inner join "client" as "c" on "c"."id" = "d"."client_id" inner join "consent_grant" as "g" on "g"."id" = "d"."grant_id" inner join "key_set" as "k" on "k"."id" = $1 where "d"."hash" = $2 for update of "d";
select "e"."id", "e"."at", "e"."type", "e"."actor_type", "e"."address", "e"."details", "c"."name" from "audit_event" as "e" left join "client" as "c" on "c"."id" = "e"."client_id" where "e"."account_id" = $1 and -"e"."id" > -cast($2 as bigint) and "e"."type" not in ('authorization.issued', 'token.issued', 'token.refreshed', 'token.repeated', 'token.refused', 'token.revoked') and "e"."type" in ('sign_in.succeeded', 'sign_in.failed', 'sign_in.confirmed', 'sign_out', 'session.ended', 'account.created', 'account.updated', 'account.address_displaced', 'account.deletion_requested', 'account.deletion_cancelled', 'account.password_changed', 'account.password_removed', 'account.factor_added', 'account.factor_removed', 'account.factor_renamed', 'account.recovery_codes_created', 'account.recovery_setting_changed', 'passkey.counter_went_back', 'browser.trusted', 'browser.distrusted', 'account.signed_out_everywhere', 'account.address_verified', 'account.address_change_requested', 'account.address_changed', 'account.address_change_undone', 'account.earlier_address_removed', 'account.secured', 'account.banned', 'account.unbanned', 'account.suspended', 'account.reinstated', 'recovery.requested', 'recovery.link_created', 'account.recovered', 'consent.granted', 'consent.denied', 'consent.revoked', 'organization.member_set', 'organization.member_removed', 'group.member_added', 'group.member_removed', 'access.assigned', 'access.unassigned', 'export.requested', 'export.downloaded') order by -"e"."id" limit $3;
select "ends_at" as "at" from "client_token" where "ends_at" <= $1 order by "ends_at" limit $2;
select "expires_at" as "at" from "address_change" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "authorization_code" where "expires_at" <= $1 and "redeemed_at" is null order by "expires_at" limit $2;
select "expires_at" as "at" from "browser_session" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "challenge" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "client_assertion" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "interaction" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "invitation" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "pending_sign_in" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "playground_visit" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" as "at" from "trusted_browser" where "expires_at" <= $1 order by "expires_at" limit $2;
select "expires_at" from "address_change" where "hash" = $1 and "by_operator" = $2;
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> $1 and ("f"."dead_reason" is null or "f"."dead_reason" <> $2) and "f"."grant_id" = $3 group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> $1 and ("f"."dead_reason" is null or "f"."dead_reason" <> $2) and "g"."revoked_at" is null and "f"."id" = $3 group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> $1 and ("f"."dead_reason" is null or "f"."dead_reason" <> $2) and "g"."revoked_at" is null and "g"."account_id" = $3 and "f"."sid" <> $4 group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> $1 and ("f"."dead_reason" is null or "f"."dead_reason" <> $2) and "g"."revoked_at" is null and "g"."account_id" = $3 and "f"."sid" = $4 group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> $1 and ("f"."dead_reason" is null or "f"."dead_reason" <> $2) and "g"."revoked_at" is null and "g"."account_id" = $3 group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest", "g"."account_id" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> $1 and ("f"."dead_reason" is null or "f"."dead_reason" <> $2) and "g"."revoked_at" is null and "g"."account_id" > $3 and "g"."account_id" <= $4 group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", "g"."account_id";
select "f"."id", "f"."account_id", "f"."client_id", "f"."member_id", "s"."id" as "assignment_id", "s"."account_id" as "assigned_id", "s"."group_id", "s"."organization_id" from "token_family" as "f" inner join "app_assignment" as "s" on "s"."id" = "f"."assignment_id" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "f"."dead_at" is null and "g"."account_id" = $1 and "c"."status" = $2 and case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end = $3 order by "f"."id" desc limit $4;
select "f"."id", "f"."account_id", "f"."client_id", "f"."member_id", "s"."id" as "assignment_id", "s"."account_id" as "assigned_id", "s"."group_id", "s"."organization_id" from "token_family" as "f" inner join "app_assignment" as "s" on "s"."id" = "f"."assignment_id" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" where "f"."dead_at" is null and "f"."assignment_id" = $1 and "f"."id" > $2 order by "f"."id" limit $3;
select "f"."id", "f"."account_id", "f"."client_id", "f"."member_id", "s"."id" as "assignment_id", "s"."account_id" as "assigned_id", "s"."group_id", "s"."organization_id" from "token_family" as "f" inner join "app_assignment" as "s" on "s"."id" = "f"."assignment_id" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" where "f"."dead_at" is null and "f"."id" = $1 and "f"."assignment_id" = $2 and case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end = $3 for update of "f";
select "f"."id", "f"."grant_id", "f"."leaf_expires_at", "f"."rotated_at", "f"."dead_reason", "f"."created_at", "g"."revoked_at", "s"."expires_at", "s"."last_seen_at" from "token_family" as "f" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" left join "browser_session" as "s" on "s"."sid" = "f"."sid" where "f"."review_at" <= $1 order by "f"."review_at" limit $2;
select "g"."client_id", "g"."face", "c"."name", "c"."owner", "c"."picture", "c"."homepage_url", "c"."redirect_uris", "g"."scopes", "g"."declined_scopes", "g"."resources", "g"."created_at", "g"."decided_by", "g"."last_used_at" as "used_before", max(coalesce("f"."rotated_at", "f"."created_at")) as "last_used_at" from "consent_grant" as "g" inner join "client" as "c" on "c"."id" = "g"."client_id" left join "token_family" as "f" on "f"."grant_id" = "g"."id" where "g"."account_id" = $1 and "g"."revoked_at" is null group by "g"."id", "g"."last_used_at", "g"."client_id", "g"."face", "c"."name", "c"."owner", "c"."picture", "c"."homepage_url", "c"."redirect_uris", "g"."scopes", "g"."declined_scopes", "g"."resources", "g"."created_at", "g"."decided_by" order by "g"."id";
select "g"."id", "g"."revoked_at", "c"."name" from "consent_grant" as "g" inner join "client" as "c" on "c"."id" = "g"."client_id" where "g"."account_id" = $1 and "g"."client_id" = $2 and "g"."revoked_at" = (select max("revoked_at") as "revoked_at" from "consent_grant" where "account_id" = $3 and "client_id" = $4);
select "hash" from "address_change" where "email_key" = $1 and "account_id" <> $2 and "expires_at" > $3 and "by_operator" = $4 limit $5;
select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1 and "client_id" = $2) and "redeemed_at" is null and ("acr" is null or "acr" not in ($3, $4)) limit $5;
select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1) and "redeemed_at" is null and ("acr" is null or "acr" not in ($2, $3)) limit $4;
select "hash" from "browser_session" where "account_id" = $1 and ("acr" is null or "acr" not in ($2, $3)) limit $4;
select "hash" from "recovery_code" where "account_id" = $1 and "created_at" < $2 and "used_at" is null limit $3;
select "hash", "account_id", "email", "created_at", "factors_since", "expires_at", "by_operator" from "address_change" where "account_id" = $1 and "expires_at" > $2 and "by_operator" = $3 order by "created_at" desc;
select "hash", "account_id", "email", "created_at", "factors_since", "expires_at", "by_operator" from "address_change" where "hash" = $1 and "expires_at" > $2 and "by_operator" = $3;
select "hash", "account_id", "generation", "browser", "system", "network", "created_at", "expires_at" from "trusted_browser" where "account_id" = $1 and "generation" = $2 and "expires_at" > $3 order by "created_at" desc;
select "hash", "account_id", "generation", "browser", "system", "network", "created_at", "expires_at" from "trusted_browser" where "hash" = $1 and "account_id" = $2 and "generation" = $3 and "expires_at" > $4;
select "hash", "account_id", "generation", "browser_hash", "methods", "factors_since", "interaction_hash", "created_at", "expires_at" from "pending_sign_in" where "hash" = $1;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "account_id" = $1 and "purpose" = $2;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "account_id" = $1 and "purpose" = $2 and "used_at" is null and "expires_at" > $3 order by "created_at" limit $4;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "browser_hash" = $1 and "purpose" = $2 order by "created_at" desc limit $3;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "hash" = $1;
select "hash", "resources" from "authorization_code" where "grant_id" = $1 and "resources" is not null and "redeemed_at" is null;
select "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after" from "browser_session" where "account_id" = $1 and "generation" = $2 and "expires_at" > $3 and "last_seen_at" > $4 and "sid" <> $5 order by "auth_time" desc, "sid" limit $6 offset $7;
select "held_until" as "at" from "username_reservation" where "held_until" <= $1 order by "held_until" limit $2;
select "id" from "account" where "deletion_due_at" <= $1 limit $2;
select "id" from "account" where "id" = $1;
select "id" from "account" where "id" = $1 for no key update;
select "id" from "account" where "id" > $1 order by "id" limit $2;
select "id" from "admin_key" order by "id" for update;
select "id" from "admin_key" where "hash" = $1 and "revoked_at" is null;
select "id" from "admin_key" where "hash" = $1 and "revoked_at" is null for key share;
select "id" from "admin_key" where "id" = $1 and "revoked_at" is null;
select "id" from "admin_key" where "id" = $1 for key share;
select "id" from "admin_key" where "id" = $1 for update;
select "id" from "app_assignment" where "client_id" = $1 and "role" = $2 and "ended_at" is null limit $3;
select "id" from "app_assignment" where ("organization_id" = $1 or "group_id" in (select "id" from "user_group" where "organization_id" = $2));
select "id" from "client" where "id" = $1;
select "id" from "client" where ("id_token_signed_response_alg" = $1 or "userinfo_signed_response_alg" = $2) limit $3;
select "id" from "configured_admin_key" where "id" = $1 for key share;
select "id" from "data_export" where "state" = 'waiting' and "due_at" <= $1 order by "due_at" limit $2;
select "id" from "group_member" where "account_id" = $1 and "organization_id" = $2 order by "id" for update;
select "id" from "group_member" where "group_id" = $1 and "account_id" = $2 for update;
select "id" from "group_member" where "id" = $1 for key share;
select "id" from "membership" where "account_id" = $1 and "organization_id" = $2 for key share;
select "id" from "membership" where "account_id" = $1 and "organization_id" = $2 for update;
select "id" from "membership" where "id" = $1 for key share;
select "id" from "organization" where "id" = $1 for no key update;
select "id" from "organization" where "id" = $1 for update;
select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1 and "client_id" = $2) and "dead_at" is null and ("acr" is null or "acr" not in ($3, $4)) limit $5;
select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $1) and "dead_at" is null and ("acr" is null or "acr" not in ($2, $3)) limit $4;
select "id" from "user_group" where "organization_id" = $1 and "deleted_at" is null;
select "id", "account_id" from "consent_grant" where "client_id" = $1 and "id" > $2 order by "id" limit $3;
select "id", "account_id", "public_key", "counter", "transports", "name", "aaguid", "backup_eligible", "backed_up", "created_at", "last_used_at" from "passkey" where "account_id" = $1 order by "created_at", "id";
select "id", "account_id", "public_key", "counter", "transports", "name", "aaguid", "backup_eligible", "backed_up", "created_at", "last_used_at" from "passkey" where "id" = $1;
select "id", "at" from "audit_event" order by "id" limit $1;
select "id", "at" from "audit_event" where "id" <= $1 order by "id" desc limit $2;
select "id", "at" from "audit_event" where "id" > $1 order by "id" limit $2;
select "id", "at" from "trace_step" order by "id" limit $1;
select "id", "at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts" from "trace_step" where "flow" = $1 order by "id" desc limit $2;
select "id", "at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts" from "trace_step" where "leads_to" = $1 order by "id" desc limit $2;
select "id", "at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts" from "trace_step" where "request_id" = $1 order by "id" desc limit $2;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "account_id" = $1 order by "id";
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "client_id" = $1 and "id" > $2 order by "id" limit $3;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "client_id" = $1 and "role" = $2 and ("account_id" = $3 or "group_id" = $4 or "organization_id" = $5);
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "group_id" = $1 order by "id";
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "id" = $1 and "client_id" = $2;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "id" = $1 and "client_id" = $2 for no key update;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "id" = $1 for share;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "organization_id" = $1 order by "id";
select "id", "deleted_at" from "user_group" where "deleted_at" is not null order by "deleted_at" limit $1;
select "id", "details" from "audit_event" where "account_id" = $1 and "type" in ('account.banned', 'account.suspended');
select "id", "ended_at" from "app_assignment" where "ended_at" is not null order by "ended_at" limit $1;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = $1 and "client_id" = $2 and "revoked_at" is null;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = $1 and "client_id" = $2 and "revoked_at" is null and "face" = $3;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = $1 and "client_id" = $2 and "revoked_at" is null and "face" = $3 for no key update;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = $1 and "client_id" = $2 and "revoked_at" is null order by "face" for no key update;
select "id", "hash", "created_at", "last_used_at", "expires_at" from "client_secret" where "client_id" = $1 and ("expires_at" is null or "expires_at" > $2) order by case when "expires_at" is null then 1 else 0 end, "id";
select "id", "hash", "email", "mailed", "organization_id", "role", "inviter_id", "admin_key_id", "created_at", "expires_at", "used_at", "used_by" from "invitation" where "hash" = $1;
select "id", "hash", "email", "mailed", "organization_id", "role", "inviter_id", "admin_key_id", "created_at", "expires_at", "used_at", "used_by" from "invitation" where "id" > $1 order by "id" limit $2;
select "id", "kind", "account_id", "recipient", "status", "attempts", "created_at", "expires_at", "due_at", "settled_at", "problem" from "mail" where "id" < $1 order by "id" desc limit $2;
select "id", "kind", "account_id", "recipient", "status", "attempts", "created_at", "expires_at", "due_at", "settled_at", "problem" from "mail" where "status" = $1 and "id" < $2 order by "id" desc limit $3;
select "id", "message_id", "kind", "recipient", "sealed", "created_at" from "mail" where "status" = $1 order by "id" desc limit $2;
select "id", "name" from "client_api_scope" where "client_id" = $1 and "api_id" = $2 order by "name";
select "id", "name", "created_at", "revoked_at" from "admin_key" order by "id";
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "id" = $1;
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "id" = $1 for key share;
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "id" = $1 for update;
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "id" > $1 order by "id" limit $2;
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "resource" = $1;
select "id", "name", "domain", "require_second_factor", "created_at" from "organization" where "id" = $1;
select "id", "name", "domain", "require_second_factor", "created_at" from "organization" where "id" > $1 order by "id" limit $2;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" = $1;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" = $1 for no key update;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" = $1 for share;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" > $1 and "id" <= $2 and ($3 = $4 or "organization_id" = $5) and ("id" = $6 or "name" like $7 escape '\' or lower("display_name") like $8 escape '\' or "display_name" like $9 escape '\') order by "id" limit $10;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" > $1 order by "id" limit $2;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "organization_id" = $1 and "id" > $2 order by "id" limit $3;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "organization_id" = $1 and "name" = $2;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "organization_id" is null and "name" = $1;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "email_key" = $1;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" = $1;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" = $1 for no key update;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" > $1 and "id" <= $2 and "id" <> $3 and ("id" = $4 or "username" like $5 escape '\' or "email_key" like $6 escape '\' or lower("display_name") like $7 escape '\' or "display_name" like $8 escape '\') order by "id" limit $9;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" > $1 order by "id" limit $2;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "username" = $1;
select "id", "priority", "account_id", "recipient" from "mail" where "status" = $1 and "priority" = $2 and "recipient_domain" = $3 and due_at - 0 <= $4 order by due_at - 0 limit $5;
select "id", "priority", "account_id", "recipient" from "mail" where "status" = $1 and "priority" = $2 and due_at + 0 <= $3 order by due_at + 0 limit $4;
select "id", "purpose", "sealed", "created_at", "attempts" from "mail_request" where "due_at" <= $1 order by "due_at" limit $2;
select "id", "resources" from "token_family" where "grant_id" = $1 and "resources" is not null and "dead_at" is null;
select "key_id" from "configured_admin_key" where "id" = $1 and "key_id" = $2;
select "key_id", "hash" from "configured_admin_key" where "id" = $1;
select "key_id", "hash" from "configured_admin_key" where "id" = $1 for update;
select "kid", "alg", "sealed", "public_jwk", "created_at", "signs_from" from "id_token_key" order by "signs_from" desc, "kid";
select "kid", "sealed", "created_at", "retired_at" from "signing_key" order by "created_at" desc;
select "last_seen_at" as "at" from "browser_session" where "last_seen_at" <= $1 order by "last_seen_at" limit $2;
select "last_seen_at" as "at" from "known_browser" where "last_seen_at" <= $1 order by "last_seen_at" limit $2;
select "last_seen_at" from "known_browser" where "account_id" = $1 and "browser_hash" = $2;
select "m"."account_id", "m"."added_at", "a"."username" from "group_member" as "m" inner join "account" as "a" on "a"."id" = "m"."account_id" where "m"."group_id" = $1 and "m"."account_id" > $2 order by "m"."account_id" limit $3;
select "m"."organization_id" from "membership" as "m" inner join "account" as "a" on "a"."id" = "m"."account_id" inner join "invitation" as "i" on "i"."used_by" = "m"."account_id" and "i"."organization_id" = "m"."organization_id" where "m"."account_id" = $1 and "i"."used_at" >= $2 and "i"."used_at" > "a"."created_at" limit $3;
select "membership"."account_id", "membership"."role", "account"."username" from "membership" inner join "account" on "account"."id" = "membership"."account_id" where "membership"."organization_id" = $1 order by "membership"."account_id";
select "name" from "consent_revocation" where "account_id" = $1 and "client_id" = $2;
select "name", "earliest_version" as "earliest" from "schema_migration" where "name" > $1;
select "node", "expires_at" as "endsAt" from "node_lease" where "expires_at" <= $1 order by "node" limit $2 for update;
select "node", "holder", "expires_at" as "endsAt" from "node_lease" where "expires_at" > $1;
select "o"."id" from "membership" as "m" inner join "organization" as "o" on "o"."id" = "m"."organization_id" where "o"."require_second_factor" = $1 and "m"."account_id" = $2;
select "o"."origin" from "client_origin" as "o" inner join "client" as "c" on "c"."id" = "o"."client_id" where "o"."origin" = $1 and "c"."status" <> $2 limit $3;
select "organization"."id", "organization"."name", "organization"."domain", "membership"."role" from "membership" inner join "organization" on "organization"."id" = "membership"."organization_id" where "membership"."account_id" = $1;
select "recipient_domain" from "mail" where "status" = $1 and "priority" = $2 and "recipient_domain" > $3 order by "recipient_domain" limit $4;
select "review_at" from "token_family" where "review_at" > $1 and "review_at" <= $2 order by "review_at" limit $3;
select "revoked_at" as "at" from "consent_grant" where "revoked_at" <= $1 and "revoked_at" > 0 order by "revoked_at" limit $2;
select "role" from "membership" where "account_id" = $1 and "organization_id" = $2 for update;
select "s"."hash", "s"."sid", "s"."account_id", "s"."generation", "s"."auth_time", "s"."last_seen_at", "s"."expires_at", "s"."browser", "s"."system", "s"."network", "s"."amr", "s"."acr", "s"."proved_at", "s"."proved_by", "s"."proved_factor_since", "s"."proved_after", "a"."id" as "a_id", "a"."password_hash" as "a_password_hash", "a"."password_set_at" as "a_password_set_at", "a"."generation" as "a_generation", "a"."banned_at" as "a_banned_at", "a"."banned_until" as "a_banned_until", "a"."ban_reason" as "a_ban_reason", "a"."suspended_at" as "a_suspended_at", "a"."suspension_reason" as "a_suspension_reason", "a"."deletion_requested_at" as "a_deletion_requested_at", "a"."deletion_due_at" as "a_deletion_due_at", "a"."created_at" as "a_created_at", "a"."updated_at" as "a_updated_at", "a"."username" as "a_username", "a"."display_name" as "a_display_name", "a"."email" as "a_email", "a"."email_verified" as "a_email_verified", "a"."about" as "a_about", "a"."language" as "a_language", "a"."theme" as "a_theme", "a"."website" as "a_website", "a"."location" as "a_location", "a"."birth_date" as "a_birth_date", "a"."phone" as "a_phone", "a"."social_links" as "a_social_links", "a"."avatar_color" as "a_avatar_color", "a"."picture" as "a_picture", (select "o"."id" from "membership" as "m" inner join "organization" as "o" on "o"."id" = "m"."organization_id" where "o"."require_second_factor" = $1 and "m"."account_id" = "s"."account_id") as "required_by_id" from "browser_session" as "s" inner join "account" as "a" on "a"."id" = "s"."account_id" where "s"."hash" = $2;
select "s"."hash", "s"."sid", "s"."account_id", "s"."generation", "s"."auth_time", "s"."last_seen_at", "s"."expires_at", "s"."browser", "s"."system", "s"."network", "s"."amr", "s"."acr", "s"."proved_at", "s"."proved_by", "s"."proved_factor_since", "s"."proved_after", "a"."id" as "a_id", "a"."password_hash" as "a_password_hash", "a"."password_set_at" as "a_password_set_at", "a"."generation" as "a_generation", "a"."banned_at" as "a_banned_at", "a"."banned_until" as "a_banned_until", "a"."ban_reason" as "a_ban_reason", "a"."suspended_at" as "a_suspended_at", "a"."suspension_reason" as "a_suspension_reason", "a"."deletion_requested_at" as "a_deletion_requested_at", "a"."deletion_due_at" as "a_deletion_due_at", "a"."created_at" as "a_created_at", "a"."updated_at" as "a_updated_at", "a"."username" as "a_username", "a"."display_name" as "a_display_name", "a"."email" as "a_email", "a"."email_verified" as "a_email_verified", "a"."about" as "a_about", "a"."language" as "a_language", "a"."theme" as "a_theme", "a"."website" as "a_website", "a"."location" as "a_location", "a"."birth_date" as "a_birth_date", "a"."phone" as "a_phone", "a"."social_links" as "a_social_links", "a"."avatar_color" as "a_avatar_color", "a"."picture" as "a_picture", (select "o"."id" from "membership" as "m" inner join "organization" as "o" on "o"."id" = "m"."organization_id" where "o"."require_second_factor" = $1 and "m"."account_id" = "s"."account_id") as "required_by_id" from "browser_session" as "s" inner join "account" as "a" on "a"."id" = "s"."account_id" where "s"."hash" = $2 for key share of "s";
select "s"."id", "s"."client_id", "s"."account_id", "s"."group_id", "s"."organization_id", "s"."role", "s"."created_at" from "app_assignment" as "s" where "s"."client_id" = $1 and "s"."ended_at" is null and "s"."account_id" = $2 order by "s"."id";
select "s"."id", "s"."client_id", "s"."account_id", "s"."group_id", "s"."organization_id", "s"."role", "s"."created_at", "m"."id" as "member_id" from "group_member" as "m" inner join "app_assignment" as "s" on "s"."group_id" = "m"."group_id" where "m"."account_id" = $1 and "s"."client_id" = $2 and "s"."ended_at" is null order by "s"."id";
select "s"."id", "s"."client_id", "s"."account_id", "s"."group_id", "s"."organization_id", "s"."role", "s"."created_at", "m"."id" as "member_id" from "membership" as "m" inner join "app_assignment" as "s" on "s"."organization_id" = "m"."organization_id" where "m"."account_id" = $1 and "s"."client_id" = $2 and "s"."ended_at" is null order by "s"."id";
select "s"."id", "s"."name", "s"."api_id", "a"."resource" from "client_api_scope" as "s" inner join "client" as "a" on "a"."id" = "s"."api_id" where "s"."client_id" = $1 and "a"."status" <> $2 and "a"."resource" is not null order by "s"."api_id", "s"."name";
select "sealed" from "data_export_piece" where "account_id" = $1 and "number" >= $2 order by "number" limit $3;
select "sealed" from "data_key" where "id" = $1;
select "sealed", "last_step" from "totp_secret" where "account_id" = $1 and "confirmed_at" is not null;
select "t"."client_generation", "t"."ends_at", "t"."dead_at", "t"."scopes", "c"."status", "c"."generation", "k"."version" from "client_token" as "t" inner join "client" as "c" on "c"."id" = "t"."client_id" inner join "key_set" as "k" on "k"."id" = $1 where "t"."jti" = $2 and "t"."client_id" = $3;
select "t"."client_generation", "t"."ends_at", "t"."dead_at", "t"."scopes", "c"."status", "c"."generation", "k"."version" from "client_token" as "t" inner join "client" as "c" on "c"."id" = "t"."client_id" inner join "key_set" as "k" on "k"."id" = $1 where "t"."jti" = $2 and "t"."client_id" = $3 for update of "t";
select "u"."id", "u"."name", "u"."display_name", "u"."organization_id", "o"."name" as "organization", "m"."added_at" from "group_member" as "m" inner join "user_group" as "u" on "u"."id" = "m"."group_id" left join "organization" as "o" on "o"."id" = "u"."organization_id" where "m"."account_id" = $1 and "m"."group_id" > $2 and "u"."deleted_at" is null order by "m"."group_id" limit $3;
select "u"."id", "u"."name", "u"."organization_id", "o"."name" as "organization" from "group_member" as "m" inner join "user_group" as "u" on "u"."id" = "m"."group_id" left join "organization" as "o" on "o"."id" = "u"."organization_id" where "m"."account_id" = $1 and "u"."deleted_at" is null and exists (select "s"."id" from "app_assignment" as "s" where "s"."group_id" = "u"."id" and "s"."ended_at" is null and "s"."client_id" = $2) order by "u"."name", "u"."id" limit $3;
select "u"."id", "u"."name", "u"."organization_id", "o"."name" as "organization" from "group_member" as "m" inner join "user_group" as "u" on "u"."id" = "m"."group_id" left join "organization" as "o" on "o"."id" = "u"."organization_id" where "m"."account_id" = $1 and "u"."deleted_at" is null order by "u"."name", "u"."id" limit $2;
select "used_at", "expires_at" from "invitation" where "hash" = $1;
select "username", "account_id", "held_until" from "username_reservation" where "username" = $1;
select "username", "held_until" from "username_reservation" where "account_id" = $1 order by "held_until";
select "version" from "key_set" where "id" = $1;
select "version" from "key_set" where "id" = $1 for update;
select "window_ends_at" as "at" from "rate_count" where "window_ends_at" <= $1 order by "window_ends_at" limit $2;
select (extract(epoch FROM clock_timestamp()) * 1000)::float8 as "now";
select count(*) as "count" from "mail" where "status" = $1;
select count(*) as "count" from "node_lease" where "expires_at" > $1;
select count(*) as "count", min("created_at") as "oldest" from "mail" where "status" = $1;
select count(*) as "issued", count("used_at") as "used" from "recovery_code" where "account_id" = $1;
select count(*) as "notices" from "logout_notice";
select distinct "client_id" from "client_api_scope" where "api_id" = $1 and "client_id" > $2 order by "client_id" limit $3;
select distinct "client_id" from "consent_grant" where "account_id" = $1 and "revoked_at" is null and "updated_at" >= $2;
select distinct "f"."sid", "f"."client_id", "c"."name" from "token_family" as "f" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" where "g"."account_id" = $1 and "f"."account_generation" = $2 and "f"."dead_at" is null and "f"."ends_at" > $3 and "g"."revoked_at" is null and "c"."status" <> $4 order by "c"."name";
select distinct "withdrawn_scopes" as "before" from "authorization_code" where "grant_id" = $1 and "redeemed_at" is null;
select distinct "withdrawn_scopes" as "before" from "token_family" where "grant_id" = $1 and "dead_at" is null;
select max("node") as "node" from "node_lease";
select max("step"."id") as "id" from (select "id" from "account" where "id" > $1 order by "id" limit $2) as "step";
select max("step"."id") as "id" from (select "id" from "user_group" where "id" > $1 order by "id" limit $2) as "step";
update "account" set "generation" = $1 where "id" > $2 and "id" <= $3;
update "account" set "id" = $1, "password_hash" = $2, "password_set_at" = $3, "generation" = $4, "banned_at" = $5, "banned_until" = $6, "ban_reason" = $7, "suspended_at" = $8, "suspension_reason" = $9, "deletion_requested_at" = $10, "deletion_due_at" = $11, "created_at" = $12, "updated_at" = $13, "username" = $14, "display_name" = $15, "email" = $16, "email_verified" = $17, "about" = $18, "language" = $19, "theme" = $20, "website" = $21, "location" = $22, "birth_date" = $23, "phone" = $24, "social_links" = $25, "avatar_color" = $26, "picture" = $27, "email_key" = $28 where "id" = $29;
update "address_change" set "by_operator" = $1 where "account_id" = $2 and "by_operator" = $3;
update "address_change" set "expires_at" = $1 where "account_id" = $2 and "expires_at" > $3 and "by_operator" = $4;
update "admin_key" set "revoked_at" = $1 where "id" = $2 and "revoked_at" is null returning "id";
update "admin_key" set "revoked_at" = $1 where "revoked_at" is null returning "id";
update "app_assignment" set "ended_at" = $1 where "id" = $2 and "ended_at" is null returning "id";
update "app_assignment" set "role" = $1 where "id" = $2;
update "audit_event" set "details" = $1 where "id" = $2;
update "authorization_code" set "redeemed_at" = $1, "family_id" = $2 where "hash" = $3 and coalesce("redeemed_at", 0) = 0 returning "hash";
update "authorization_code" set "withdrawn_scopes" = $1 where "grant_id" = $2 and "withdrawn_scopes" = $3 and "redeemed_at" is null;
update "browser_session" set "last_seen_at" = $1 where "hash" = $2;
update "challenge" set "used_at" = $1, "code_hash" = $2, "sealed" = $3 where "hash" = $4 and "used_at" is null returning "hash";
update "client" set "generation" = $1;
update "client" set "generation" = $1, "consent_epoch" = $2;
update "client" set "id" = $1, "name" = $2, "description" = $3, "logo_url" = $4, "homepage_url" = $5, "policy_url" = $6, "terms_url" = $7, "redirect_uris" = $8, "post_logout_redirect_uris" = $9, "scopes" = $10, "grant_types" = $11, "resource" = $12, "resource_scopes" = $13, "consent" = $14, "type" = $15, "require_pkce" = $16, "id_token_signed_response_alg" = $17, "default_max_age" = $18, "backchannel_logout_uri" = $19, "backchannel_logout_session_required" = $20, "userinfo_signed_response_alg" = $21, "token_endpoint_auth_method" = $22, "jwks" = $23, "jwks_uri" = $24, "faces" = $25, "id_token_claims" = $26, "require_second_factor" = $27, "access" = $28, "roles" = $29, "groups_claim" = $30, "claim_names" = $31, "owner" = $32, "contacts" = $33, "picture" = $34, "status" = $35, "left_out" = $36, "consent_approval" = $37, "generation" = $38, "consent_epoch" = $39, "created_at" = $40, "updated_at" = $41 where "id" = $42;
update "client" set "left_out" = $1 where "id" = $2;
update "client_secret" set "expires_at" = $1 where "id" = $2;
update "client_secret" set "last_used_at" = $1 where "id" = $2;
update "client_token" set "dead_at" = $1 where "jti" = $2 and "dead_at" is null;
update "configured_admin_key" set "key_id" = $1, "hash" = $2 where "id" = $3;
update "consent_grant" set "last_used_at" = $1 where "id" = $2 and ("last_used_at" is null or "last_used_at" < $3);
update "consent_grant" set "revoked_at" = $1 where "account_id" = $2 and "client_id" = $3 and "revoked_at" is null returning "id";
update "consent_grant" set "scopes" = $1, "declined_scopes" = $2, "resources" = $3, "consent_epoch" = $4, "ask_again" = $5, "decided_by" = $6, "updated_at" = $7 where "id" = $8 returning "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by";
update "data_export" set "due_at" = $1, "attempts" = "attempts" + $2 where "account_id" in (select "account_id" from "data_export" where "state" = 'waiting' and "due_at" <= $3 order by "due_at" limit $4) and "state" = 'waiting' and "due_at" <= $5 returning "account_id", "id", "generation", "state", "pieces", "events", "last_event", "bytes", "attempts", "created_at";
update "data_export" set "state" = $1 where "account_id" = $2 and "id" = $3;
update "data_export" set "state" = $1, "pieces" = "pieces" + $2, "events" = $3, "last_event" = $4, "bytes" = $5, "attempts" = $6, "due_at" = $7 where "account_id" = $8 and "id" = $9 and "state" = 'waiting' and "pieces" = $10 returning "id";
update "data_key" set "sealed" = $1 where "id" = $2 and "sealed" = $3 returning "id";
update "id_token_key" set "given_up_at" = $1 where "alg" = $2;
update "id_token_key" set "sealed" = $1 where "kid" = $2 and "sealed" = $3 returning "kid";
update "id_token_key" set "signs_from" = $1 where "kid" = $2;
update "interaction" set "browser_hash" = $1 where "hash" = $2 and "browser_hash" = $3;
update "interaction" set "chosen_session" = $1 where "hash" = $2;
update "interaction" set "chosen_session" = $1 where "hash" = $2 and "chosen_session" = $3;
update "interaction" set "outcome" = $1 where "hash" = $2 and "outcome" is null returning "hash";
update "interaction" set "signed_in_session" = $1 where "hash" = $2;
update "interaction" set "signed_in_session" = $1 where "hash" = $2 and "signed_in_session" = $3;
update "invitation" set "admin_key_id" = $1 where "admin_key_id" = $2 and "used_at" is null returning "expires_at";
update "invitation" set "used_at" = $1, "used_by" = $2 where "id" = $3 and "used_at" is null returning "id";
update "key_set" set "version" = $1 where "id" = $2;
update "logout_notice" set "due_at" = $1 where "id" = $2 and "attempts" = $3 returning "id";
update "logout_notice" set "due_at" = $1, "attempts" = "attempts" + $2 where "id" in (select "id" from "logout_notice" where "client_id" = $3 and "due_at" <= $4 order by "due_at" limit $5) and "due_at" <= $6 returning "id", "client_id", "account_id", "sid", "created_at", "attempts";
update "mail" set "due_at" = $1, "attempts" = "attempts" + $2, "unconfirmed" = "unconfirmed" + $3 where "id" = $4 and "status" = $5 and "due_at" <= $6 returning "id", "message_id", "kind", "priority", "account_id", "recipient", "challenge_hash", "sealed", "attempts", "unconfirmed", "created_at", "expires_at";
update "mail" set "due_at" = $1, "unconfirmed" = "unconfirmed" - $2, "problem" = $3 where "id" = $4 and "status" = $5 and "attempts" = $6 returning "id";
update "mail" set "recipient" = $1, "recipient_domain" = $2, "sealed" = $3, "problem" = $4 where "status" in ($5, $6, $7) and "account_id" = $8;
update "mail" set "status" = $1, "due_at" = $2, "settled_at" = $3 where "status" in ($4, $5) and "account_id" = $6;
update "mail" set "status" = $1, "sealed" = $2, "due_at" = $3, "settled_at" = $4, "problem" = $5 where "id" = $6 and "status" = $7 and "attempts" = $8 returning "id";
update "mail" set "status" = $1, "sealed" = $2, "due_at" = $3, "settled_at" = $4, "problem" = $5 where "id" = $6 and "status" = $7 returning "id";
update "mail" set "status" = $1, "sealed" = $2, "due_at" = $3, "settled_at" = $4, "problem" = $5 where "status" = $6 and "due_at" <= $7 and "expires_at" <= $8;
update "mail" set "status" = $1, "sealed" = $2, "due_at" = $3, "settled_at" = $4, "problem" = $5 where "status" = $6 and "kind" = $7;
update "mail_request" set "attempts" = "attempts" + $1, "due_at" = $2 where "id" = $3 and "attempts" = $4 returning "id";
update "node_lease" set "holder" = $1, "expires_at" = $2 where "node" = $3 and "expires_at" <= $4 returning "node";
update "node_lease" set "holder" = $1, "expires_at" = $2 where "node" = $3 and "holder" = $4;
update "node_lease" set "holder" = $1, "expires_at" = $2 where "node" = $3 and "holder" = $4 returning "node";
update "organization" set "require_second_factor" = $1 where "id" = $2;
update "passkey" set "counter" = $1, "backed_up" = $2, "last_used_at" = $3 where "id" = $4;
update "passkey" set "name" = $1 where "id" = $2 and "account_id" = $3 returning "id";
update "playground_visit" set "sealed" = $1 where "browser_hash" = $2 and "client_id" = $3 and "turn" = $4;
update "playground_visit" set "turn" = "turn" + $1 where "browser_hash" = $2 and "client_id" = $3 and "turn" = $4 returning "turn";
update "rate_count" set "count" = "count" - $1 where "bucket" = $2 and "count" >= $3;
update "rate_count" set "window_ends_at" = $1 where "bucket" = $2 and "window_ends_at" = $3 returning "bucket";
update "recovery_code" set "used_at" = $1 where "account_id" = $2 and "hash" = $3 and "used_at" is null returning "created_at";
update "signing_key" set "retired_at" = $1 where "retired_at" is null;
update "signing_key" set "sealed" = $1 where "kid" = $2 and "sealed" = $3 returning "kid";
update "token_family" set "assignment_id" = $1, "member_id" = $2 where "id" = $3 returning "id";
update "token_family" set "dead_at" = $1, "dead_reason" = $2 where "grant_id" in (select "id" from "consent_grant" where "account_id" = $3) and "sid" <> $4 and "dead_at" is null;
update "token_family" set "dead_at" = $1, "dead_reason" = $2 where "grant_id" in (select "id" from "consent_grant" where "account_id" = $3) and "sid" = $4 and "dead_at" is null;
update "token_family" set "dead_at" = $1, "dead_reason" = $2 where "grant_id" in (select "id" from "consent_grant" where "account_id" = $3) and "sid" = $4 and "ends_with_session" = $5 and "dead_at" is null;
update "token_family" set "dead_at" = $1, "dead_reason" = $2 where "id" = $3 and "dead_at" is null;
update "token_family" set "dead_at" = $1, "dead_reason" = $2 where "id" in (select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $3 and "client_id" = $4) and "dead_at" is null and ("acr" is null or "acr" not in ($5, $6))) and "dead_at" is null returning "id";
update "token_family" set "dead_at" = $1, "dead_reason" = $2 where "id" in (select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = $3) and "dead_at" is null and ("acr" is null or "acr" not in ($4, $5))) and "dead_at" is null returning "id";
update "token_family" set "review_at" = $1 where "id" = $2;
update "token_family" set "sequence" = "sequence" + $1, "leaf_jti" = $2, "leaf_kid" = $3, "leaf_issued_at" = $4, "leaf_expires_at" = $5, "predecessor_jti" = $6, "rotated_at" = $7 where "id" = $8;
update "token_family" set "withdrawn_scopes" = $1 where "grant_id" = $2 and "withdrawn_scopes" = $3 and "dead_at" is null;
update "totp_secret" set "last_step" = $1 where "account_id" = $2 and "sealed" = $3 and "last_step" < $4 returning "confirmed_at";
update "user_group" set "deleted_at" = $1 where "id" = $2;
update "user_group" set "name" = $1, "display_name" = $2, "description" = $3, "updated_at" = $4 where "id" = $5;
