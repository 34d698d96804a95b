/** What stands around the texts of every message. */
export const layoutTexts = {
  /** Before the link in full, under its button. */
  orOpen: 'Or open this address:',
  /** A label that stands on a line of its own, in plain text. */
  above: (label: string) => `${label}:`,
  /** Names the service, as most messages do nowhere else, and whom to ask. */
  help: ({ contact, host }: { readonly contact?: string | undefined; readonly host: string }) =>
    contact === undefined
      ? `Need help? Contact the operator of ${host}.`
      : `Need help with ${host}? Contact ${contact}.`,
  labeled: (label: string, value: string) => `${label}: ${value}`,
} as const;
