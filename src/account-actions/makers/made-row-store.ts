import { type Expression, expressionBuilder } from 'kysely';
import type { Tables } from '../../platform/database/schema.ts';

/** What somebody made that is still there, as a query for each column that names an operator, but for the chain of rights and openings. */
export function madeByHolder(holder: Expression<string>) {
  const eb = expressionBuilder<Tables, never>();
  return [
    eb.selectFrom('admin_key').select('admin_key.id').where('admin_key.maker_id', '=', holder),
    eb.selectFrom('operator_grant').select('operator_grant.id').where('operator_grant.maker_id', '=', holder),
    eb.selectFrom('membership').select('membership.id').where('membership.role_maker_id', '=', holder),
    eb.selectFrom('membership').select('membership.id').where('membership.maker_id', '=', holder),
    eb.selectFrom('group_member').select('group_member.id').where('group_member.maker_id', '=', holder),
    eb.selectFrom('app_assignment').select('app_assignment.id').where('app_assignment.maker_id', '=', holder),
    eb.selectFrom('client_act').select('client_act.id').where('client_act.operator_id', '=', holder),
    eb.selectFrom('upstream_act').select('upstream_act.id').where('upstream_act.operator_id', '=', holder),
    eb.selectFrom('upstream_effect').select('upstream_effect.id').where('upstream_effect.operator_id', '=', holder),
    eb.selectFrom('setting_change').select('setting_change.id').where('setting_change.operator_id', '=', holder),
    eb.selectFrom('right_change').select('right_change.id').where('right_change.operator_id', '=', holder),
    eb.selectFrom('account_act').select('account_act.id').where('account_act.operator_id', '=', holder),
    eb
      .selectFrom('blocked_client_domain')
      .select('blocked_client_domain.operator_id')
      .where('blocked_client_domain.operator_id', '=', holder),
    eb
      .selectFrom('unblocked_client_domain')
      .select('unblocked_client_domain.operator_id')
      .where('unblocked_client_domain.operator_id', '=', holder),
    eb.selectFrom('invitation').select('invitation.id').where('invitation.operator_id', '=', holder),
    eb.selectFrom('invitation').select('invitation.id').where('invitation.admin_key_id', '=', holder),
    eb
      .selectFrom('initial_access_token')
      .select('initial_access_token.id')
      .where('initial_access_token.admin_key_id', '=', holder),
  ];
}
