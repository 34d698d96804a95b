import { VERSION } from '../../../platform/version.ts';
import { type Finding, ok, warning } from '../finding.ts';
import type { ProbeReport } from '../probe.ts';

/** @param seen what the running service reported; undefined if it did not accept the probe, or was not asked */
export function judgeVersion(seen: Pick<ProbeReport, 'version'> | undefined): Finding[] {
  if (seen === undefined) return [ok('version', `This is Tessera ${VERSION}.`)];
  if (seen.version === VERSION) return [ok('version', `This and the running service are Tessera ${VERSION}.`)];
  const found = `This is Tessera ${VERSION}, and the running service is version ${seen.version}.`;
  const remedy =
    'Restart the service to run the installed version; during a rolling upgrade, this ends with the last node.';
  return [warning('version', found, remedy)];
}
