delete from "account" where "id" = ? returning "id";
delete from "address_change" where "account_id" = ? and "created_at" >= ? and "by_operator" = ?;
delete from "address_change" where "hash" = ?;
delete from "address_change" where "hash" in (select "hash" from "address_change" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "app_assignment" where "id" = ? and "ended_at" is not null;
delete from "audit_event" where "id" <= ? returning "id";
delete from "authorization_code" where "family_id" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
delete from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "sid" <> ? and "redeemed_at" is null;
delete from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "sid" = ? and "ends_with_session" = ? and "redeemed_at" is null;
delete from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "sid" = ? and "redeemed_at" is null;
delete from "authorization_code" where "hash" = ? and "redeemed_at" is null;
delete from "authorization_code" where "hash" in (select "hash" from "authorization_code" where "expires_at" <= ? and "redeemed_at" is null order by "expires_at" limit ?) returning "hash";
delete from "authorization_code" where "hash" in (select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ? and "client_id" = ?) and "redeemed_at" is null and ("acr" is null or "acr" not in (?, ?))) and "redeemed_at" is null returning "hash";
delete from "authorization_code" where "hash" in (select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "redeemed_at" is null and ("acr" is null or "acr" not in (?, ?))) and "redeemed_at" is null returning "hash";
delete from "authorization_code" where "redeemed_at" is null;
delete from "browser_session" where "account_id" = ? and "sid" <> ? returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "account_id" = ? and "sid" = ? returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "account_id" = ? and ("acr" is null or "acr" not in (?, ?)) returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "hash" = ? returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "hash" in (select "hash" from "browser_session" where "account_id" = ? order by case when "generation" = ? then 0 else 1 end, "last_seen_at" desc, "auth_time" desc limit ? offset ?) returning "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after";
delete from "browser_session" where "hash" in (select "hash" from "browser_session" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "browser_session" where "hash" in (select "hash" from "browser_session" where "last_seen_at" <= ? order by "last_seen_at" limit ?) and "last_seen_at" <= ? returning "hash";
delete from "challenge" where "account_id" = ?;
delete from "challenge" where "account_id" = ? and "purpose" = ?;
delete from "challenge" where "account_id" = ? and "purpose" = ? and "generation" <> ?;
delete from "challenge" where "account_id" is null;
delete from "challenge" where "admin_key_id" = ? and "used_at" is null returning "expires_at";
delete from "challenge" where "browser_hash" = ? and "purpose" = ? and "account_id" is null;
delete from "challenge" where "hash" = ?;
delete from "challenge" where "hash" in (select "hash" from "challenge" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "client" where "id" = ? returning "id";
delete from "client" where "id" in (select "client_id" from "playground_visit" where "expires_at" <= ? order by "expires_at" limit ?) returning "id";
delete from "client_api_scope" where "api_id" = ? and "name" = ? returning "id";
delete from "client_api_scope" where "id" = ?;
delete from "client_assertion" where "hash" in (select "hash" from "client_assertion" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "client_origin" where "client_id" = ?;
delete from "client_secret" where "id" = ? and "client_id" = ?;
delete from "client_token" where "jti" in (select "jti" from "client_token" where "ends_at" <= ? order by "ends_at" limit ?) returning "jti";
delete from "consent_grant" where "id" in (select "id" from "consent_grant" where "revoked_at" <= ? and "revoked_at" > 0 order by "revoked_at" limit ?) returning "id";
delete from "data_export" where "account_id" = ?;
delete from "data_export" where "account_id" = ? and "id" = ?;
delete from "data_export" where "account_id" in (select "account_id" from "data_export" where "created_at" <= ? limit ?) returning "id";
delete from "data_export" where "account_id" in (select "e"."account_id" from "data_export" as "e" inner join "account" as "a" on "a"."id" = "e"."account_id" where "e"."created_at" > ? and "e"."generation" <> "a"."generation");
delete from "group_member" where "id" = ?;
delete from "group_member" where "id" in (select "id" from "group_member" where "group_id" = ? limit ?) returning "id";
delete from "id_token_key";
delete from "id_token_key" where "kid" = ?;
delete from "interaction";
delete from "interaction" where "hash" in (select "hash" from "interaction" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "invitation" where "admin_key_id" = ? and "used_at" is null returning "expires_at";
delete from "invitation" where "hash" in (select "hash" from "invitation" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "invitation" where "id" = ? and "used_at" is null returning "id";
delete from "invitation" where "inviter_id" = ? and "used_at" is null returning "id";
delete from "invitation" where "used_at" is null;
delete from "known_browser" where "account_id" = ?;
delete from "known_browser" where "account_id" = ? and "browser_hash" in (select "browser_hash" from "known_browser" where "account_id" = ? order by "last_seen_at" desc limit ? offset ?);
delete from "known_browser" where "account_id" > ? and "account_id" <= ?;
delete from "known_browser" where ("account_id", "browser_hash") in (select "account_id", "browser_hash" from "known_browser" where "last_seen_at" <= ? order by "last_seen_at" limit ?) returning "browser_hash";
delete from "logout_notice" where "id" = ? and "attempts" = ? returning "id";
delete from "mail" where "account_id" = ? and "status" = ? and "recipient" = ? and "kind" = ? and "attempts" = ? returning "message_id", "sealed", "due_at", "challenge_hash";
delete from "mail" where "account_id" = ? and "status" = ? and "recipient" = ? and "kind" = ? and "due_at" > ? returning "message_id", "sealed", "due_at", "challenge_hash";
delete from "mail" where "id" in (select "id" from "mail" where "status" = ? and "due_at" <= ? order by "due_at" limit ?) returning "id";
delete from "mail" where "id" in (select "id" from "mail" where "status" = ? order by "id" desc limit ? offset ?);
delete from "mail_request";
delete from "mail_request" where "id" = ? returning "id";
delete from "mail_request" where "id" in (select "id" from "mail_request" where "created_at" <= ? order by "created_at" limit ?) returning "id";
delete from "membership" where "account_id" = ? and "organization_id" = ? returning "account_id";
delete from "membership" where "id" in (select "id" from "membership" where "organization_id" = ? limit ?) returning "id";
delete from "organization" where "id" = ? and not exists (select "id" from "membership" where "organization_id" = ?);
delete from "passkey" where "account_id" = ?;
delete from "passkey" where "account_id" = ? and "created_at" >= ?;
delete from "passkey" where "id" = ? and "account_id" = ? returning "id";
delete from "pending_sign_in" where "account_id" = ?;
delete from "pending_sign_in" where "account_id" = ? and "browser_hash" = ?;
delete from "pending_sign_in" where "hash" = ? returning "hash";
delete from "pending_sign_in" where "hash" in (select "hash" from "pending_sign_in" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "picture" where "account_id" = ?;
delete from "picture" where "client_id" = ?;
delete from "rate_count" where "bucket" in (select "bucket" from "rate_count" where "window_ends_at" <= ? order by "window_ends_at" limit ?) and "window_ends_at" <= ? returning "bucket";
delete from "recovery_code" where "account_id" = ?;
delete from "recovery_code" where "account_id" = ? and "created_at" >= ?;
delete from "recovery_setting" where "account_id" = ? and ("code_required_at" >= ? or not exists (select "hash" from "recovery_code" where "account_id" = ?));
delete from "recovery_setting" where "account_id" = ? returning "account_id";
delete from "signing_key";
delete from "signing_key" where "kid" = ? returning "kid", "retired_at";
delete from "signing_key" where "retired_at" <= ?;
delete from "token_family" where "id" in (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
delete from "totp_secret" where "account_id" = ? and ("confirmed_at" is null or "confirmed_at" >= ?);
delete from "totp_secret" where "account_id" = ? returning "account_id";
delete from "trace_step" where "account_id" = ?;
delete from "trace_step" where "flow" in (select "flow" from "trace_step" where "account_id" = ? and "flow" is not null union select "leads_to" from "trace_step" where "account_id" = ? and "leads_to" is not null);
delete from "trace_step" where "id" <= ? returning "id";
delete from "trace_step" where "ring" = ? and "id" <= (select "id" from "trace_step" where "ring" = ? order by "id" desc limit ? offset ?);
delete from "trusted_browser" where "account_id" = ?;
delete from "trusted_browser" where "account_id" = ? and "hash" = ? returning "hash";
delete from "trusted_browser" where "hash" in (select "hash" from "trusted_browser" where "account_id" = ? order by "created_at" desc limit ? offset ?);
delete from "trusted_browser" where "hash" in (select "hash" from "trusted_browser" where "expires_at" <= ? order by "expires_at" limit ?) returning "hash";
delete from "user_group" where "id" = ? and "deleted_at" is not null and not exists (select "id" from "app_assignment" where "group_id" = ?) returning "id";
delete from "username_reservation" where "account_id" = ?;
delete from "username_reservation" where "username" = ? returning "username";
delete from "username_reservation" where "username" in (select "username" from "username_reservation" where "held_until" <= ? order by "held_until" limit ?) returning "username";
insert into "account" ("id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning "id";
insert into "address_change" ("hash", "account_id", "email", "created_at", "factors_since", "expires_at", "by_operator", "email_key") values (?, ?, ?, ?, ?, ?, ?, ?);
insert into "admin_key" ("id", "name", "hash", "created_at", "revoked_at") values (?, ?, ?, ?, ?);
insert into "app_assignment" ("id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at") values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning "id";
insert into "audit_event" ("at", "type", "outcome", "actor_type", "actor_id", "account_id", "client_id", "address", "request_id", "details") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "audit_event" ("at", "type", "outcome", "actor_type", "actor_id", "account_id", "client_id", "address", "request_id", "details", "id") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "authorization_code" ("hash", "face", "grant_id", "account_id", "client_id", "account_generation", "client_generation", "redirect_uri", "scopes", "narrowed", "nonce", "code_challenge", "claims", "resources", "sid", "auth_time", "amr", "acr", "expires_at", "ends_with_session", "assignment_id", "member_id", "redeemed_at", "family_id") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "browser_session" ("hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "challenge" ("hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "client" ("id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "client_api_scope" ("id", "client_id", "api_id", "name", "created_at") values (?, ?, ?, ?, ?);
insert into "client_assertion" ("hash", "expires_at") values (?, ?) on conflict do nothing returning "hash";
insert into "client_origin" ("origin", "client_id") values (?, ?) on conflict do nothing;
insert into "client_secret" ("id", "client_id", "hash", "created_at", "last_used_at", "expires_at") values (?, ?, ?, ?, ?, ?);
insert into "client_token" ("jti", "client_id", "client_generation", "created_at", "ends_at", "dead_at", "scopes") values (?, ?, ?, ?, ?, ?, ?);
insert into "consent_grant" ("id", "account_id", "client_id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "created_at", "updated_at", "revoked_at", "decided_by") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by";
insert into "consent_revocation" ("account_id", "client_id", "name", "revoked_at") values (?, ?, ?, ?) on conflict ("account_id", "client_id") do update set "name" = "excluded"."name", "revoked_at" = "excluded"."revoked_at";
insert into "data_export" ("account_id", "id", "generation", "state", "pieces", "events", "last_event", "bytes", "attempts", "due_at", "created_at") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "data_export_piece" ("account_id", "number", "sealed") values (?, ?, ?);
insert into "data_key" ("id", "sealed", "created_at") values (?, ?, ?) on conflict do nothing returning "id";
insert into "group_member" ("group_id", "account_id", "organization_id", "added_at") values (?, ?, ?, ?) on conflict ("group_id", "account_id") do nothing returning "id";
insert into "id_token_key" ("kid", "alg", "sealed", "public_jwk", "created_at", "signs_from", "given_up_at") values (?, ?, ?, ?, ?, ?, ?);
insert into "interaction" ("hash", "browser_hash", "client_id", "request", "state", "created_at", "expires_at", "signed_in_session", "chosen_session", "outcome") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "invitation" ("id", "hash", "email", "mailed", "organization_id", "role", "inviter_id", "admin_key_id", "created_at", "expires_at", "used_at", "used_by") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "key_set" ("id", "version") values (?, ?) on conflict do nothing returning "version";
insert into "known_browser" ("account_id", "browser_hash", "last_seen_at") values (?, ?, ?) on conflict ("account_id", "browser_hash") do update set "last_seen_at" = "excluded"."last_seen_at";
insert into "logout_notice" ("client_id", "account_id", "sid", "created_at", "attempts", "due_at") values (?, ?, ?, ?, ?, ?);
insert into "mail" ("message_id", "kind", "priority", "account_id", "recipient", "recipient_domain", "challenge_hash", "sealed", "status", "attempts", "unconfirmed", "due_at", "created_at", "expires_at", "settled_at", "problem") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "mail_request" ("id", "purpose", "sealed", "created_at", "attempts", "due_at") values (?, ?, ?, ?, ?, ?);
insert into "membership" ("account_id", "organization_id", "role") values (?, ?, ?) on conflict ("account_id") do update set "role" = "excluded"."role" where "membership"."organization_id" = "excluded"."organization_id" returning "account_id";
insert into "node_lease" ("node", "holder", "expires_at") values (?, ?, ?) on conflict do nothing returning "node";
insert into "organization" ("id", "name", "domain", "require_second_factor", "created_at") values (?, ?, ?, ?, ?) on conflict do nothing returning "id";
insert into "passkey" ("id", "account_id", "public_key", "counter", "transports", "name", "aaguid", "backup_eligible", "backed_up", "created_at", "last_used_at") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning "id";
insert into "pending_sign_in" ("hash", "account_id", "generation", "browser_hash", "methods", "factors_since", "interaction_hash", "created_at", "expires_at") values (?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "picture" ("name", "account_id", "client_id", "bytes") values (?, ?, ?, ?);
insert into "playground_visit" ("browser_hash", "client_id", "turn", "sealed", "expires_at") values (?, ?, ?, ?, ?);
insert into "rate_count" ("bucket", "count", "window_ends_at") values (?, ?, ?) on conflict ("bucket") do update set "count" = case when rate_count.window_ends_at <= excluded.window_ends_at - ? then "excluded"."count" else "rate_count"."count" + "excluded"."count" end, "window_ends_at" = case when rate_count.window_ends_at <= excluded.window_ends_at - ? then "excluded"."window_ends_at" when rate_count.window_ends_at > excluded.window_ends_at + ? then excluded.window_ends_at + ? else "rate_count"."window_ends_at" end where ("rate_count"."count" <= ? or rate_count.window_ends_at <= excluded.window_ends_at - ? or rate_count.window_ends_at > excluded.window_ends_at + ?) returning "bucket", "count", "window_ends_at";
insert into "recovery_code" ("account_id", "hash", "created_at", "used_at") values (?, ?, ?, ?);
insert into "recovery_setting" ("account_id", "code_required_at") values (?, ?) on conflict ("account_id") do nothing returning "account_id";
insert into "signing_key" ("kid", "sealed", "created_at", "retired_at") values (?, ?, ?, ?);
insert into "token_family" ("id", "face", "grant_id", "account_id", "client_id", "account_generation", "client_generation", "scopes", "resources", "sid", "auth_time", "amr", "acr", "claims", "leaf_jti", "leaf_kid", "leaf_issued_at", "leaf_expires_at", "assignment_id", "member_id", "created_at", "ends_at", "ends_with_session", "review_at", "sequence", "predecessor_jti", "rotated_at", "dead_at", "dead_reason") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "totp_secret" ("account_id", "sealed", "generation", "created_at", "confirmed_at", "last_step") values (?, ?, ?, ?, ?, ?) on conflict ("account_id") do update set "sealed" = "excluded"."sealed", "generation" = "excluded"."generation", "created_at" = "excluded"."created_at", "confirmed_at" = "excluded"."confirmed_at", "last_step" = "excluded"."last_step";
insert into "trace_step" ("at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts", "ring") values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
insert into "trusted_browser" ("hash", "account_id", "generation", "browser", "system", "network", "created_at", "expires_at") values (?, ?, ?, ?, ?, ?, ?, ?);
insert into "user_group" ("id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at") values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning "id";
insert into "username_reservation" ("username", "account_id", "held_until") values (?, ?, ?) on conflict ("username") do update set "account_id" = "excluded"."account_id", "held_until" = "excluded"."held_until";
select "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "c"."name", "g"."revoked_at", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "f"."grant_id" = ?;
select "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "c"."name", "g"."revoked_at", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "g"."account_id" = ? and "f"."sid" <> ?;
select "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "c"."name", "g"."revoked_at", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "g"."account_id" = ? and "f"."sid" = ?;
select "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "f"."face", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", "f"."withdrawn_scopes", "c"."userinfo_signed_response_alg", "k"."version" as "key_version", "a"."created_at", "a"."updated_at", (select "g"."revoked_at" from "consent_grant" as "g" where -"g"."id" = -"f"."grant_id" and "g"."revoked_at" is not null) as "revoked_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "key_set" as "k" on "k"."id" = ? where "f"."id" = ? and "f"."account_id" = ? and "f"."client_id" = ?;
select "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "f"."face", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", "f"."withdrawn_scopes", "c"."userinfo_signed_response_alg", "k"."version" as "key_version", "a"."created_at", "a"."updated_at", (select "g"."revoked_at" from "consent_grant" as "g" where -"g"."id" = -"f"."grant_id" and "g"."revoked_at" is not null) as "revoked_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access", "f"."resources", "f"."sid", "f"."auth_time", "f"."amr", "f"."acr", "f"."leaf_jti", "f"."leaf_kid", "f"."leaf_issued_at", "f"."leaf_expires_at", "f"."scopes", "f"."sequence", "f"."predecessor_jti", "f"."rotated_at", "f"."dead_reason" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "key_set" as "k" on "k"."id" = ? where "f"."id" = ? and "f"."account_id" = ? and "f"."client_id" = ?;
select "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "f"."face", "f"."account_generation", "f"."client_generation", "f"."ends_at", "f"."dead_at", "f"."withdrawn_scopes", "c"."userinfo_signed_response_alg", "k"."version" as "key_version", "a"."created_at", "a"."updated_at", (select "g"."revoked_at" from "consent_grant" as "g" where -"g"."id" = -"f"."grant_id" and "g"."revoked_at" is not null) as "revoked_at", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end as "has_access", "f"."resources", "f"."sid", "f"."auth_time", "f"."amr", "f"."acr", "f"."leaf_jti", "f"."leaf_kid", "f"."leaf_issued_at", "f"."leaf_expires_at", "f"."scopes", "f"."sequence", "f"."predecessor_jti", "f"."rotated_at", "f"."dead_reason", "f"."claims" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "key_set" as "k" on "k"."id" = ? where "f"."id" = ? and "f"."account_id" = ? and "f"."client_id" = ? ;
select "account_id" from "authorization_code" where "hash" = ? and "redeemed_at" is null and "expires_at" > ?;
select "account_id" from "membership" where "organization_id" = ? and "role" = ?;
select "account_id", "id", "generation", "state", "pieces", "events", "last_event", "bytes", "attempts", "created_at" from "data_export" where "account_id" = ?;
select "alg", max("given_up_at") as "at" from "id_token_key" where "given_up_at" is not null group by "alg";
select "browser_hash" from "known_browser" where "account_id" = ?;
select "browser_hash" from "known_browser" where "account_id" = ? limit ?;
select "browser_hash", "client_id", "turn", "sealed", "expires_at" from "playground_visit" where "browser_hash" = ?;
select "browser_hash", "request", "state", "expires_at", "signed_in_session", "chosen_session", "outcome" from "interaction" where "hash" = ?;
select "bytes" from "picture" where "name" = ?;
select "c"."id", "c"."redirect_uris" from "client" as "c" left join "client_origin" as "o" on "o"."client_id" = "c"."id" where "c"."type" = ? and "o"."origin" is null;
select "c"."status", "c"."generation", "k"."version" from "client" as "c" inner join "key_set" as "k" on "k"."id" = ? where "c"."id" = ?;
select "c"."used_at", "c"."expires_at", "c"."generation", "a"."generation" as "current" from "challenge" as "c" left join "account" as "a" on "a"."id" = "c"."account_id" where "c"."hash" = ?;
select "client_id" from "logout_notice" where "due_at" <= ? group by "client_id" order by min("due_at") limit ?;
select "code_required_at" from "recovery_setting" where "account_id" = ?;
select "confirmed_at" from "totp_secret" where "account_id" = ? and "confirmed_at" is not null;
select "count", "window_ends_at" from "rate_count" where "bucket" = ?;
select "count", "window_ends_at" from "rate_count" where "bucket" in (?, ?, ?, ?, ?, ?);
select "created_at" as "at" from "mail_request" where "created_at" <= ? order by "created_at" limit ?;
select "created_at" from "challenge" where "account_id" = ? and "purpose" = ? order by "created_at" desc limit ?;
select "created_at" from "passkey" where "account_id" = ?;
select "d"."face", "d"."grant_id", "d"."account_id", "d"."client_id", "d"."account_generation", "d"."client_generation", "d"."redirect_uri", "d"."scopes", "d"."narrowed", "d"."nonce", "d"."code_challenge", "d"."claims", "d"."resources", "d"."sid", "d"."auth_time", "d"."amr", "d"."acr", "d"."expires_at", "d"."ends_with_session", "d"."assignment_id", "d"."member_id", "d"."redeemed_at", "d"."family_id", "d"."withdrawn_scopes", "a"."banned_at", "a"."banned_until", "a"."suspended_at", "a"."generation" as "account_now", "c"."status" as "client_status", "c"."generation" as "client_now", "a"."updated_at", "g"."revoked_at", "k"."version" as "key_version", "a"."username", "a"."display_name", "a"."email", "a"."email_verified", "a"."about", "a"."language", "a"."theme", "a"."website", "a"."location", "a"."birth_date", "a"."phone", "a"."social_links", "a"."avatar_color", "a"."picture", case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "d"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "d"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "d"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "d"."account_id")
      or exists (select 1 from membership as om where om.id = "d"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "d"."account_id"))
  ) then 1 else 0 end as "has_access" from "authorization_code" as "d" inner join "account" as "a" on "a"."id" = "d"."account_id" inner join "client" as "c" on "c"."id" = "d"."client_id" inner join "consent_grant" as "g" on "g"."id" = "d"."grant_id" inner join "key_set" as "k" on "k"."id" = ? where "d"."hash" = ? ;
select "e"."id", "e"."at", "e"."type", "e"."actor_type", "e"."address", "e"."details", "c"."name" from "audit_event" as "e" left join "client" as "c" on "c"."id" = "e"."client_id" where "e"."account_id" = ? and -"e"."id" > -cast(? as bigint) and "e"."type" not in ('authorization.issued', 'token.issued', 'token.refreshed', 'token.repeated', 'token.refused', 'token.revoked') and "e"."type" in ('sign_in.succeeded', 'sign_in.failed', 'sign_in.confirmed', 'sign_out', 'session.ended', 'account.created', 'account.updated', 'account.address_displaced', 'account.deletion_requested', 'account.deletion_cancelled', 'account.password_changed', 'account.password_removed', 'account.factor_added', 'account.factor_removed', 'account.factor_renamed', 'account.recovery_codes_created', 'account.recovery_setting_changed', 'passkey.counter_went_back', 'browser.trusted', 'browser.distrusted', 'account.signed_out_everywhere', 'account.address_verified', 'account.address_change_requested', 'account.address_changed', 'account.address_change_undone', 'account.earlier_address_removed', 'account.secured', 'account.banned', 'account.unbanned', 'account.suspended', 'account.reinstated', 'recovery.requested', 'recovery.link_created', 'account.recovered', 'consent.granted', 'consent.denied', 'consent.revoked', 'organization.member_set', 'organization.member_removed', 'group.member_added', 'group.member_removed', 'access.assigned', 'access.unassigned', 'export.requested', 'export.downloaded') order by -"e"."id" limit ?;
select "ends_at" as "at" from "client_token" where "ends_at" <= ? order by "ends_at" limit ?;
select "expires_at" as "at" from "address_change" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "authorization_code" where "expires_at" <= ? and "redeemed_at" is null order by "expires_at" limit ?;
select "expires_at" as "at" from "browser_session" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "challenge" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "client_assertion" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "interaction" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "invitation" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "pending_sign_in" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "playground_visit" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" as "at" from "trusted_browser" where "expires_at" <= ? order by "expires_at" limit ?;
select "expires_at" from "address_change" where "hash" = ? and "by_operator" = ?;
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> ? and ("f"."dead_reason" is null or "f"."dead_reason" <> ?) and "f"."grant_id" = ? group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> ? and ("f"."dead_reason" is null or "f"."dead_reason" <> ?) and "g"."revoked_at" is null and "f"."id" = ? group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> ? and ("f"."dead_reason" is null or "f"."dead_reason" <> ?) and "g"."revoked_at" is null and "g"."account_id" = ? and "f"."sid" <> ? group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> ? and ("f"."dead_reason" is null or "f"."dead_reason" <> ?) and "g"."revoked_at" is null and "g"."account_id" = ? and "f"."sid" = ? group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> ? and ("f"."dead_reason" is null or "f"."dead_reason" <> ?) and "g"."revoked_at" is null and "g"."account_id" = ? group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required";
select "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", max("f"."created_at") as "latest", "g"."account_id" from "token_family" as "f" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "c"."backchannel_logout_uri" is not null and "c"."status" <> ? and ("f"."dead_reason" is null or "f"."dead_reason" <> ?) and "g"."revoked_at" is null and "g"."account_id" > ? and "g"."account_id" <= ? group by "f"."client_id", "f"."sid", "c"."backchannel_logout_session_required", "g"."account_id";
select "f"."id", "f"."account_id", "f"."client_id", "f"."member_id", "s"."id" as "assignment_id", "s"."account_id" as "assigned_id", "s"."group_id", "s"."organization_id" from "token_family" as "f" inner join "app_assignment" as "s" on "s"."id" = "f"."assignment_id" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" where "f"."dead_at" is null and "g"."account_id" = ? and "c"."status" = ? and case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end = ? order by "f"."id" desc limit ?;
select "f"."id", "f"."account_id", "f"."client_id", "f"."member_id", "s"."id" as "assignment_id", "s"."account_id" as "assigned_id", "s"."group_id", "s"."organization_id" from "token_family" as "f" inner join "app_assignment" as "s" on "s"."id" = "f"."assignment_id" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" where "f"."dead_at" is null and "f"."assignment_id" = ? and "f"."id" > ? order by "f"."id" limit ?;
select "f"."id", "f"."account_id", "f"."client_id", "f"."member_id", "s"."id" as "assignment_id", "s"."account_id" as "assigned_id", "s"."group_id", "s"."organization_id" from "token_family" as "f" inner join "app_assignment" as "s" on "s"."id" = "f"."assignment_id" inner join "account" as "a" on "a"."id" = "f"."account_id" and "a"."generation" = "f"."account_generation" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" where "f"."dead_at" is null and "f"."id" = ? and "f"."assignment_id" = ? and case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = "f"."assignment_id" and s.client_id = c.id and s.ended_at is null and (
      s.account_id = "f"."account_id"
      or exists (select 1 from group_member as gm where gm.id = "f"."member_id"
        and gm.group_id = s.group_id and gm.account_id = "f"."account_id")
      or exists (select 1 from membership as om where om.id = "f"."member_id"
        and om.organization_id = s.organization_id and om.account_id = "f"."account_id"))
  ) then 1 else 0 end = ? ;
select "f"."id", "f"."grant_id", "f"."leaf_expires_at", "f"."rotated_at", "f"."dead_reason", "f"."created_at", "g"."revoked_at", "s"."expires_at", "s"."last_seen_at" from "token_family" as "f" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" left join "browser_session" as "s" on "s"."sid" = "f"."sid" where "f"."review_at" <= ? order by "f"."review_at" limit ?;
select "g"."client_id", "g"."face", "c"."name", "c"."owner", "c"."picture", "c"."homepage_url", "c"."redirect_uris", "g"."scopes", "g"."declined_scopes", "g"."resources", "g"."created_at", "g"."decided_by", "g"."last_used_at" as "used_before", max(coalesce("f"."rotated_at", "f"."created_at")) as "last_used_at" from "consent_grant" as "g" inner join "client" as "c" on "c"."id" = "g"."client_id" left join "token_family" as "f" on "f"."grant_id" = "g"."id" where "g"."account_id" = ? and "g"."revoked_at" is null group by "g"."id", "g"."last_used_at", "g"."client_id", "g"."face", "c"."name", "c"."owner", "c"."picture", "c"."homepage_url", "c"."redirect_uris", "g"."scopes", "g"."declined_scopes", "g"."resources", "g"."created_at", "g"."decided_by" order by "g"."id";
select "g"."id", "g"."revoked_at", "c"."name" from "consent_grant" as "g" inner join "client" as "c" on "c"."id" = "g"."client_id" where "g"."account_id" = ? and "g"."client_id" = ? and "g"."revoked_at" = (select max("revoked_at") as "revoked_at" from "consent_grant" where "account_id" = ? and "client_id" = ?);
select "hash" from "address_change" where "email_key" = ? and "account_id" <> ? and "expires_at" > ? and "by_operator" = ? limit ?;
select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ? and "client_id" = ?) and "redeemed_at" is null and ("acr" is null or "acr" not in (?, ?)) limit ?;
select "hash" from "authorization_code" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "redeemed_at" is null and ("acr" is null or "acr" not in (?, ?)) limit ?;
select "hash" from "browser_session" where "account_id" = ? and ("acr" is null or "acr" not in (?, ?)) limit ?;
select "hash" from "recovery_code" where "account_id" = ? and "created_at" < ? and "used_at" is null limit ?;
select "hash", "account_id", "email", "created_at", "factors_since", "expires_at", "by_operator" from "address_change" where "account_id" = ? and "expires_at" > ? and "by_operator" = ? order by "created_at" desc;
select "hash", "account_id", "email", "created_at", "factors_since", "expires_at", "by_operator" from "address_change" where "hash" = ? and "expires_at" > ? and "by_operator" = ?;
select "hash", "account_id", "generation", "browser", "system", "network", "created_at", "expires_at" from "trusted_browser" where "account_id" = ? and "generation" = ? and "expires_at" > ? order by "created_at" desc;
select "hash", "account_id", "generation", "browser", "system", "network", "created_at", "expires_at" from "trusted_browser" where "hash" = ? and "account_id" = ? and "generation" = ? and "expires_at" > ?;
select "hash", "account_id", "generation", "browser_hash", "methods", "factors_since", "interaction_hash", "created_at", "expires_at" from "pending_sign_in" where "hash" = ?;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "account_id" = ? and "purpose" = ?;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "account_id" = ? and "purpose" = ? and "used_at" is null and "expires_at" > ? order by "created_at" limit ?;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "browser_hash" = ? and "purpose" = ? order by "created_at" desc limit ?;
select "hash", "purpose", "account_id", "generation", "address", "browser_hash", "code_hash", "sealed", "admin_key_id", "created_at", "expires_at", "used_at" from "challenge" where "hash" = ?;
select "hash", "resources" from "authorization_code" where "grant_id" = ? and "resources" is not null and "redeemed_at" is null;
select "hash", "sid", "account_id", "generation", "auth_time", "last_seen_at", "expires_at", "browser", "system", "network", "amr", "acr", "proved_at", "proved_by", "proved_factor_since", "proved_after" from "browser_session" where "account_id" = ? and "generation" = ? and "expires_at" > ? and "last_seen_at" > ? and "sid" <> ? order by "auth_time" desc, "sid" limit ? offset ?;
select "held_until" as "at" from "username_reservation" where "held_until" <= ? order by "held_until" limit ?;
select "id" from "account" where "deletion_due_at" <= ? limit ?;
select "id" from "account" where "id" = ?;
select "id" from "account" where "id" = ? ;
select "id" from "account" where "id" > ? order by "id" limit ?;
select "id" from "admin_key" order by "id" ;
select "id" from "admin_key" where "hash" = ? and "revoked_at" is null;
select "id" from "admin_key" where "hash" = ? and "revoked_at" is null ;
select "id" from "admin_key" where "id" = ? ;
select "id" from "admin_key" where "id" = ? and "revoked_at" is null;
select "id" from "app_assignment" where "client_id" = ? and "role" = ? and "ended_at" is null limit ?;
select "id" from "app_assignment" where ("organization_id" = ? or "group_id" in (select "id" from "user_group" where "organization_id" = ?));
select "id" from "client" where "id" = ?;
select "id" from "client" where ("id_token_signed_response_alg" = ? or "userinfo_signed_response_alg" = ?) limit ?;
select "id" from "configured_admin_key" where "id" = ? ;
select "id" from "data_export" where "state" = 'waiting' and "due_at" <= ? order by "due_at" limit ?;
select "id" from "group_member" where "account_id" = ? and "organization_id" = ? order by "id" ;
select "id" from "group_member" where "group_id" = ? and "account_id" = ? ;
select "id" from "group_member" where "id" = ? ;
select "id" from "membership" where "account_id" = ? and "organization_id" = ? ;
select "id" from "membership" where "id" = ? ;
select "id" from "organization" where "id" = ? ;
select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ? and "client_id" = ?) and "dead_at" is null and ("acr" is null or "acr" not in (?, ?)) limit ?;
select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "dead_at" is null and ("acr" is null or "acr" not in (?, ?)) limit ?;
select "id" from "user_group" where "organization_id" = ? and "deleted_at" is null;
select "id", "account_id" from "consent_grant" where "client_id" = ? and "id" > ? order by "id" limit ?;
select "id", "account_id", "public_key", "counter", "transports", "name", "aaguid", "backup_eligible", "backed_up", "created_at", "last_used_at" from "passkey" where "account_id" = ? order by "created_at", "id";
select "id", "account_id", "public_key", "counter", "transports", "name", "aaguid", "backup_eligible", "backed_up", "created_at", "last_used_at" from "passkey" where "id" = ?;
select "id", "at" from "audit_event" order by "id" limit ?;
select "id", "at" from "audit_event" where "id" <= ? order by "id" desc limit ?;
select "id", "at" from "audit_event" where "id" > ? order by "id" limit ?;
select "id", "at" from "trace_step" order by "id" limit ?;
select "id", "at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts" from "trace_step" where "flow" = ? order by "id" desc limit ?;
select "id", "at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts" from "trace_step" where "leads_to" = ? order by "id" desc limit ?;
select "id", "at", "request_id", "client_id", "account_id", "step", "outcome", "flow", "leads_to", "facts" from "trace_step" where "request_id" = ? order by "id" desc limit ?;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "account_id" = ? order by "id";
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "client_id" = ? and "id" > ? order by "id" limit ?;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "client_id" = ? and "role" = ? and ("account_id" = ? or "group_id" = ? or "organization_id" = ?);
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "group_id" = ? order by "id";
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "id" = ? ;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "id" = ? and "client_id" = ?;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "id" = ? and "client_id" = ? ;
select "id", "client_id", "account_id", "group_id", "organization_id", "role", "created_at" from "app_assignment" where "ended_at" is null and "organization_id" = ? order by "id";
select "id", "deleted_at" from "user_group" where "deleted_at" is not null order by "deleted_at" limit ?;
select "id", "details" from "audit_event" where "account_id" = ? and "type" in ('account.banned', 'account.suspended');
select "id", "ended_at" from "app_assignment" where "ended_at" is not null order by "ended_at" limit ?;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = ? and "client_id" = ? and "revoked_at" is null;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = ? and "client_id" = ? and "revoked_at" is null and "face" = ?;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = ? and "client_id" = ? and "revoked_at" is null and "face" = ? ;
select "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by" from "consent_grant" where "account_id" = ? and "client_id" = ? and "revoked_at" is null order by "face" ;
select "id", "hash", "created_at", "last_used_at", "expires_at" from "client_secret" where "client_id" = ? and ("expires_at" is null or "expires_at" > ?) order by case when "expires_at" is null then 1 else 0 end, "id";
select "id", "hash", "email", "mailed", "organization_id", "role", "inviter_id", "admin_key_id", "created_at", "expires_at", "used_at", "used_by" from "invitation" where "hash" = ?;
select "id", "hash", "email", "mailed", "organization_id", "role", "inviter_id", "admin_key_id", "created_at", "expires_at", "used_at", "used_by" from "invitation" where "id" > ? order by "id" limit ?;
select "id", "kind", "account_id", "recipient", "status", "attempts", "created_at", "expires_at", "due_at", "settled_at", "problem" from "mail" where "id" < ? order by "id" desc limit ?;
select "id", "kind", "account_id", "recipient", "status", "attempts", "created_at", "expires_at", "due_at", "settled_at", "problem" from "mail" where "status" = ? and "id" < ? order by "id" desc limit ?;
select "id", "message_id", "kind", "recipient", "sealed", "created_at" from "mail" where "status" = ? order by "id" desc limit ?;
select "id", "name" from "client_api_scope" where "client_id" = ? and "api_id" = ? order by "name";
select "id", "name", "created_at", "revoked_at" from "admin_key" order by "id";
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "id" = ?;
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "id" = ? ;
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "id" > ? order by "id" limit ?;
select "id", "name", "description", "logo_url", "homepage_url", "policy_url", "terms_url", "redirect_uris", "post_logout_redirect_uris", "scopes", "grant_types", "resource", "resource_scopes", "consent", "type", "require_pkce", "id_token_signed_response_alg", "default_max_age", "backchannel_logout_uri", "backchannel_logout_session_required", "userinfo_signed_response_alg", "token_endpoint_auth_method", "jwks", "jwks_uri", "faces", "id_token_claims", "require_second_factor", "access", "roles", "groups_claim", "claim_names", "owner", "contacts", "picture", "status", "left_out", "consent_approval", "generation", "consent_epoch", "created_at", "updated_at" from "client" where "resource" = ?;
select "id", "name", "domain", "require_second_factor", "created_at" from "organization" where "id" = ?;
select "id", "name", "domain", "require_second_factor", "created_at" from "organization" where "id" > ? order by "id" limit ?;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" = ?;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" = ? ;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" > ? and "id" <= ? and (? = ? or "organization_id" = ?) and ("id" = ? or "name" like ? escape '\' or lower("display_name") like ? escape '\' or "display_name" like ? escape '\') order by "id" limit ?;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "id" > ? order by "id" limit ?;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "organization_id" = ? and "id" > ? order by "id" limit ?;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "organization_id" = ? and "name" = ?;
select "id", "organization_id", "name", "display_name", "description", "source", "created_at", "updated_at", "deleted_at" from "user_group" where "deleted_at" is null and "organization_id" is null and "name" = ?;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "email_key" = ?;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" = ?;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" = ? ;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" > ? and "id" <= ? and "id" <> ? and ("id" = ? or "username" like ? escape '\' or "email_key" like ? escape '\' or lower("display_name") like ? escape '\' or "display_name" like ? escape '\') order by "id" limit ?;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "id" > ? order by "id" limit ?;
select "id", "password_hash", "password_set_at", "generation", "banned_at", "banned_until", "ban_reason", "suspended_at", "suspension_reason", "deletion_requested_at", "deletion_due_at", "created_at", "updated_at", "username", "display_name", "email", "email_verified", "about", "language", "theme", "website", "location", "birth_date", "phone", "social_links", "avatar_color", "picture", "email_key" from "account" where "username" = ?;
select "id", "priority", "account_id", "recipient" from "mail" where "status" = ? and "priority" = ? and "recipient_domain" = ? and due_at - 0 <= ? order by due_at - 0 limit ?;
select "id", "priority", "account_id", "recipient" from "mail" where "status" = ? and "priority" = ? and due_at + 0 <= ? order by due_at + 0 limit ?;
select "id", "purpose", "sealed", "created_at", "attempts" from "mail_request" where "due_at" <= ? order by "due_at" limit ?;
select "id", "resources" from "token_family" where "grant_id" = ? and "resources" is not null and "dead_at" is null;
select "key_id" from "configured_admin_key" where "id" = ? and "key_id" = ?;
select "key_id", "hash" from "configured_admin_key" where "id" = ?;
select "key_id", "hash" from "configured_admin_key" where "id" = ? ;
select "kid", "alg", "sealed", "public_jwk", "created_at", "signs_from" from "id_token_key" order by "signs_from" desc, "kid";
select "kid", "sealed", "created_at", "retired_at" from "signing_key" order by "created_at" desc;
select "last_seen_at" as "at" from "browser_session" where "last_seen_at" <= ? order by "last_seen_at" limit ?;
select "last_seen_at" as "at" from "known_browser" where "last_seen_at" <= ? order by "last_seen_at" limit ?;
select "last_seen_at" from "known_browser" where "account_id" = ? and "browser_hash" = ?;
select "m"."account_id", "m"."added_at", "a"."username" from "group_member" as "m" inner join "account" as "a" on "a"."id" = "m"."account_id" where "m"."group_id" = ? and "m"."account_id" > ? order by "m"."account_id" limit ?;
select "m"."organization_id" from "membership" as "m" inner join "account" as "a" on "a"."id" = "m"."account_id" inner join "invitation" as "i" on "i"."used_by" = "m"."account_id" and "i"."organization_id" = "m"."organization_id" where "m"."account_id" = ? and "i"."used_at" >= ? and "i"."used_at" > "a"."created_at" limit ?;
select "membership"."account_id", "membership"."role", "account"."username" from "membership" inner join "account" on "account"."id" = "membership"."account_id" where "membership"."organization_id" = ? order by "membership"."account_id";
select "name" from "consent_revocation" where "account_id" = ? and "client_id" = ?;
select "name", "earliest_version" as "earliest" from "schema_migration" where "name" > ?;
select "node", "expires_at" as "endsAt" from "node_lease" where "expires_at" <= ? order by "node" limit ? ;
select "node", "holder", "expires_at" as "endsAt" from "node_lease" where "expires_at" > ?;
select "o"."id" from "membership" as "m" inner join "organization" as "o" on "o"."id" = "m"."organization_id" where "o"."require_second_factor" = ? and "m"."account_id" = ?;
select "o"."origin" from "client_origin" as "o" inner join "client" as "c" on "c"."id" = "o"."client_id" where "o"."origin" = ? and "c"."status" <> ? limit ?;
select "organization"."id", "organization"."name", "organization"."domain", "membership"."role" from "membership" inner join "organization" on "organization"."id" = "membership"."organization_id" where "membership"."account_id" = ?;
select "recipient_domain" from "mail" where "status" = ? and "priority" = ? and "recipient_domain" > ? order by "recipient_domain" limit ?;
select "review_at" from "token_family" where "review_at" > ? and "review_at" <= ? order by "review_at" limit ?;
select "revoked_at" as "at" from "consent_grant" where "revoked_at" <= ? and "revoked_at" > 0 order by "revoked_at" limit ?;
select "role" from "membership" where "account_id" = ? and "organization_id" = ? ;
select "s"."hash", "s"."sid", "s"."account_id", "s"."generation", "s"."auth_time", "s"."last_seen_at", "s"."expires_at", "s"."browser", "s"."system", "s"."network", "s"."amr", "s"."acr", "s"."proved_at", "s"."proved_by", "s"."proved_factor_since", "s"."proved_after", "a"."id" as "a_id", "a"."password_hash" as "a_password_hash", "a"."password_set_at" as "a_password_set_at", "a"."generation" as "a_generation", "a"."banned_at" as "a_banned_at", "a"."banned_until" as "a_banned_until", "a"."ban_reason" as "a_ban_reason", "a"."suspended_at" as "a_suspended_at", "a"."suspension_reason" as "a_suspension_reason", "a"."deletion_requested_at" as "a_deletion_requested_at", "a"."deletion_due_at" as "a_deletion_due_at", "a"."created_at" as "a_created_at", "a"."updated_at" as "a_updated_at", "a"."username" as "a_username", "a"."display_name" as "a_display_name", "a"."email" as "a_email", "a"."email_verified" as "a_email_verified", "a"."about" as "a_about", "a"."language" as "a_language", "a"."theme" as "a_theme", "a"."website" as "a_website", "a"."location" as "a_location", "a"."birth_date" as "a_birth_date", "a"."phone" as "a_phone", "a"."social_links" as "a_social_links", "a"."avatar_color" as "a_avatar_color", "a"."picture" as "a_picture", (select "o"."id" from "membership" as "m" inner join "organization" as "o" on "o"."id" = "m"."organization_id" where "o"."require_second_factor" = ? and "m"."account_id" = "s"."account_id") as "required_by_id" from "browser_session" as "s" inner join "account" as "a" on "a"."id" = "s"."account_id" where "s"."hash" = ?;
select "s"."hash", "s"."sid", "s"."account_id", "s"."generation", "s"."auth_time", "s"."last_seen_at", "s"."expires_at", "s"."browser", "s"."system", "s"."network", "s"."amr", "s"."acr", "s"."proved_at", "s"."proved_by", "s"."proved_factor_since", "s"."proved_after", "a"."id" as "a_id", "a"."password_hash" as "a_password_hash", "a"."password_set_at" as "a_password_set_at", "a"."generation" as "a_generation", "a"."banned_at" as "a_banned_at", "a"."banned_until" as "a_banned_until", "a"."ban_reason" as "a_ban_reason", "a"."suspended_at" as "a_suspended_at", "a"."suspension_reason" as "a_suspension_reason", "a"."deletion_requested_at" as "a_deletion_requested_at", "a"."deletion_due_at" as "a_deletion_due_at", "a"."created_at" as "a_created_at", "a"."updated_at" as "a_updated_at", "a"."username" as "a_username", "a"."display_name" as "a_display_name", "a"."email" as "a_email", "a"."email_verified" as "a_email_verified", "a"."about" as "a_about", "a"."language" as "a_language", "a"."theme" as "a_theme", "a"."website" as "a_website", "a"."location" as "a_location", "a"."birth_date" as "a_birth_date", "a"."phone" as "a_phone", "a"."social_links" as "a_social_links", "a"."avatar_color" as "a_avatar_color", "a"."picture" as "a_picture", (select "o"."id" from "membership" as "m" inner join "organization" as "o" on "o"."id" = "m"."organization_id" where "o"."require_second_factor" = ? and "m"."account_id" = "s"."account_id") as "required_by_id" from "browser_session" as "s" inner join "account" as "a" on "a"."id" = "s"."account_id" where "s"."hash" = ? ;
select "s"."id", "s"."client_id", "s"."account_id", "s"."group_id", "s"."organization_id", "s"."role", "s"."created_at" from "app_assignment" as "s" where "s"."client_id" = ? and "s"."ended_at" is null and "s"."account_id" = ? order by "s"."id";
select "s"."id", "s"."client_id", "s"."account_id", "s"."group_id", "s"."organization_id", "s"."role", "s"."created_at", "m"."id" as "member_id" from "group_member" as "m" inner join "app_assignment" as "s" on "s"."group_id" = "m"."group_id" where "m"."account_id" = ? and "s"."client_id" = ? and "s"."ended_at" is null order by "s"."id";
select "s"."id", "s"."client_id", "s"."account_id", "s"."group_id", "s"."organization_id", "s"."role", "s"."created_at", "m"."id" as "member_id" from "membership" as "m" inner join "app_assignment" as "s" on "s"."organization_id" = "m"."organization_id" where "m"."account_id" = ? and "s"."client_id" = ? and "s"."ended_at" is null order by "s"."id";
select "s"."id", "s"."name", "s"."api_id", "a"."resource" from "client_api_scope" as "s" inner join "client" as "a" on "a"."id" = "s"."api_id" where "s"."client_id" = ? and "a"."status" <> ? and "a"."resource" is not null order by "s"."api_id", "s"."name";
select "sealed" from "data_export_piece" where "account_id" = ? and "number" >= ? order by "number" limit ?;
select "sealed" from "data_key" where "id" = ?;
select "sealed", "last_step" from "totp_secret" where "account_id" = ? and "confirmed_at" is not null;
select "t"."client_generation", "t"."ends_at", "t"."dead_at", "t"."scopes", "c"."status", "c"."generation", "k"."version" from "client_token" as "t" inner join "client" as "c" on "c"."id" = "t"."client_id" inner join "key_set" as "k" on "k"."id" = ? where "t"."jti" = ? and "t"."client_id" = ?;
select "t"."client_generation", "t"."ends_at", "t"."dead_at", "t"."scopes", "c"."status", "c"."generation", "k"."version" from "client_token" as "t" inner join "client" as "c" on "c"."id" = "t"."client_id" inner join "key_set" as "k" on "k"."id" = ? where "t"."jti" = ? and "t"."client_id" = ? ;
select "u"."id", "u"."name", "u"."display_name", "u"."organization_id", "o"."name" as "organization", "m"."added_at" from "group_member" as "m" inner join "user_group" as "u" on "u"."id" = "m"."group_id" left join "organization" as "o" on "o"."id" = "u"."organization_id" where "m"."account_id" = ? and "m"."group_id" > ? and "u"."deleted_at" is null order by "m"."group_id" limit ?;
select "u"."id", "u"."name", "u"."organization_id", "o"."name" as "organization" from "group_member" as "m" inner join "user_group" as "u" on "u"."id" = "m"."group_id" left join "organization" as "o" on "o"."id" = "u"."organization_id" where "m"."account_id" = ? and "u"."deleted_at" is null and exists (select "s"."id" from "app_assignment" as "s" where "s"."group_id" = "u"."id" and "s"."ended_at" is null and "s"."client_id" = ?) order by "u"."name", "u"."id" limit ?;
select "u"."id", "u"."name", "u"."organization_id", "o"."name" as "organization" from "group_member" as "m" inner join "user_group" as "u" on "u"."id" = "m"."group_id" left join "organization" as "o" on "o"."id" = "u"."organization_id" where "m"."account_id" = ? and "u"."deleted_at" is null order by "u"."name", "u"."id" limit ?;
select "used_at", "expires_at" from "invitation" where "hash" = ?;
select "username", "account_id", "held_until" from "username_reservation" where "username" = ?;
select "username", "held_until" from "username_reservation" where "account_id" = ? order by "held_until";
select "version" from "key_set" where "id" = ?;
select "version" from "key_set" where "id" = ? ;
select "window_ends_at" as "at" from "rate_count" where "window_ends_at" <= ? order by "window_ends_at" limit ?;
select count(*) as "count" from "mail" where "status" = ?;
select count(*) as "count" from "node_lease" where "expires_at" > ?;
select count(*) as "count", min("created_at") as "oldest" from "mail" where "status" = ?;
select count(*) as "issued", count("used_at") as "used" from "recovery_code" where "account_id" = ?;
select count(*) as "notices" from "logout_notice";
select distinct "client_id" from "client_api_scope" where "api_id" = ? and "client_id" > ? order by "client_id" limit ?;
select distinct "client_id" from "consent_grant" where "account_id" = ? and "revoked_at" is null and "updated_at" >= ?;
select distinct "f"."sid", "f"."client_id", "c"."name" from "token_family" as "f" inner join "consent_grant" as "g" on "g"."id" = "f"."grant_id" inner join "client" as "c" on "c"."id" = "f"."client_id" and "c"."generation" = "f"."client_generation" where "g"."account_id" = ? and "f"."account_generation" = ? and "f"."dead_at" is null and "f"."ends_at" > ? and "g"."revoked_at" is null and "c"."status" <> ? order by "c"."name";
select distinct "withdrawn_scopes" as "before" from "authorization_code" where "grant_id" = ? and "redeemed_at" is null;
select distinct "withdrawn_scopes" as "before" from "token_family" where "grant_id" = ? and "dead_at" is null;
select max("node") as "node" from "node_lease";
select max("step"."id") as "id" from (select "id" from "account" where "id" > ? order by "id" limit ?) as "step";
select max("step"."id") as "id" from (select "id" from "user_group" where "id" > ? order by "id" limit ?) as "step";
update "account" set "generation" = ? where "id" > ? and "id" <= ?;
update "account" set "id" = ?, "password_hash" = ?, "password_set_at" = ?, "generation" = ?, "banned_at" = ?, "banned_until" = ?, "ban_reason" = ?, "suspended_at" = ?, "suspension_reason" = ?, "deletion_requested_at" = ?, "deletion_due_at" = ?, "created_at" = ?, "updated_at" = ?, "username" = ?, "display_name" = ?, "email" = ?, "email_verified" = ?, "about" = ?, "language" = ?, "theme" = ?, "website" = ?, "location" = ?, "birth_date" = ?, "phone" = ?, "social_links" = ?, "avatar_color" = ?, "picture" = ?, "email_key" = ? where "id" = ?;
update "address_change" set "by_operator" = ? where "account_id" = ? and "by_operator" = ?;
update "address_change" set "expires_at" = ? where "account_id" = ? and "expires_at" > ? and "by_operator" = ?;
update "admin_key" set "revoked_at" = ? where "id" = ? and "revoked_at" is null returning "id";
update "admin_key" set "revoked_at" = ? where "revoked_at" is null returning "id";
update "app_assignment" set "ended_at" = ? where "id" = ? and "ended_at" is null returning "id";
update "app_assignment" set "role" = ? where "id" = ?;
update "audit_event" set "details" = ? where "id" = ?;
update "authorization_code" set "redeemed_at" = ?, "family_id" = ? where "hash" = ? and coalesce("redeemed_at", 0) = 0 returning "hash";
update "authorization_code" set "withdrawn_scopes" = ? where "grant_id" = ? and "withdrawn_scopes" = ? and "redeemed_at" is null;
update "browser_session" set "last_seen_at" = ? where "hash" = ?;
update "challenge" set "used_at" = ?, "code_hash" = ?, "sealed" = ? where "hash" = ? and "used_at" is null returning "hash";
update "client" set "generation" = ?;
update "client" set "generation" = ?, "consent_epoch" = ?;
update "client" set "id" = ?, "name" = ?, "description" = ?, "logo_url" = ?, "homepage_url" = ?, "policy_url" = ?, "terms_url" = ?, "redirect_uris" = ?, "post_logout_redirect_uris" = ?, "scopes" = ?, "grant_types" = ?, "resource" = ?, "resource_scopes" = ?, "consent" = ?, "type" = ?, "require_pkce" = ?, "id_token_signed_response_alg" = ?, "default_max_age" = ?, "backchannel_logout_uri" = ?, "backchannel_logout_session_required" = ?, "userinfo_signed_response_alg" = ?, "token_endpoint_auth_method" = ?, "jwks" = ?, "jwks_uri" = ?, "faces" = ?, "id_token_claims" = ?, "require_second_factor" = ?, "access" = ?, "roles" = ?, "groups_claim" = ?, "claim_names" = ?, "owner" = ?, "contacts" = ?, "picture" = ?, "status" = ?, "left_out" = ?, "consent_approval" = ?, "generation" = ?, "consent_epoch" = ?, "created_at" = ?, "updated_at" = ? where "id" = ?;
update "client" set "left_out" = ? where "id" = ?;
update "client_secret" set "expires_at" = ? where "id" = ?;
update "client_secret" set "last_used_at" = ? where "id" = ?;
update "client_token" set "dead_at" = ? where "jti" = ? and "dead_at" is null;
update "configured_admin_key" set "key_id" = ?, "hash" = ? where "id" = ?;
update "consent_grant" set "last_used_at" = ? where "id" = ? and ("last_used_at" is null or "last_used_at" < ?);
update "consent_grant" set "revoked_at" = ? where "account_id" = ? and "client_id" = ? and "revoked_at" is null returning "id";
update "consent_grant" set "scopes" = ?, "declined_scopes" = ?, "resources" = ?, "consent_epoch" = ?, "ask_again" = ?, "decided_by" = ?, "updated_at" = ? where "id" = ? returning "id", "face", "scopes", "declined_scopes", "resources", "consent_epoch", "ask_again", "decided_by";
update "data_export" set "due_at" = ?, "attempts" = "attempts" + ? where "account_id" in (select "account_id" from "data_export" where "state" = 'waiting' and "due_at" <= ? order by "due_at" limit ?) and "state" = 'waiting' and "due_at" <= ? returning "account_id", "id", "generation", "state", "pieces", "events", "last_event", "bytes", "attempts", "created_at";
update "data_export" set "state" = ? where "account_id" = ? and "id" = ?;
update "data_export" set "state" = ?, "pieces" = "pieces" + ?, "events" = ?, "last_event" = ?, "bytes" = ?, "attempts" = ?, "due_at" = ? where "account_id" = ? and "id" = ? and "state" = 'waiting' and "pieces" = ? returning "id";
update "data_key" set "sealed" = ? where "id" = ? and "sealed" = ? returning "id";
update "id_token_key" set "given_up_at" = ? where "alg" = ?;
update "id_token_key" set "sealed" = ? where "kid" = ? and "sealed" = ? returning "kid";
update "id_token_key" set "signs_from" = ? where "kid" = ?;
update "interaction" set "browser_hash" = ? where "hash" = ? and "browser_hash" = ?;
update "interaction" set "chosen_session" = ? where "hash" = ?;
update "interaction" set "chosen_session" = ? where "hash" = ? and "chosen_session" = ?;
update "interaction" set "outcome" = ? where "hash" = ? and "outcome" is null returning "hash";
update "interaction" set "signed_in_session" = ? where "hash" = ?;
update "interaction" set "signed_in_session" = ? where "hash" = ? and "signed_in_session" = ?;
update "invitation" set "admin_key_id" = ? where "admin_key_id" = ? and "used_at" is null returning "expires_at";
update "invitation" set "used_at" = ?, "used_by" = ? where "id" = ? and "used_at" is null returning "id";
update "key_set" set "version" = ? where "id" = ?;
update "logout_notice" set "due_at" = ? where "id" = ? and "attempts" = ? returning "id";
update "logout_notice" set "due_at" = ?, "attempts" = "attempts" + ? where "id" in (select "id" from "logout_notice" where "client_id" = ? and "due_at" <= ? order by "due_at" limit ?) and "due_at" <= ? returning "id", "client_id", "account_id", "sid", "created_at", "attempts";
update "mail" set "due_at" = ?, "attempts" = "attempts" + ?, "unconfirmed" = "unconfirmed" + ? where "id" = ? and "status" = ? and "due_at" <= ? returning "id", "message_id", "kind", "priority", "account_id", "recipient", "challenge_hash", "sealed", "attempts", "unconfirmed", "created_at", "expires_at";
update "mail" set "due_at" = ?, "unconfirmed" = "unconfirmed" - ?, "problem" = ? where "id" = ? and "status" = ? and "attempts" = ? returning "id";
update "mail" set "recipient" = ?, "recipient_domain" = ?, "sealed" = ?, "problem" = ? where "status" in (?, ?, ?) and "account_id" = ?;
update "mail" set "status" = ?, "due_at" = ?, "settled_at" = ? where "status" in (?, ?) and "account_id" = ?;
update "mail" set "status" = ?, "sealed" = ?, "due_at" = ?, "settled_at" = ?, "problem" = ? where "id" = ? and "status" = ? and "attempts" = ? returning "id";
update "mail" set "status" = ?, "sealed" = ?, "due_at" = ?, "settled_at" = ?, "problem" = ? where "id" = ? and "status" = ? returning "id";
update "mail" set "status" = ?, "sealed" = ?, "due_at" = ?, "settled_at" = ?, "problem" = ? where "status" = ? and "due_at" <= ? and "expires_at" <= ?;
update "mail" set "status" = ?, "sealed" = ?, "due_at" = ?, "settled_at" = ?, "problem" = ? where "status" = ? and "kind" = ?;
update "mail_request" set "attempts" = "attempts" + ?, "due_at" = ? where "id" = ? and "attempts" = ? returning "id";
update "node_lease" set "holder" = ?, "expires_at" = ? where "node" = ? and "expires_at" <= ? returning "node";
update "node_lease" set "holder" = ?, "expires_at" = ? where "node" = ? and "holder" = ?;
update "node_lease" set "holder" = ?, "expires_at" = ? where "node" = ? and "holder" = ? returning "node";
update "organization" set "require_second_factor" = ? where "id" = ?;
update "passkey" set "counter" = ?, "backed_up" = ?, "last_used_at" = ? where "id" = ?;
update "passkey" set "name" = ? where "id" = ? and "account_id" = ? returning "id";
update "playground_visit" set "sealed" = ? where "browser_hash" = ? and "client_id" = ? and "turn" = ?;
update "playground_visit" set "turn" = "turn" + ? where "browser_hash" = ? and "client_id" = ? and "turn" = ? returning "turn";
update "rate_count" set "count" = "count" - ? where "bucket" = ? and "count" >= ?;
update "rate_count" set "window_ends_at" = ? where "bucket" = ? and "window_ends_at" = ? returning "bucket";
update "recovery_code" set "used_at" = ? where "account_id" = ? and "hash" = ? and "used_at" is null returning "created_at";
update "signing_key" set "retired_at" = ? where "retired_at" is null;
update "signing_key" set "sealed" = ? where "kid" = ? and "sealed" = ? returning "kid";
update "token_family" set "assignment_id" = ?, "member_id" = ? where "id" = ? returning "id";
update "token_family" set "dead_at" = ?, "dead_reason" = ? where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "sid" <> ? and "dead_at" is null;
update "token_family" set "dead_at" = ?, "dead_reason" = ? where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "sid" = ? and "dead_at" is null;
update "token_family" set "dead_at" = ?, "dead_reason" = ? where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "sid" = ? and "ends_with_session" = ? and "dead_at" is null;
update "token_family" set "dead_at" = ?, "dead_reason" = ? where "id" = ? and "dead_at" is null;
update "token_family" set "dead_at" = ?, "dead_reason" = ? where "id" in (select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ? and "client_id" = ?) and "dead_at" is null and ("acr" is null or "acr" not in (?, ?))) and "dead_at" is null returning "id";
update "token_family" set "dead_at" = ?, "dead_reason" = ? where "id" in (select "id" from "token_family" where "grant_id" in (select "id" from "consent_grant" where "account_id" = ?) and "dead_at" is null and ("acr" is null or "acr" not in (?, ?))) and "dead_at" is null returning "id";
update "token_family" set "review_at" = ? where "id" = ?;
update "token_family" set "sequence" = "sequence" + ?, "leaf_jti" = ?, "leaf_kid" = ?, "leaf_issued_at" = ?, "leaf_expires_at" = ?, "predecessor_jti" = ?, "rotated_at" = ? where "id" = ?;
update "token_family" set "withdrawn_scopes" = ? where "grant_id" = ? and "withdrawn_scopes" = ? and "dead_at" is null;
update "totp_secret" set "last_step" = ? where "account_id" = ? and "sealed" = ? and "last_step" < ? returning "confirmed_at";
update "user_group" set "deleted_at" = ? where "id" = ?;
update "user_group" set "name" = ?, "display_name" = ?, "description" = ?, "updated_at" = ? where "id" = ?;
