#!/usr/bin/env node
import './require-node.js';
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('../src/cli/main.ts');
