import { OUT_OF_SERVICE } from '../../../controllers/metal3-remediation/names.ts';
import type { TraceEvent } from '../../../laws/trace.ts';
import type { Node } from '../../../ports/objects.ts';
import { setsOf } from '../device-findings.ts';
import { writesOf } from '../machine-remediation/cycle-findings.ts';

/** Its Node was tainted out of service by us after its off, and the taint was taken back before its on; as often as it was switched off. */
export function taintedProblems(trace: readonly TraceEvent[], node: string): string[] {
  const marks = changesOf(trace, node);
  const sets = setsOf(trace, node).map(({ at, want }) => ({ at, what: want === 'off' ? 'off' : 'on' }));
  const told = [...marks, ...sets].sort((one, other) => one.at - other.at).map(({ what }) => what);
  const wanted = sets.filter(({ what }) => what === 'off').map(() => 'off, tainted, untainted, on');
  return told.join(', ') === wanted.join(', ') ? [] : [`the order was ${told.join(', ')}, and not ${wanted.join(', ')}`];
}

/** When our writes set the taint, and when they took it away. */
function changesOf(trace: readonly TraceEvent[], node: string): { at: number; what: string }[] {
  const writes = writesOf(trace, 'nodes').filter(({ name, verb }) => name === node && verb !== 'delete');
  let was = false;
  return writes.flatMap(({ at, object }) => {
    const is = (object as Node | undefined)?.spec.taints?.some(({ key }) => key === OUT_OF_SERVICE.key) === true;
    const changed = is !== was;
    was = is;
    return changed ? [{ at, what: is ? 'tainted' : 'untainted' }] : [];
  });
}
