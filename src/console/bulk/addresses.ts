import type { BulkActName } from '../../account-actions/bulk/acts.ts';

export const BULK = '/console/people/bulk';

/** Where lists are made, begun and stopped. */
export const BULK_FORMS = { make: `${BULK}/new`, start: `${BULK}/start`, stop: `${BULK}/stop` } as const;

/** Where the people for an act are named. @param members the group whose members they are */
export const bulkAddress = (act: BulkActName, members?: string): string =>
  `${BULK_FORMS.make}?${new URLSearchParams({ act, ...(members !== undefined && { members }) })}`;

/** The page about one list, and what became of it. */
export const bulkListAddress = (id: string): string => `${BULK}/lists/${id}`;
