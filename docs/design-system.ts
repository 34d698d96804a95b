import { readFileSync } from 'node:fs';
import { COLORS } from '../src/accounts/rules/profile.ts';
import {
  copyable,
  day,
  doneNotice,
  fact,
  facts,
  field,
  fileField,
  isolate,
  moment,
  NO_PROBLEMS,
  passwordField,
  problemSummary,
  selectField,
  swatches,
  textArea,
} from '../src/pages/components.ts';
import { adviceFacts, developerDetails } from '../src/pages/error-page.ts';
import { Html, html } from '../src/pages/html.ts';
import { document, type Site } from '../src/pages/layout.ts';
import { tile } from '../src/pages/mark.ts';
import { en } from '../src/pages/messages.ts';

/** The URLs of the page's resources and of the documentation's contents page. */
export interface Place {
  readonly style: string;
  readonly icon: string;
  readonly contents: string;
}

/** In the repository, the page loads the style sheet that the service serves. */
export const IN_THE_REPOSITORY: Place = {
  style: '../../src/pages/assets/style.css',
  icon: '../../src/pages/assets/icon.svg',
  contents: '../README.md',
};

const style = readFileSync(new URL('../src/pages/assets/style.css', import.meta.url), 'utf8');

const siteAt = ({ style: sheet, icon, contents }: Place): Site => ({
  path: (path) => (path.startsWith('/assets/style') ? sheet : path.startsWith('/assets/icon') ? icon : contents),
  messages: en,
  host: 'id.example.com',
});

const app = { letters: 'AN', picture: undefined };
const person = { letters: 'AL', picture: undefined };

interface Part {
  readonly name: string;
  readonly about: string;
  readonly make: () => Html;
}

const wrong = { fields: { identifier: 'Enter your username or email address.' }, general: [] };
const nearest = {
  registered: 'http://localhost:8080/cb',
  differences: ['port'] as const,
  respelled: false,
};

const PARTS: readonly Part[] = [
  {
    name: 'The mark',
    about:
      'A tile broken in two. On the consent page the app’s half and the person’s half join when access is about to be allowed.',
    make: () =>
      html`<p class="actions">${tile({ kind: 'mark' })}${tile({ kind: 'large', app, person })}${tile({ kind: 'large', app })}</p>`,
  },
  {
    name: 'Buttons',
    about:
      'One primary button for the next step; two of equal weight for a choice; danger for deleting or revoking; a link for secondary actions.',
    make: () =>
      html`<button class="primary" type="button">Sign in</button><div class="pair"><button class="equal" type="button">Don’t allow</button><button class="equal" type="button">Allow</button></div><div class="actions"><button class="danger" type="button">Take away access</button><button class="link" type="button">Sign out</button></div>`,
  },
  {
    name: 'Field',
    about: 'The label above, the hint below it. A problem replaces the hint.',
    make: () =>
      html`<form>${field({ name: 'displayName', label: 'Name', type: 'text', autocomplete: 'name', hint: 'The name that other people see.', value: 'Ada Lovelace', problems: NO_PROBLEMS })}${field({ name: 'identifier', label: 'Username or email', type: 'text', autocomplete: 'username', value: '', problems: wrong })}</form>`,
  },
  {
    name: 'Password',
    about: 'With a button that reveals it, if script is available.',
    make: () =>
      passwordField({
        name: 'password',
        label: 'Password',
        autocomplete: 'current-password',
        problems: NO_PROBLEMS,
        messages: en,
      }),
  },
  {
    name: 'Multi-line text, and a choice',
    about: 'Both have a label above, like every field.',
    make: () =>
      html`<form>${textArea({ name: 'about', label: 'About', hint: 'At most 500 characters.', rows: 3, value: 'Writes programs.', problems: NO_PROBLEMS })}${selectField(
        {
          name: 'theme',
          label: 'Theme',
          value: 'dark',
          problems: NO_PROBLEMS,
          options: [
            ['light', 'Light'],
            ['dark', 'Dark'],
          ],
        },
      )}</form>`,
  },
  {
    name: 'File, and a choice of colors',
    about: 'The file button is the browser’s own; each color has its name next to it.',
    make: () =>
      html`<form>${fileField({ name: 'picture', label: 'Picture file', hint: html`JPEG, PNG or WebP, up to 1 MB.`, accept: ['image/png'], largest: 0, problems: NO_PROBLEMS })}${swatches({ name: 'avatarColor', label: 'Color of your initials', hint: 'Your initials are shown where you have no picture.', value: COLORS[0], colors: COLORS, names: en.profile.colors })}</form>`,
  },
  {
    name: 'Switch',
    about: 'One row for each optional scope, with the value that would be shared.',
    make: () =>
      html`<ul class="rows"><li><label for="phone"><span class="name">Phone</span><span class="figures">+90 555 123 45 67</span></label><input class="switch" type="checkbox" role="switch" id="phone" checked></li></ul>`,
  },
  {
    name: 'Problems and confirmations',
    about: 'Above the form. It takes the focus, and each problem links to its field.',
    make: () => html`${problemSummary(en, wrong)}${doneNotice(html`<p>Your profile is saved.</p>`)}`,
  },
  {
    name: 'Facts',
    about: 'A small name above its value, as in a passport. Text from people and apps is isolated; times are in UTC.',
    make: () =>
      facts([
        fact('Name', isolate('Ada Lovelace')),
        fact('Birth date', day('1990-12-10')),
        fact('Last used', moment(Date.UTC(2026, 2, 1, 12))),
      ]),
  },
  {
    name: 'For the developer',
    about: 'Below a line on every error: what was received, what was expected, what to do, and the correlation id.',
    make: () => {
      const came = { name: 'redirect_uri', value: 'http://localhost:3000/cb' };
      const advice = {
        description: '',
        came,
        nearest,
        remedy: 'Send the registered one, or register this one too:',
        command: 'tessera client update …',
      };
      return developerDetails(en, adviceFacts(en, advice), '00000000-0000-4000-8000-000000000000');
    },
  },
  {
    name: 'Code',
    about: 'A request or response, unchanged; long lines wrap.',
    make: () => html`<pre>${'GET /api/v2/oauth/userinfo HTTP/1.1\nAuthorization: Bearer …'}</pre>`,
  },
  {
    name: 'A text to copy',
    about: 'With a copy button, if script is available.',
    make: () => copyable('openid email', en.error, 'Copy the scopes'),
  },
];

const slug = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]+/g, '-');

/** The custom properties of the first rule: their names, and their values as written. */
const tokens = [...(/:root \{([^}]*)\}/.exec(style)?.[1] ?? '').matchAll(/(--[a-z-]+): ([^;]+);/g)].map(
  ([, name = '', value = '']) => ({ name, value }),
);

/** The font sizes that the style sheet uses. */
const sizes = [
  ...new Set([...style.matchAll(/(?:font-size: |font:\s+)([\d.]+)rem/g)].map(([, size]) => Number(size))),
].sort((a, b) => a - b);

const raw = (text: string): Html => new Html(text);

function section(name: string, about: string, content: Html): Html {
  return html`<section class="card" id="${slug(name)}"><header><h2>${name}</h2><p class="muted small">${about}</p></header>${content}</section>`;
}

const colors = (): Html =>
  facts(
    tokens.map(({ name, value }) => {
      const sample = value.startsWith('light-dark(') || value.startsWith('oklch(');
      const swatch = raw(
        `<span class="letters" style="background: var(${name}); border: 1px solid var(--line)"></span>`,
      );
      return fact(
        html`<code>${name}</code>`,
        html`<span class="copyable">${sample && swatch}<code>${value}</code></span>`,
        true,
      );
    }),
  );

const type = (): Html =>
  facts(
    sizes.map((size) =>
      fact(
        `${size} rem, ${size * 16} px`,
        raw(`<span style="font-size: ${size}rem">Calm, exact, like a passport</span>`),
        true,
      ),
    ),
  );

/** A page with all components, rendered by the same functions and style sheet as the service's pages. */
export function designSystem(note: string, place: Place): string {
  const text =
    'All components of the pages, rendered by the same functions and style sheet as the service’s own pages.';
  const names = ['Colors', 'Type', ...PARTS.map(({ name }) => name)];
  const page = document(siteAt(place), {
    title: 'Design',
    layout: 'wide',
    body: html`<nav class="side" aria-label="Design">${names.map((name) => html`<a href="#${slug(name)}">${name}</a>`)}</nav><div class="stack"><header><h1>Design</h1><p class="muted">${text}</p></header>
${section('Colors', 'Custom properties of the root, each in light and dark mode.', colors())}
${section('Type', 'The system’s sans-serif and monospace fonts; line height 1.5, headings 1.25 and weight 600. Spacing uses steps of 4 px; controls are at least 44 px high.', type())}
${PARTS.map(({ name, about, make }) => section(name, about, make()))}</div>`,
  });
  return page
    .replace('<!doctype html>', `<!doctype html>\n${note}`)
    .replace(/<script [^>]*><\/script>\n/, '')
    .replaceAll(' autofocus', '');
}
