/*
 * Success criteria of WCAG 2.2 that axe does not judge, asked of every page at which a walk stops. Each is a text that runs in the page
 * and answers what is wrong there.
 */
import type { Page } from 'playwright-core';

/** What every criterion may use. */
const TOOLS = `
  const all = (selector, part = document) => [...part.querySelectorAll(selector)];
  const textOf = (node) => (node?.textContent ?? '').replaceAll(/\\s+/g, ' ').trim();
  const main = document.querySelector('main');
  const isNarrow = document.body.classList.contains('narrow');
  const isConsole = document.body.classList.contains('console');
`;

/** A verb with which a text tells people what to do. */
const REMEDY =
  '/\\b(add|allow|ask|begin|change|check|choose|clear|confirm|connect|contact|copy|create|enter|fill in|get|go|give|keep|leave|let|look|make|name|open|pick|press|put|recover|remove|reload|select|send|set|sign|start|switch|try|type|use|verify|wait|write)\\b/i';

/** By clause. */
export const CRITERIA: Readonly<Record<string, string>> = {
  '4.1.3 status messages are told to readers': `
    const wrong = [
      ...all('.notice.done').filter((notice) => notice.getAttribute('role') !== 'status'),
      ...all('.notice.problem').filter((notice) => notice.getAttribute('role') !== 'alert'),
      ...all('[data-strength-of]').filter((line) => line.getAttribute('aria-live') !== 'polite'),
    ];
    const copies = all('button:is([data-copy], [data-copy-of]):not([hidden])').length > 0;
    const isTold = document.querySelector('body > .unseen[aria-live=polite]') !== null;
    return [...wrong.map((node) => node.outerHTML.slice(0, 100)), ...(copies && !isTold ? ['nothing tells that a text was copied'] : [])];`,

  '2.2.1 a time limit is said, and one can begin again': `
    const refreshes = all('meta[http-equiv=refresh]').map(() => 'the page reloads by itself');
    // An authenticator app makes its codes, also where it is set up.
    const sets = document.querySelector('main .qr') !== null;
    const fromMail = (field) => !sets && !/app|recovery code/i.test(textOf(document.getElementById(field.id + '-note')) + textOf(document.querySelector('label[for="' + field.id + '"]')));
    const codes = all('input:is([name=sent_code], [autocomplete=one-time-code])').filter(fromMail);
    const says = /\\b(minute|minutes|hour|hours)\\b/.test(textOf(main));
    const again = all('main :is(a, button, summary)').some((node) => /another|again|new|send|change|back/i.test(textOf(node)));
    return [...refreshes, ...codes.flatMap(() => [says || 'no time limit is said for the code', again || 'there is no way to another code']).filter((fault) => fault !== true)];`,

  '3.3.1 an error names its field': `
    const invalid = all('[aria-invalid=true]');
    // One problem stands once, at its field, which has the focus. More are listed above the form.
    const isOne = invalid.length === 1 && document.querySelector('[role=alert]') === null;
    const fields = invalid.flatMap((field) => {
      const note = document.getElementById((field.getAttribute('aria-describedby') ?? '').split(' ')[0]);
      const isListed = all('[role=alert] a').some((link) => link.hash === '#' + field.id);
      const isTold = isOne ? field.autofocus : isListed;
      return [textOf(note) !== '' || field.name + ' is invalid without a text', isTold || field.name + ' is in no summary and without the focus'];
    });
    const twice = all('[role=alert]').filter((summary) => invalid.length === 1 && summary.querySelector('ul')?.children.length === 1);
    const dead = all('[role=alert] a[href^="#"]').filter((link) => document.getElementById(link.hash.slice(1)) === null);
    const isTitled = document.title.startsWith('Error: ') === (invalid.length > 0 || document.querySelector('main [role=alert]') !== null);
    return [...fields.filter((fault) => fault !== true), ...twice.map((summary) => textOf(summary) + ' stands twice'), ...(isTitled ? [] : ['the title does not say whether something is wrong']), ...dead.map((link) => link.hash + ' is nowhere')];`,

  '3.3.3 an error says what to do': `
    const texts = [...all('.field > .problem'), ...all('[role=alert] > p')];
    const advises = (node) => ${REMEDY}.test(textOf(node)) || node.querySelector('a[href]') !== null;
    return texts.filter((node) => textOf(node) !== '' && !advises(node)).map(textOf);`,

  '3.3.4 what cannot be undone is confirmed': `
    // The acts of the console have pages of their own, which say what will stop. The playground made its app a minute ago. Signing in
    // again undoes a sign-out.
    if (isConsole || document.body.classList.contains('broad')) return [];
    const isConfirmed = (button) =>
      isNarrow ||
      button.closest('details.confirm') !== null ||
      button.form?.querySelector('input:is([type=checkbox])') !== null ||
      button.form?.getAttribute('action').endsWith('/account/sign-out-everywhere');
    return all('main button.danger').filter((button) => !isConfirmed(button)).map(textOf);`,

  '3.3.7 what a person told is filled in for them': `
    const OWN = ['identifier', 'username', 'email', 'displayName', 'phone', 'website', 'birthDate', 'current', 'password'];
    const asks = all('main form input:not([type=hidden], [hidden])').filter((field) => OWN.includes(field.name));
    return isConsole ? [] : asks.filter((field) => !field.hasAttribute('autocomplete')).map((field) => field.name + ' cannot be filled in');`,
};

/** What of the criteria the page does not meet. */
export async function unmet(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const [clause, check] of Object.entries(CRITERIA)) {
    const found = await page.evaluate<string[]>(`(() => { ${TOOLS} ${check} })()`);
    faults.push(...found.map((fault) => `${clause}: ${fault}`));
  }
  return faults;
}
