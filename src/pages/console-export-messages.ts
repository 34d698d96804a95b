import type { HtmlPart } from './html.ts';

/** The texts of the console's pages that save a list to a file. */
export const consoleExportTexts = {
  link: 'Save to a file',
  lead: 'The file is written while the list is read. If your role or your session ends meanwhile, its last line says that it is not complete. That you saved it is on record.',
  csv: 'Save as CSV',
  jsonl: 'Save as JSON lines',
  events: {
    title: 'Save events to a file',
    all: 'Every event that is kept, the newest first.',
    filtered: (filters: HtmlPart): HtmlPart => ['The events with ', filters, ', the newest first.'],
  },
  people: {
    title: 'Save people to a file',
    all: 'Everybody with an account, the newest first.',
    containing: (text: HtmlPart): HtmlPart => ['Everybody whose name, username or address contains ', text, '.'],
  },
} as const;
