import { describe, expect, it } from 'vitest';
import type { JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import { EMPTY_PLAN } from '../../domain/plan.ts';
import type { KubeObject, Lease } from '../../ports/objects.ts';
import type { NodeFence, NodeFenceAcknowledgement } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Acknowledgements } from './acknowledgements.ts';
import type { FenceDependencies } from './dependencies.ts';
import { NodeObservation } from './observation.ts';
import { FenceHarness } from './testing/harness.ts';

const GIVEN_MS = Date.UTC(2027, 0, 1);
const MINUTE_MS = 60_000;

type Heard = (before: NodeFenceAcknowledgement | undefined, after: NodeFenceAcknowledgement | undefined) => void;

/** Tells of what it has as a watch does when it has listed. */
class WordLister {
  #words: NodeFenceAcknowledgement[] = [];
  #heard: Heard = () => undefined;

  all(): Iterable<NodeFenceAcknowledgement> {
    return this.#words;
  }

  onChange(heard: Heard): void {
    this.#heard = heard;
  }

  lists(listed: NodeFenceAcknowledgement): void {
    this.#words = [listed];
    this.#heard(undefined, listed);
  }
}

function word(): NodeFenceAcknowledgement {
  return {
    metadata: { name: 'word', uid: 'uid-w', resourceVersion: '100', creationTimestamp: new Date(GIVEN_MS).toISOString() },
    spec: { node: 'a', nodeFenceUID: 'uid-f', incident: 1, bootID: 'boot-1', reason: 'I looked' },
  };
}

function lease(resourceVersion: string, renewedMs: number): Lease {
  return { metadata: { name: 'a', namespace: 'kube-node-lease', resourceVersion }, spec: { renewTime: new Date(renewedMs).toISOString() } };
}

/** A controller that is started two minutes after the word was given, and what the API server has by then. */
function startedAfterwards(stored: Lease | undefined, given = word(), more: Partial<NodeFenceStatus> = {}) {
  const clock = new ManualClock({ wallMs: GIVEN_MS + 2 * MINUTE_MS });
  const { dependencies: base } = new FenceHarness(clock);
  const words = new WordLister();
  const objects: Record<string, KubeObject | undefined> = { NodeFenceAcknowledgement: given, Lease: stored };
  const cluster = {
    ...base.cluster,
    get: ({ kind }: { kind: string }) => Promise.resolve(objects[kind]),
    replaceStatus: (_kind: unknown, object: KubeObject) => Promise.resolve(object),
  };
  const dependencies = { ...base, cluster, listers: { ...base.listers, acknowledgements: words } } as unknown as FenceDependencies;
  const acknowledgements = new Acknowledgements(dependencies);
  const entry = { id: 'run', action: 'acknowledge', method: 'word', plug: 'uid-w' } as JournalEntry;
  const plan = { ...EMPTY_PLAN, minimumEvidence: ['ack'], release: 'auto' };
  const status = {
    state: 'error',
    incident: 1,
    journal: [entry],
    evidence: [],
    frozen: { nodeUID: 'u', plan },
    ...more,
  } as unknown as NodeFenceStatus;
  const fence = { metadata: { name: 'node-fence-a', uid: 'uid-f' }, spec: { node: 'a' }, status } as NodeFence;
  const weigh = async (observation: NodeObservation): Promise<string> => {
    const order = { fence, status, entry, bootID: 'boot-1', life: () => observation, mayGoOn: () => undefined };
    const { result, message } = await acknowledgements.weigh(order, () => Promise.resolve({ state: 'unknown', detail: '' }));
    return `${result}: ${message}`;
  };
  return { clock, words, weigh };
}

describe('a word that has become evidence', () => {
  it('counts before each batch of its release, also when the run that used it first stands in the journal no more', async () => {
    const used: NodeFenceAcknowledgement = { ...word(), status: { state: 'accepted', at: '', message: '', usedBy: 'evicted' } };
    const ran = (id: string, plug: string, result?: string) => ({ id, action: 'acknowledge', method: 'word', plug, result });
    const released = { by: 'delete-pods', at: '', pods: 40, evidence: 'x', left: 1, batch: 40 };
    const weighed = (earlier: string): Promise<string> => {
      const journal = [ran('earlier', earlier, 'succeeded'), ran('run', 'uid-w')];
      const { clock, weigh } = startedAfterwards(undefined, used, { journal, released } as unknown as Partial<NodeFenceStatus>);
      return weigh(new NodeObservation(clock.monotonicMs()));
    };
    expect(await weighed('uid-w')).toMatch(/^succeeded: /);
    expect(await weighed('uid-of-another')).toContain('refused');
  });

  /** What is taken away two hours after it was given. */
  async function removedOf(more: Partial<NodeFenceStatus>): Promise<string[]> {
    const clock = new ManualClock({ wallMs: GIVEN_MS + 120 * MINUTE_MS });
    const { dependencies: given } = new FenceHarness(clock);
    const words = new WordLister();
    const removed: string[] = [];
    const cluster = { ...given.cluster, remove: (_kind: unknown, name: string) => Promise.resolve(removed.push(name) > 0) };
    const listers = { ...given.listers, acknowledgements: words };
    const acknowledgements = new Acknowledgements({ ...given, cluster, listers } as unknown as FenceDependencies);
    words.lists({ ...word(), status: { state: 'accepted', at: '', message: '', usedBy: 'run' } });
    const evidence = [{ kind: 'ack', grade: 'person', source: 'run', detail: '', observedAt: '' }];
    const journal = [{ id: 'run', action: 'acknowledge', method: 'word', plug: 'uid-w', result: 'succeeded' }];
    const status = { state: 'running', incident: 1, journal, evidence, ...more } as unknown as NodeFenceStatus;
    await acknowledgements.settle('a', { metadata: { name: 'node-fence-a', uid: 'uid-f' }, spec: { node: 'a' }, status }, 'boot-1');
    return removed;
  }

  it('stays as long as its fence rests on it: what has to be let go slowly, or is held, weighs it anew', async () => {
    expect(await removedOf({})).toEqual([]);
  });

  it('goes an hour after it was given where nothing rests on it any more', async () => {
    const voided = [{ kind: 'ack', grade: 'person', source: 'run', detail: '', observedAt: '', voidedAt: '2027-01-01T00:00:00Z' }];
    expect(await removedOf({ state: 'final' })).toEqual(['word']);
    expect(await removedOf({ evidence: voided } as Partial<NodeFenceStatus>)).toEqual(['word']);
  });
});

describe('a word that was given while no controller ran', () => {
  const SILENT = lease('90', GIVEN_MS - 10 * MINUTE_MS);

  it('counts where nothing was heard of the node since: that this controller sees the node for the first time is no sign of life', async () => {
    const { clock, words, weigh } = startedAfterwards(SILENT);
    words.lists(word());
    await clock.advance(100);
    const observation = new NodeObservation(clock.monotonicMs());
    observation.seeLease(SILENT, clock.monotonicMs());
    expect(await weigh(observation)).toMatch(/^succeeded: /);
  });

  it('counts where the kubelet has no Lease', async () => {
    const { clock, words, weigh } = startedAfterwards(undefined);
    words.lists(word());
    expect(await weigh(new NodeObservation(clock.monotonicMs()))).toMatch(/^succeeded: /);
  });

  it('is refused where the kubelet has renewed its Lease after it, before anybody here could hear that', async () => {
    const renewed = lease('110', GIVEN_MS + MINUTE_MS);
    const { clock, words, weigh } = startedAfterwards(renewed);
    words.lists(word());
    const observation = new NodeObservation(clock.monotonicMs());
    observation.seeLease(renewed, clock.monotonicMs());
    expect(await weigh(observation)).toContain('refused: the acknowledgement word is refused: the kubelet has renewed its Lease since');
  });

  it('is no older than a Lease whose versions are counted elsewhere: one that was renewed long before it by its own stamp says nothing', async () => {
    const elsewhere = lease('900000', GIVEN_MS - 2 * MINUTE_MS);
    const { clock, words, weigh } = startedAfterwards(elsewhere);
    words.lists(word());
    expect(await weigh(new NodeObservation(clock.monotonicMs()))).toMatch(/^succeeded: /);
  });

  it('is refused where the node is heard while this controller runs', async () => {
    const { clock, words, weigh } = startedAfterwards(SILENT);
    words.lists(word());
    const observation = new NodeObservation(clock.monotonicMs());
    observation.seeLease(SILENT, clock.monotonicMs());
    await clock.advance(100);
    observation.seeLease(lease('120', GIVEN_MS + 2 * MINUTE_MS), clock.monotonicMs());
    expect(await weigh(observation)).toContain('the node has shown a sign of life since');
  });
});

describe('a word that what has arrived here does not admit', () => {
  /** What it is answered where the API server holds these. */
  async function answerTo(fence: KubeObject | undefined, node: KubeObject): Promise<{ answer: unknown; isLookedAtAgain: boolean }> {
    const clock = new ManualClock({ wallMs: GIVEN_MS + MINUTE_MS });
    const { dependencies: base } = new FenceHarness(clock);
    const words = new WordLister();
    const objects: Record<string, KubeObject | undefined> = { NodeFence: fence, Node: node };
    const answers: unknown[] = [];
    const added: unknown[] = [];
    const cluster = {
      ...base.cluster,
      get: ({ kind }: { kind: string }) => Promise.resolve(objects[kind]),
      replaceStatus: (_kind: unknown, { status }: NodeFenceAcknowledgement) => Promise.resolve(answers.push(status?.message)),
    };
    const queue = { ...base.queue, add: (name: string, inMs?: number) => void added.push([name, inMs]) };
    const listers = { ...base.listers, acknowledgements: words };
    const acknowledgements = new Acknowledgements({ ...base, cluster, listers, queue } as unknown as FenceDependencies);
    words.lists(word());
    added.length = 0;
    await acknowledgements.settle('a', undefined, 'boot-0');
    return { answer: answers[0], isLookedAtAgain: added.length > 0 };
  }

  const NODE = { metadata: { name: 'a' }, spec: {}, status: { nodeInfo: { bootID: 'boot-1' } } };
  const status = {
    state: 'error',
    incident: 1,
    journal: [],
    evidence: [],
    frozen: { plan: { ...EMPTY_PLAN, minimumEvidence: ['ack'], release: 'auto' } },
  };
  const FENCE = { metadata: { name: 'node-fence-a', uid: 'uid-f' }, spec: { node: 'a' }, status };

  it('is not refused where the API server holds the fence and the boot that it names: they are on their way, and it is looked at again', async () => {
    expect(await answerTo(FENCE, NODE)).toEqual({ answer: undefined, isLookedAtAgain: true });
  });

  it.each([
    ['there is no fence', undefined, NODE, 'no fence of this node is open'],
    ['the fence says another node', { ...FENCE, spec: { node: 'b' } }, NODE, 'no fence of this node is open'],
    ['another boot is there', FENCE, { ...NODE, status: { nodeInfo: { bootID: 'boot-2' } } }, 'it names boot boot-1; the node shows boot-2'],
  ])('is refused where, by the API server, %s', async (_what, fence, node, words) => {
    expect(await answerTo(fence, node)).toEqual({ answer: words, isLookedAtAgain: false });
  });
});
