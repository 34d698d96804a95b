/** By what an account knows a browser, as the cookie has it. */
interface KnownMark {
  /** A tag of the account, in this browser alone; empty in a cookie of version 0.2, which had one secret for all accounts. */
  readonly account: string;
  readonly secret: string;
}

export const KNOWN_TAG_LENGTH = 8;
const MARK = /^([\w-]{8}|)([\w-]{43})$/;
/** A browser is known to this many accounts: those that signed in last. */
const MOST = 8;

/** The marks of a cookie, the latest sign-in first. */
export const parseMarks = (cookie: string): readonly KnownMark[] =>
  cookie.split('.').flatMap((mark) => {
    const [, account, secret] = MARK.exec(mark) ?? [];
    return account === undefined || secret === undefined ? [] : [{ account, secret }];
  });

/** A cookie with the mark of an account in place of its earlier one. Those of the other accounts stay as they are. */
export const withMark = (cookie: string, mark: KnownMark): string =>
  [mark, ...parseMarks(cookie).filter(({ account }) => account !== mark.account)]
    .slice(0, MOST)
    .map(({ account, secret }) => account + secret)
    .join('.');
