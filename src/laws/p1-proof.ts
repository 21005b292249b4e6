import { hostOffBehind } from './host-off.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import { proofsGiven } from './proof-given.ts';
import { provenFrom, provenSince, stableOffs } from './proof.ts';
import { revocationBehind } from './revocation.ts';
import { waitBehind } from './wait.ts';
import { wordBehind } from './word.ts';

/**
 * P1, proof before release: storage read back as revoked, for pods in isolation; else own off on every device of the node, a stable off read back, and the machine truly off all the while; or a person's word
 * for this very failure, and no device that read on after it; or a watchdog or a dump that was waited for, of a machine that truly went down;
 * or the operator of its BareMetalHost, which had been asked by us and has said so. What a fence takes for a proof of off is one, also where nothing is released.
 */
export const proofBeforeRelease: Law = (history, expectations) => {
  const verdict = new Verdict();
  for (const release of history.releases) {
    const say = (holds: boolean, why: string): void => {
      verdict.check(holds, release.at, `${release.what}, but ${why}`);
    };
    const hostOff = hostOffBehind(history, release);
    if (hostOff !== undefined) {
      for (const [holds, why] of hostOff.checks) say(holds, why);
      continue;
    }
    const isFenced = history.fenceOf(release.node, release.position) !== undefined;
    say(isFenced, `no NodeFence of ${release.node} stood`);
    const other = wordBehind(history, release) ?? revocationBehind(history, expectations, release) ?? waitBehind(history, release);
    if (other !== undefined) {
      for (const [holds, why] of other.checks) say(holds, why);
      continue;
    }
    const offs = stableOffs(history, release, expectations);
    say(offs.length > 0, `no device of ${release.node} had been told off since the fence began`);
    for (const off of offs) {
      const seen = `${String(off.reads.length)} reads over ${String(spanOf(off.reads.map(({ event }) => event.at)))} ms`;
      say(provenFrom(off, expectations) !== undefined, `${off.device} had not shown off stably: ${seen}`);
    }
    const from = Math.min(provenSince(offs, expectations), release.position);
    const rose = history.powerEdges(release.node, from, release.position).some((edge) => edge.state === 'on');
    if (offs.length > 0) say(!history.isPoweredOn(release.node, from) && !rose, `${release.node} was not powered off from its proof until then`);
  }
  for (const { at, checks } of proofsGiven(history, expectations)) {
    for (const [holds, complaint] of checks) verdict.check(holds, at, complaint);
  }
  return verdict;
};

function spanOf(times: readonly number[]): number {
  return Math.round((times.at(-1) ?? 0) - (times[0] ?? 0));
}
