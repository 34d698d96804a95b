import type { Generated } from 'kysely';
import type { StoredId, StoredInstant, StoredJson } from '../platform/database/schema.ts';

/** The rights that operators gave. It outlives them: nothing that it names need still be there. */
interface GivenRightTable {
  id: Generated<StoredId>;
  kind: string;
  maker_id: StoredId;
  /** The account, or the admin key. */
  holder_id: StoredId;
  role: string;
  organization_id: StoredId | null;
  expires_at: StoredInstant | null;
  given_at: StoredInstant;
  review_at: StoredInstant;
}

/** What operators changed of an app, an organization or a group that may let somebody in. */
interface SettingChangeTable {
  id: Generated<StoredId>;
  operator_id: StoredId;
  client_id: StoredId | null;
  organization_id: StoredId | null;
  group_id: StoredId | null;
  /** What fields had before, and after. */
  changes: StoredJson;
  acted_at: StoredInstant;
}

/** A right that somebody had and that was changed or taken away. */
interface RightChangeTable {
  id: Generated<StoredId>;
  /** Null for the command line, and for the person who gave it up. */
  operator_id: StoredId | null;
  kind: string;
  client_id: StoredId | null;
  account_id: StoredId | null;
  group_id: StoredId | null;
  organization_id: StoredId | null;
  /** Which of the rights of this holder at this place. */
  item: string;
  /** Null where there was none. */
  former: StoredJson | null;
  former_maker_id: StoredId | null;
  former_given_at: StoredInstant;
  acted_at: StoredInstant;
}

declare module '../platform/database/schema.ts' {
  interface Tables {
    given_right: GivenRightTable;
    setting_change: SettingChangeTable;
    right_change: RightChangeTable;
  }
}
