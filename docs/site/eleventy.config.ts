import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { designSystem } from '../design-system.ts';
import { layout } from './layout.ts';
import { anchors, contents, deadLink, links, read, root } from './markdown.ts';

/** The part of Eleventy's configuration API that is used here. */
interface Eleventy {
  addPassthroughCopy(files: Readonly<Record<string, string>>): void;
  addGlobalData(name: string, value: unknown): void;
  on(event: 'eleventy.after', work: (built: { directories: { output: string } }) => void): void;
  addTransform(name: string, transform: (this: { page: { inputPath: string } }, content: string) => string): void;
}

/** Builds the documentation site: `npm run site`. */
export default function configure(eleventy: Eleventy) {
  const sections = contents();
  const source = process.env['SITE_SOURCE_URL']?.replace(/\/$/, '');

  eleventy.addPassthroughCopy({
    'docs/images': 'images',
    'docs/site/site.css': 'assets/site.css',
    'src/web/kit/assets/style.css': 'assets/style.css',
    'src/web/kit/assets/icon.svg': 'assets/icon.svg',
  });
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
    return layout({ page, body, sections, anchorOf: anchors(), source });
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
