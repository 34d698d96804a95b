// Makes npm's bill of materials that of the image: without packages of other platforms and those that only tests need, which are not in
// it, and with those of Debian.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const [path, dpkgStatus] = process.argv.slice(2);
const bom = JSON.parse(readFileSync(path, 'utf8'));
const isHere = ({ name }) => existsSync(`node_modules/${name}`);
const kept = bom.components.filter(isHere);
const references = new Set([bom.metadata.component, ...kept].map((component) => component['bom-ref']));
bom.components = [...kept, ...debianPackages()];
bom.dependencies = bom.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((name) => references.has(name)) }));
writeFileSync(path, `${JSON.stringify(bom)}\n`);

/** The installed packages, with the purl by which scanners find their vulnerabilities. */
function debianPackages() {
  const [, release] = /^VERSION_ID="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'));
  const paragraphs = readFileSync(dpkgStatus, 'utf8').trim().split('\n\n');
  return paragraphs.flatMap((paragraph) => {
    const field = (name) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1];
    if (field('Status') !== 'install ok installed') return [];
    const [name, version] = [field('Package'), field('Version')];
    const qualifiers = new URLSearchParams({ arch: field('Architecture'), distro: `debian-${release}` });
    // Vulnerabilities are listed by source package.
    const [source, ofVersion] = (field('Source') ?? name).split(' ');
    if (source !== name) qualifiers.set('upstream', `${source}${ofVersion ? `@${ofVersion.slice(1, -1)}` : ''}`);
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${qualifiers}`;
    return [{ type: 'library', name, version, purl, 'bom-ref': purl }];
  });
}
