import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { designSystem } from '../design-system.ts';
import { type Article, article, layout } from './layout.ts';
import { contents, deadLink, links, read, root } from './markdown.ts';
import { notFoundPage, searchIndex, searchPage } from './search.ts';

/** The part of Eleventy's configuration API that is used here. */
interface Eleventy {
  addPassthroughCopy(files: Readonly<Record<string, string>>): void;
  addGlobalData(name: string, value: unknown): void;
  addMarkdownHighlighter(highlight: (code: string, language: string) => string): void;
  on(event: 'eleventy.after', work: (built: { directories: { output: string } }) => void): void;
  addTransform(name: string, transform: (this: { page: { inputPath: string } }, content: string) => string): void;
}

interface Highlighter {
  getLanguage(name: string): unknown;
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
}

// Its types bring those of a browser along, which contradict Node's.
const highlighter = createRequire(import.meta.url)('highlight.js') as Highlighter;

/** Marks the parts of a block of code, where its language is known. An empty text leaves it as it is. */
const highlight = (code: string, language: string): string =>
  highlighter.getLanguage(language) === undefined ? '' : highlighter.highlight(code, { language }).value;

/** Builds the documentation site: `npm run site`. */
export default function configure(eleventy: Eleventy) {
  const sections = contents();
  const source = process.env['SITE_SOURCE_URL']?.replace(/\/$/, '');
  // The page for unknown URLs is shown at any of them, so its links must begin with the site's path.
  const path = `${process.env['SITE_PATH']?.replace(/\/$/, '') ?? ''}/`;
  const articles = new Map<string, Article>();

  eleventy.addPassthroughCopy({
    'docs/images': 'images',
    'docs/site/site.css': 'assets/site.css',
    'docs/site/site.js': 'assets/site.js',
    'docs/site/search.js': 'assets/search.js',
    'node_modules/minisearch/dist/umd/index.js': 'assets/minisearch.js',
    'src/pages/assets/style.css': 'assets/style.css',
    'src/pages/assets/icon.svg': 'assets/icon.svg',
    'src/pages/assets/script.js': 'assets/script.js',
  });
  eleventy.addMarkdownHighlighter(highlight);
  eleventy.addGlobalData(
    'permalink',
    () =>
      ({ page }: { page: { filePathStem: string } }) =>
        `${page.filePathStem.replace(/README$/, 'index')}.html`,
  );
  eleventy.addTransform('layout', function (body) {
    const page = relative(root, this.page.inputPath);
    const dead = links(read(page)).flatMap((link) => deadLink(page, link) ?? []);
    if (dead.length > 0) throw new Error(dead.join('\n'));
    const made = article(page, body, source);
    articles.set(page, made);
    return layout(made, sections);
  });
  eleventy.on('eleventy.after', ({ directories: { output } }) => {
    writeFileSync(join(output, 'search.html'), layout(searchPage(sections, articles), sections));
    writeFileSync(join(output, 'assets/search-index.js'), searchIndex([...articles.values()]));
    writeFileSync(join(output, '404.html'), layout(notFoundPage(path), sections, path));
  });
  // Not Markdown: the page is rendered by the product's own functions, with links for its place on the site.
  eleventy.on('eleventy.after', ({ directories }) => {
    const folder = join(directories.output, 'reference');
    mkdirSync(folder, { recursive: true });
    const place = { style: '../assets/style.css', icon: '../assets/icon.svg', contents: '../index.html' };
    writeFileSync(join(folder, 'design.html'), designSystem('', place));
  });

  return {
    dir: { input: 'docs', output: 'site' },
    templateFormats: ['md'],
    // Braces in the pages are not template syntax.
    markdownTemplateEngine: false,
  };
}
