/** Where each list is saved to a file. */
export const EXPORT_ADDRESSES = { events: '/console/events/export', people: '/console/people/export' } as const;
