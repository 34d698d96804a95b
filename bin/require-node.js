// Plain JavaScript, because the Node that must be told apart cannot read TypeScript.
const major = Number(process.versions.node.split('.')[0]);
if (major < 26) {
  console.error(
    `Tessera needs Node 26 or newer; this is ${process.version} (${process.execPath}).\n` +
      'Run it through npm (npm start, npm test, npm run tessera -- …): npm finds the Node 26 that `npm ci` installed.',
  );
  process.exit(1);
}
