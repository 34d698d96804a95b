/** What settings are about, in the order of the page. A setting is in the first area whose pattern its name matches. */
export const SETTING_AREAS = {
  limits: /^TESSERA_LIMIT_/,
  people: /SIGN_UP|SIGN_IN_CODE|_SECOND_FACTOR$|TRUSTED_BROWSERS|PASSWORD_/,
  apps: /CLIENT_METADATA|REGISTRATION|DISCOVERY|DEVELOP|PLAYGROUND|OUTGOING/,
  mail: /SMTP|MAIL|CONTACT/,
  records: /^OTEL_|LOG_|METRICS|RETENTION|TRACEPARENT/,
  access: /ADMIN_KEY|COMMAND_LINE|SECRET|KEY_ROTATION|KEY_FILE/,
  server: /./,
} as const;
export type SettingArea = keyof typeof SETTING_AREAS;

const NAMES = Object.keys(SETTING_AREAS) as SettingArea[];

export const areaOf = (name: string): SettingArea => NAMES.find((area) => SETTING_AREAS[area].test(name)) ?? 'server';
