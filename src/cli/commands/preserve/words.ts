import type { PreserveValue } from '../../../controllers/preservation/marks.ts';
import { PRESERVE } from '../../../controllers/preservation/names.ts';
import type { Leader } from '../leader.ts';
import { duration } from '../terminal/times.ts';
import { valueOf } from './order.ts';
import type { Order } from './order.ts';
import type { Target } from './target.ts';

export interface Outlook extends Order {
  /** What its annotations asked for before. */
  before: PreserveValue;
  /** It was preserved before. */
  isPreserved: boolean;
  /** As configured for its pool. */
  timeoutMs: number;
  leader: Leader;
}

/** `Machine shoot/m1 (Node n1)`, `Node n1`. */
export function describeTarget({ node, machine }: Target): string {
  if (machine === undefined) return `Node ${node?.metadata.name ?? ''}`;
  const of = node === undefined ? 'no Node' : `Node ${node.metadata.name}`;
  return `Machine ${machine.metadata.namespace ?? ''}/${machine.metadata.name} (${of})`;
}

/** What will happen, and when it ends; one sentence or two a line. */
export function outlook(facts: Outlook): string[] {
  return [...ACTS[facts.wish](facts), ...caveats(facts)];
}

const ACTS: Readonly<Record<Order['wish'], (facts: Outlook) => string[]>> = {
  now: (facts) => {
    const { phase } = facts;
    if (phase === 'Failed') return [describeFailed(facts), describeEnd(facts)];
    const running =
      phase === 'Running'
        ? 'It goes on running: the autoscaler leaves it alone, and while it is healthy its node is not fenced.'
        : `It is ${phase === '' ? 'of unknown phase' : phase} now.`;
    return [`${running} Should it fail, it is isolated and kept, not switched off.`, describeEnd(facts)];
  },
  'when-failed': (facts) => {
    if (facts.phase === 'Failed') return [describeFailed(facts), describeEnd(facts)];
    const kept = facts.mode.mode === 'own' ? ` for ${duration(facts.forMs ?? facts.timeoutMs)}` : '';
    return [`Nothing changes now. Once it fails, it is drained, isolated and kept${kept} from then. When it recovers it goes on as any other.`];
  },
  never: (facts) => ['It is not preserved automatically either, until the annotation is removed or another one is given.', ...endNow(facts)],
  stop: (facts) => [
    ...endNow(facts),
    ...(facts.before === 'automatic'
      ? ['The value false stays on it, so that it is not preserved again: nodefence preserve … now overrides it.']
      : ['Where its pool has a place free, it may be preserved automatically when it fails: nodefence preserve … never prevents that.']),
  ],
};

function describeFailed({ mode }: Outlook): string {
  const drained =
    mode.mode === 'own'
      ? 'It stays Failed: its node is cordoned and drained of all but DaemonSet pods.'
      : 'MCM lets it stay Failed, and drains its node.';
  return `${drained} A fence of its node isolates it and is then held.`;
}

function describeEnd({ mode, forMs, timeoutMs, wish }: Outlook): string {
  const end =
    forMs !== undefined
      ? `In ${duration(forMs)}`
      : mode.mode === 'own'
        ? `After its machinePreserveTimeout (${duration(timeoutMs)} unless an end is set already)`
        : "After MCM's machinePreserveTimeout";
  return `${end} the annotation goes by itself: a machine that has failed is then terminated, one that runs goes on.${wish === 'now' ? ' Sooner: nodefence preserve … stop.' : ''}`;
}

function endNow({ isPreserved, phase, mode }: Outlook): string[] {
  if (!isPreserved) return [];
  if (phase !== 'Failed') return ['Its preservation ends now, and it goes on running.'];
  const how = mode.mode === 'own' ? 'switched off by its own plan, on proof, and then its Machine is deleted' : 'deleted by MCM, and its VM with it';
  const fenced =
    mode.mode === 'own' ? 'A fence that was held goes on; if its node recovers by that, the machine goes on too.' : 'A fence that was held goes on.';
  return [`Its preservation ends now. It has FAILED, so it is ${how}. ${fenced}`];
}

/** Why it may come otherwise, or later. */
function caveats({ mode, leader, target }: Outlook): string[] {
  const words: string[] = [];
  if (mode.mode === 'observe') {
    const isUnseen = target.machine === undefined ? ' Its Machine is not seen from here.' : '';
    words.push(`An MCM carries this out, not nodefence (${mode.reasons.join('; ')}); it may take up to 10 minutes to look.${isUnseen}`);
  } else if (leader.unread !== undefined)
    words.push(`Whether a controller leads, which carries this out, is not known: you may not read ${leader.unread}.`);
  else if (!leader.isAlive) words.push('NO CONTROLLER LEADS: nothing of this happens until one does.');
  else if (leader.mode === 'observe') words.push('THE CONTROLLER OBSERVES ONLY (--mode observe): nothing of this happens until it enforces.');
  return words;
}

/** Where `stop` finds nothing: `never` may stand there, which is no preservation, and goes by hand. */
export function nothingToStop(target: Target): string {
  if (valueOf(target) !== 'false') return 'Nothing asks for its preservation: there is nothing to stop.';
  const { node, machine } = target;
  const { name, namespace } = machine?.metadata ?? { name: '', namespace: undefined };
  const object =
    node?.metadata.annotations?.[PRESERVE] === undefined
      ? `${namespace === undefined ? '' : `-n ${namespace} `}annotate machine ${name}`
      : `annotate node ${node.metadata.name}`;
  return `It is not preserved, and never stands: there is nothing to stop. kubectl ${object} ${PRESERVE}- lets it be preserved automatically again.`;
}
