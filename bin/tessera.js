#!/usr/bin/env node
import './require-node.js';
// The default import: an older Node lacks the name, and should come as far as saying so.
import module from 'node:module';

module.enableCompileCache();
await import('../src/cli/main.ts');
