import type { ApiFault, ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import type { AgentContext } from '../../src/ports/agents.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';

const SLOW_MS = 2_000;
const ACTS_MS = 8_000;
const LATE_MS = 6_000;

/** How an API server behaves between an agent and objects that stand for a device; what operators do with the objects is the fixture's own. */
export function faultOf(behaviour: Behaviour): ApiFault {
  switch (behaviour) {
    case 'slow':
      return { latencyMs: SLOW_MS };
    case 'refuses':
      return { refusesWrites: true };
    case 'wrong-credentials':
      return { status: { code: 401, reason: 'Unauthorized', message: 'Unauthorized' } };
    case 'wrong-certificate':
      return { failure: new TransportError('unreachable', '192.0.2.1:6443: self-signed certificate in certificate chain') };
    case 'unreachable':
      return { failure: new TransportError('unreachable', '192.0.2.1:6443: connect ECONNREFUSED') };
    case 'hangs-mid-answer':
      return { hangs: true };
    case 'garbage':
      return { failure: new TransportError('garbled', '192.0.2.1:6443: the answer is not JSON') };
    case 'truncated':
      return { failure: new TransportError('garbled', '192.0.2.1:6443: the answer ended before its length') };
    case 'rate-limited':
      return { rateLimited: 4 };
    case 'late-after-deadline':
      return { writesTakeMs: LATE_MS };
    default:
      return {};
  }
}

/** How long an operator takes before it acts. */
export function actsAfterMs(behaviour: Behaviour): number {
  return behaviour === 'slow' ? ACTS_MS : 0;
}

export const API_WORDS: Readonly<Partial<Record<Behaviour, RegExp>>> = {
  refuses: /403 Forbidden: .*cannot write this resource/u,
  'wrong-credentials': /401 Unauthorized/u,
  'wrong-certificate': /self-signed certificate/u,
  unreachable: /ECONNREFUSED/u,
  'hangs-mid-answer': /no (?:complete )?answer within/u,
  garbage: /is not JSON/u,
  truncated: /ended before its length/u,
  'rate-limited': /429 TooManyRequests/u,
};

/** The text that stands for a kubeconfig: a secret, which may be seen nowhere. */
export const KUBECONFIG = 'current-context: a-kubeconfig-of-the-matrix';

/** Another cluster, by its kubeconfig; `open` counts the connections that are not closed yet. */
export function connectionTo(world: ObjectWorld): { connect: NonNullable<AgentContext['connect']>; open(): number } {
  let open = 0;
  return {
    open: () => open,
    connect: (kubeconfig) => {
      if (kubeconfig !== KUBECONFIG) return Promise.reject(new Error('another kubeconfig'));
      open += 1;
      const cluster = Object.create(world.seen) as typeof world.seen;
      const bound: Record<string, unknown> = {};
      for (const name of ['get', 'list', 'create', 'replace', 'replaceStatus', 'mergePatch', 'remove', 'evict'] as const)
        bound[name] = world.seen[name].bind(world.seen);
      return Promise.resolve(Object.assign(cluster, bound, { close: () => void (open -= 1) }));
    },
  };
}

/** Calls `step` again and again, one at a time, until it is stopped: what an operator does. */
export function everyMoment(step: () => Promise<void>): () => Promise<void> {
  const run = { isOver: false };
  const loop = (async () => {
    while (!run.isOver) {
      await step();
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  })();
  return async () => {
    run.isOver = true;
    await loop;
  };
}

/** Writes that reached the server, as switching commands. */
export function commandsOf(
  world: ObjectWorld,
  plugs: readonly string[],
  meaning: (write: ObjectWorld['writes'][number], plug: string) => 'on' | 'off' | undefined,
): ReturnType<DeviceFixture['commands']> {
  return world.writes.flatMap((write) =>
    plugs.flatMap((plug) => {
      const wanted = meaning(write, plug);
      return wanted === undefined ? [] : [{ plug, wanted }];
    }),
  );
}
