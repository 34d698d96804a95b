/** What stands around the texts of every message. */
export const layoutTexts = {
  /** Before the link in full, under its button. */
  orOpen: 'Or open this address:',
  /** A label that stands on a line of its own, in plain text. */
  above: (label: string) => `${label}:`,
  help: (contact: string) => `Need help? Contact ${contact}.`,
  /** Whom to contact where the settings name nobody. */
  operatorOf: (host: string) => `the operator of ${host}`,
  labeled: (label: string, value: string) => `${label}: ${value}`,
} as const;
