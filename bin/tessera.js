#!/usr/bin/env node
import './require-node.js';
// The default import: an older Node lacks the name, and should come as far as saying so.
import module from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { currentBundle } from './bundle.js';

// Beside what was installed, where only those write who may change the program itself: Node's own choice is a folder under
// /tmp, which anybody on the machine could make first. Where it cannot be written, or NODE_COMPILE_CACHE names one, so be it.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/tessera', import.meta.url)));
const bundle = currentBundle();
await import(bundle === undefined ? '../src/cli/main.ts' : pathToFileURL(bundle));
