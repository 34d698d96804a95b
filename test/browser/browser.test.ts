// store: SQLite
/*
 * The pages in a real Chromium. All cases share one browser and one server, so they are one test file; each case has
 * persons, apps and a browser context of its own.
 */
import { after, before, describe } from 'node:test';
import { conditionCases } from './cases/conditions.ts';
import { consentCases } from './cases/consent.ts';
import { consoleCases } from './cases/console.ts';
import { crossOriginCases } from './cases/cross-origin.ts';
import { flowCases } from './cases/flow.ts';
import { foreignCases } from './cases/foreign.ts';
import { formPostCases } from './cases/form-post.ts';
import { guardCases } from './cases/guards.ts';
import { hostileCases } from './cases/hostile.ts';
import { keyboardCases } from './cases/keyboard.ts';
import { pageCases } from './cases/pages.ts';
import { passkeyCases } from './cases/passkeys.ts';
import { pictureCases } from './cases/pictures.ts';
import { playgroundCases } from './cases/playground.ts';
import { popupCases } from './cases/popup.ts';
import { providerCases } from './cases/providers.ts';
import { scannerCases } from './cases/scanner.ts';
import { screenReaderCases } from './cases/screen-reader.ts';
import { troubleCases } from './cases/trouble.ts';
import { waysBackCases } from './cases/ways-back.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage | undefined;
before(async () => {
  stage = await openStage();
});
after(() => stage?.close());

const theStage = (): Stage => {
  if (stage === undefined) throw new Error('the stage is not open');
  return stage;
};

// The walks through all pages have servers of their own, so they run beside the cases, which share one.
describe('the pages in Chromium', { concurrency: 3 }, () => {
  pageCases(theStage);
  troubleCases(theStage);
  waysBackCases(theStage);
  consoleCases(theStage);
  describe('the cases', { concurrency: 1 }, () => {
    flowCases(theStage);
    consentCases(theStage);
    conditionCases(theStage);
    formPostCases(theStage);
    keyboardCases(theStage);
    screenReaderCases(theStage);
    passkeyCases(theStage);
    pictureCases(theStage);
    hostileCases(theStage);
    guardCases(theStage);
    foreignCases(theStage);
    crossOriginCases(theStage);
    playgroundCases(theStage);
    providerCases(theStage);
    popupCases(theStage);
    scannerCases(theStage);
  });
});
