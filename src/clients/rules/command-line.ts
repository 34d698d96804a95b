/** The client ID of the command line, with which people sign in to the admin API: decisions §15. No ID that is given out is as small. */
export const COMMAND_LINE_ID = '1000';

/** For how long a person who signed in on the command line may use the admin API, in seconds. It is not renewed. */
export const COMMAND_LINE_LIFETIME = 8 * 60 * 60;

/** The resource (RFC 8707) that the tokens of the command line are for. */
export const adminResource = (issuer: string): string => `${issuer}/api/v2/admin`;

export const isCommandLine = ({ id }: { readonly id: string }): boolean => id === COMMAND_LINE_ID;
