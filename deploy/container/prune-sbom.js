// Removes from a bill of materials what is not in the image: packages of other platforms, and those that only tests need.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const path = process.argv[2];
const bom = JSON.parse(readFileSync(path, 'utf8'));
const isHere = ({ name }) => existsSync(`node_modules/${name}`);
const kept = bom.components.filter(isHere);
const references = new Set([bom.metadata.component, ...kept].map((component) => component['bom-ref']));
bom.components = kept;
bom.dependencies = bom.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((name) => references.has(name)) }));
writeFileSync(path, `${JSON.stringify(bom)}\n`);
