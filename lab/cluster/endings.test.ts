// store: PostgreSQL
/** Decisions §12: access that is taken away at one process is gone at every other at once, beside everything else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WHOLE } from '../../test/support/whole.ts';
import { type ClusterKind, startCluster } from './cluster.ts';
import { ENDINGS, runEndings, summarizeEndings } from './endings.ts';

const CLUSTERS: Readonly<Record<string, ClusterKind>> = {
  'two nodes on PostgreSQL': {},
  'two processes of one service on SQLite': { isOneService: true, store: 'SQLite' },
};

describe('every ending of access, against code, refresh, consent and sign-in', () => {
  for (const [kind, how] of Object.entries(CLUSTERS)) {
    test(kind, async (t) => {
      const cluster = await startCluster(2, how);
      try {
        const summary = await runEndings(cluster, { endings: WHOLE ? 600 : 60, seed: 1 });
        t.diagnostic(summarizeEndings(summary));
        assert.deepEqual(summary.faults, []);
        assert.equal(summary.accepted, 0);
        assert.equal(summary.byEnding.size, ENDINGS.length);
        // Positive controls: a server that refuses everything, or a check that sees nothing, would fail here.
        assert.ok(summary.presentedElsewhere > 0 && summary.presentedByOthers > 0 && summary.givenBack > 0);
        assert.equal(summary.acceptedElsewhere, summary.presentedElsewhere);
        assert.equal(summary.acceptedOfOthers, summary.presentedByOthers);
        assert.equal(summary.signedIn, summary.givenBack);
      } finally {
        await cluster.close();
      }
    });
  }
});
