import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ActiveHold } from '../../src/domain/snapshot.ts';
import { JOB_PODS } from '../../src/ports/batch.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { DEADLOCK } from './configurations.ts';
import { MINUTE_MS, NAMESPACE, RemedyShellWorld, SECOND_MS } from './shell-world.ts';

const STORM: ActiveHold = { policy: 'max-concurrent', reason: 'max-concurrent', message: '1 under way (a) of 1 at once' };
const BUDGETS = { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', namespaced: true };

let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
});

afterEach(async () => {
  await world.end();
});

describe('remedies against the API, step by step', () => {
  it('waits the period, begins one Job, and tells what it does', async () => {
    await world.addNode('a');
    await world.configure(DEADLOCK);
    const replica = world.start();
    await world.pass(10 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(29 * SECOND_MS);
    expect([await world.position('a'), await world.jobs()]).toEqual([undefined, []]);
    await world.pass(3 * SECOND_MS);
    expect(await world.position('a')).toBe('running repair 1');
    const [job, ...more] = await world.jobs();
    expect(more).toEqual([]);
    expect(job?.spec.template.spec.containers[0]).toMatchObject({ name: 'repair' });
    expect(replica.events).toEqual(['Warning ConditionStands KernelDeadlock=True has stood for its period: its remedies follow.']);
  });

  it('escalates when a remedy has failed, and asks a person when all have', async () => {
    await world.addNode('a');
    await world.configure(DEADLOCK);
    const replica = world.start();
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(32 * SECOND_MS);
    const [first] = await world.jobs();
    const name = await world.podFor(first!);
    await world.pass(6 * SECOND_MS);
    expect((await world.operator.get(NODES, 'a'))?.metadata.annotations).toMatchObject({ 'nodefence.ha.k8s.io/remediation-podname': name });
    await world.ends(first!, 'Failed');
    await world.pass(6 * SECOND_MS);
    expect(await world.position('a')).toBe('waiting 1');
    await world.pass(MINUTE_MS);
    const second = (await world.jobs()).find(({ metadata }) => metadata.name !== first!.metadata.name);
    expect(second?.spec.template.spec.containers[0]).toMatchObject({ name: 'replace' });
    const quick = await world.podFor(second!);
    await world.ends(second!, 'Complete');
    await world.pass(70 * SECOND_MS);
    expect(await world.position('a')).toBe('handed-over 1');
    // It ended before it was seen to run.
    expect((await world.operator.get(NODES, 'a'))?.metadata.annotations).toMatchObject({ 'nodefence.ha.k8s.io/remediation-podname': quick });
    expect(replica.ended).toEqual(['KernelDeadlock=True repair failed', 'KernelDeadlock=True replace succeeded']);
    expect(replica.problems().join()).toMatch(/^\S+: \S+ stands after its attempt: look at the node, then nodefence resume/u);
    expect((await world.remedies('a'))?.runs).toMatchObject([
      { remedy: 'repair', result: 'failed', pod: name },
      { remedy: 'replace', result: 'succeeded' },
    ]);
  });

  it('runs the recovery when the condition is over, and forgets it after the cooldown', async () => {
    await world.addNode('a');
    await world.configure(DEADLOCK);
    world.start();
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(32 * SECOND_MS);
    const [first] = await world.jobs();
    await world.podFor(first!);
    await world.ends(first!, 'Complete');
    await world.says('a', { KernelDeadlock: 'False' });
    await world.pass(40 * SECOND_MS);
    expect(await world.position('a')).toBe('running undo 1');
    const undo = (await world.jobs()).find(({ metadata }) => metadata.name !== first!.metadata.name);
    await world.podFor(undo!);
    await world.ends(undo!, 'Complete');
    await world.pass(6 * SECOND_MS);
    expect(await world.position('a')).toBe('recovered 1');
    await world.pass(61 * MINUTE_MS);
    expect(await world.position('a')).toBeUndefined();
  });
});

/** A node with a deadlock whose first remedy runs. */
async function running(configuration = DEADLOCK): Promise<void> {
  await world.addNode('a');
  await world.configure(configuration);
  await world.pass(6 * SECOND_MS);
  await world.says('a', { KernelDeadlock: 'True' });
  await world.pass(33 * SECOND_MS);
}

describe('what keeps remedies', () => {
  it('a stop keeps one from beginning, and is told once', async () => {
    const replica = world.start();
    await world.stop({ node: 'a' });
    await running();
    await world.pass(MINUTE_MS);
    expect([await world.jobs(), await world.position('a')]).toEqual([[], 'waiting 1']);
    expect(replica.problems()).toEqual(['a: KernelDeadlock=True: held: the stop by-hand is active: a look']);
    expect(replica.events.filter((event) => event.includes('RemedyWaits'))).toHaveLength(1);
    await world.operator.remove(NODE_FENCE_STOPS, 'by-hand');
    await world.pass(6 * SECOND_MS);
    expect(await world.position('a')).toBe('running repair 1');
  });

  it('a storm policy that names others as they fail and recover is told once, and what takes turns with it too', async () => {
    const replica = world.start();
    const full = (name: string): ActiveHold => ({ ...STORM, message: `1 under way (${name}) of 1 at once` });
    const many: ActiveHold = { policy: 'max-unhealthy', reason: 'max-unhealthy', message: '2 of 5 nodes are unhealthy' };
    world.storm = () => [full('b')];
    await running();
    for (const hold of [full('c'), many, full('b'), many, full('d')]) {
      world.storm = () => [hold];
      await world.pass(10 * SECOND_MS);
    }
    expect(replica.problems()).toEqual(['a: KernelDeadlock=True: held: 1 under way (d) of 1 at once']);
    expect(replica.events.filter((event) => event.includes('RemedyWaits'))).toEqual([
      expect.stringContaining('1 under way (b)'),
      expect.stringContaining('2 of 5 nodes'),
    ]);
  });

  it.each(['repair', 'clean-pods', 'drain'])(
    'a storm policy keeps them, and counts those of other nodes in the turn in which they begin: %s',
    async (remedy) => {
      world.storm = (node, stages) => ([...stages].some(([other, { kind }]) => other !== node && kind === 'begun') ? [STORM] : []);
      world.start();
      await world.addNode('b');
      await world.addNode('a');
      for (const name of ['a', 'b']) {
        await world.operator.mergePatch(NODES, name, { spec: { unschedulable: true } });
        await world.addPod(`on-${name}`, name);
      }
      await world.configure(DEADLOCK.replace('{name: repair}', `{name: ${remedy}}`));
      await world.pass(6 * SECOND_MS);
      // Both are due in one turn.
      const says = async (name: string): Promise<unknown> => world.says(name, { KernelDeadlock: 'True' });
      await Promise.all(['a', 'b'].map(says));
      await world.pass(40 * SECOND_MS);
      const held = [await world.position('a'), await world.position('b')];
      expect(held.toSorted()).toEqual([`running ${remedy} 1`, expect.stringMatching(/^(waiting|starting \S+) 1$/)]);
    },
  );

  it('in mode observe nothing begins, and it is said what would', async () => {
    const replica = world.start({ mode: 'observe' });
    await running();
    await world.pass(6 * SECOND_MS);
    expect([await world.jobs(), await world.position('a')]).toEqual([[], 'waiting 1']);
    expect(replica.problems().join()).toContain('held: --mode observe: nothing is changed');
    expect(replica.writes.filter((write) => !write.includes('/nodefencereports'))).toEqual([]);
  });

  it('a fence of the node takes over: the Job is ended, and nothing begins while it is open', async () => {
    world.start();
    await running();
    const [job] = await world.jobs();
    await world.operator.create(NODE_FENCES, { metadata: { name: 'node-fence-a' }, spec: { node: 'a' } });
    await world.pass(6 * SECOND_MS);
    expect([await world.position('a'), await world.jobs()]).toEqual(['fenced repair 1', []]);
    await world.pass(5 * MINUTE_MS);
    expect(await world.jobs()).toEqual([]);
    expect(job).toBeDefined();
  });
});

describe('a controller that ends in the middle', () => {
  it.each(['before its Job is created', 'after its Job is created and before that is written'])('%s: one Job, whoever leads', async (when) => {
    const first = world.start();
    first.fate = (write) => (write.startsWith('POST') && write.includes('/jobs') && when.startsWith('before') ? 'lost' : 'done');
    await world.addNode('a');
    await world.configure(DEADLOCK);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    if (when.startsWith('after'))
      first.fate = (write) => (write.startsWith('PUT') && first.writes.some((each) => each.includes('/jobs')) ? 'lost' : 'done');
    await world.pass(33 * SECOND_MS);
    expect(await world.position('a')).toBe('starting repair 1');
    await first.close();
    world.start();
    await world.pass(40 * SECOND_MS);
    expect(await world.jobs()).toHaveLength(1);
    expect(await world.position('a')).toBe('running repair 1');
  });

  it('while its Job runs: the next one finds it, and counts its end', async () => {
    const first = world.start();
    await running();
    await first.close();
    const [job] = await world.jobs();
    await world.podFor(job!);
    await world.ends(job!, 'Complete');
    const second = world.start();
    await world.pass(10 * SECOND_MS);
    expect([await world.position('a'), second.ended]).toEqual(['waiting 1', ['KernelDeadlock=True repair succeeded']]);
    expect(await world.jobs()).toHaveLength(1);
  });
});

describe('pods of a node', () => {
  const drained = DEADLOCK.replace('{name: repair}', '{name: drain}');
  const evicted = DEADLOCK.replace('{name: repair}', '{name: clean-pods}');
  const evictedBy = ({ writes }: { writes: string[] }): string[] => writes.filter((write) => write.endsWith('/eviction'));

  it('are evicted under their budgets, and what a budget keeps is named; the node is cordoned within two seconds', async () => {
    const replica = world.start();
    await world.addNode('a');
    await world.addPod('free', 'a');
    await world.addPod('kept', 'a');
    const metadata = { name: 'keep', namespace: 'default' };
    await world.operator.create(BUDGETS, { metadata, spec: { minAvailable: 2, selector: {} } } as never);
    const status = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2, observedGeneration: 1 };
    await world.operator.mergePatch(BUDGETS, 'keep', { status }, { namespace: 'default', subresource: 'status' });
    await world.configure(drained);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(32 * SECOND_MS);
    const node = await world.operator.get(NODES, 'a');
    expect([node?.spec.unschedulable, node?.metadata.annotations?.['nodefence.ha.k8s.io/cordoned-by-remedy']]).toEqual([true, expect.any(String)]);
    await world.pass(20 * SECOND_MS);
    expect((await world.remedies('a'))?.positions?.[0]?.message).toMatch(
      /drain runs: incomplete, \d of \d pods are kept: default\/(free|kept): .*The disruption budget keep needs 2 healthy pods/,
    );
    expect(replica.events.filter((event) => event.includes('RemedyWaits'))).toEqual([expect.stringContaining('incomplete')]);
  });

  it('go on being evicted when a storm policy trips, which counts them, and not while a person stops it, which is told', async () => {
    const replica = world.start();
    world.plan = { ...world.plan, podsPerMinute: 1 };
    await world.addNode('a');
    await world.addPod('p', 'a');
    await world.addPod('q', 'a');
    await world.configure(evicted);
    await world.pass(6 * SECOND_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(36 * SECOND_MS);
    const evictions = (): number => evictedBy(replica).length;
    await world.stop({ node: 'a' });
    const before = evictions();
    await world.pass(70 * SECOND_MS);
    expect([evictions() - before, replica.problems().join()]).toEqual([0, expect.stringContaining('held: the stop by-hand is active')]);
    world.storm = () => [STORM];
    await world.operator.remove(NODE_FENCE_STOPS, 'by-hand');
    await world.pass(12 * SECOND_MS);
    expect([before, evictions()]).toEqual([1, 2]);
  });

  it('are let go of by whatever way the remedy names', async () => {
    world.start();
    await world.addPod('p', 'a');
    await running(DEADLOCK.replace('{name: repair}, {period: 1m}', '{name: repair}, {period: 10m}, {clean-resource: true}, {release: delete-pods}'));
    const [job] = await world.jobs();
    await world.podFor(job!);
    world.silentSinceMs.set('a', 0);
    await world.says('a', { Ready: 'Unknown' });
    world.device = { state: 'off' };
    await world.ends(job!, 'Complete');
    await world.pass(24 * SECOND_MS);
    expect((await world.fence('a'))?.spec).toMatchObject({ ending: 'off', release: 'delete-pods' });
  });

  it('are let go of a silent node only when its devices read off, by a fence that ends in off', async () => {
    world.start();
    await world.addPod('p', 'a');
    const terminating = DEADLOCK.replace('{name: repair}, {period: 1m}', '{name: repair}, {period: 10m}, {clean-resource: true}');
    await running(terminating);
    const [job] = await world.jobs();
    await world.podFor(job!);
    world.silentSinceMs.set('a', 0);
    await world.says('a', { Ready: 'Unknown' });
    await world.ends(job!, 'Complete');
    await world.pass(12 * SECOND_MS);
    expect((await world.remedies('a'))?.positions?.[0]?.message).toContain('reads on, not off');
    expect(await world.fence('a')).toBeUndefined();
    world.device = { state: 'off' };
    await world.pass(12 * SECOND_MS);
    expect((await world.fence('a'))?.spec).toMatchObject({ ending: 'off', requestedBy: { kind: 'RemedyConfiguration' } });
    expect(await world.position('a')).toBe('waiting 1');
  });
});

describe('people, and nodes that go', () => {
  it('a person who resumes begins a fresh episode, once', async () => {
    world.start();
    await running(DEADLOCK.replace('    remedy2: [{name: replace}, {period: 1m}]\n', ''));
    const [first] = await world.jobs();
    await world.ends(first!, 'Failed');
    await world.pass(70 * SECOND_MS);
    expect(await world.position('a')).toBe('handed-over 1');
    const { threshold, episode } = (await world.remedies('a'))!.positions![0]!;
    await world.operator.mergePatch(NODE_FENCE_REPORTS, 'a', { spec: { resumedRemedies: [{ threshold, episode, reason: 'a look' }] } });
    await world.pass(8 * SECOND_MS);
    expect(await world.position('a')).toBe('running repair 1');
    expect(await world.jobs()).toHaveLength(2);
    const second = (await world.jobs()).find(({ metadata }) => metadata.name !== first!.metadata.name);
    await world.ends(second!, 'Failed');
    await world.pass(90 * SECOND_MS);
    expect([await world.position('a'), await world.jobs()]).toMatchObject(['handed-over 1', [{}, {}]]);
  });

  it('the Job of a Node that is deleted is ended', async () => {
    world.start();
    await running();
    await world.operator.remove(NODES, 'a');
    await world.pass(6 * SECOND_MS);
    expect(await world.jobs()).toEqual([]);
  });

  it('a Job that hangs is ended in time, and counts as failed', async () => {
    const replica = world.start();
    await running();
    const [job] = await world.jobs();
    await world.podFor(job!);
    await world.pass(61 * MINUTE_MS);
    expect([await world.jobs(), replica.ended]).toEqual([[], []]);
    // Its pod may still act until the garbage collector has it.
    expect(await world.position('a')).toBe('running repair 1');
    await world.operator.remove(JOB_PODS, `${job!.metadata.name}-x`, { namespace: NAMESPACE, gracePeriodSeconds: 0 });
    await world.pass(12 * SECOND_MS);
    expect(replica.ended).toEqual(['KernelDeadlock=True repair failed']);
    expect((await world.remedies('a'))?.runs?.[0]?.message).toBe('it was ended before it had ended by itself');
  });

  it('a monitor that starts anew, one that stands still and a condition that vanishes begin nothing and end nothing', async () => {
    const latched = DEADLOCK.replace('    latched: false\n', '').replace('    remedy2: [{name: replace}, {period: 1m}]\n', '');
    world.start();
    await running(latched);
    const [job] = await world.jobs();
    await world.ends(job!, 'Complete');
    await world.pass(4 * MINUTE_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(4 * MINUTE_MS);
    await world.says('a', { KernelDeadlock: 'False' });
    await world.pass(4 * MINUTE_MS);
    await world.says('a', { KernelDeadlock: 'True' });
    await world.pass(15 * MINUTE_MS);
    expect([await world.position('a'), (await world.jobs()).length]).toEqual(['handed-over 1', 1]);
  });

  it('a latched condition that a monitor takes back when it starts anew is over once the daemon of the node has looked since, and no sooner', async () => {
    world.start();
    const type = 'ReadonlyFilesystem';
    const readOnly = DEADLOCK.replace('    latched: false\n', '')
      .replaceAll('KernelDeadlock', type)
      .replace('    remedy2: [{name: replace}, {period: 1m}]\n', '');
    await world.addNode('a');
    await world.configure(readOnly);
    await world.pass(6 * SECOND_MS);
    const before = world.now();
    await world.says('a', { [type]: 'True' });
    await world.pass(33 * SECOND_MS);
    await world.ends((await world.jobs())[0]!, 'Complete');
    await world.pass(10 * MINUTE_MS);
    await world.says('a', { [type]: 'False' });
    const look = (bootID: string, at: string): void => void world.foundWell.set('a', { bootID, foundWell: [{ type, at }] });
    const isOver = async (): Promise<boolean> => (await world.jobs()).length === 2;
    for (const [bootID, at] of [
      ['boot-1', before],
      ['boot-0', '2099-01-01T00:00:00Z'],
    ] as const) {
      look(bootID, at);
      await world.pass(MINUTE_MS);
      expect(await isOver(), `${bootID} ${at}`).toBe(false);
    }
    look('boot-1', world.now());
    await world.pass(20 * SECOND_MS);
    expect([await isOver(), await world.position('a')]).toEqual([true, 'running undo 1']);
  });

  it('two Configurations that answer one condition of a node: neither does, which is told', async () => {
    const replica = world.start();
    await world.configure(DEADLOCK, 'fence-remedies');
    await world.operator.create(CONFIG_MAPS, {
      metadata: { name: 'other', namespace: NAMESPACE, labels: { 'nodefence/remedies': '' } },
      data: { 'b.yaml': DEADLOCK },
    });
    await running();
    await world.pass(MINUTE_MS);
    expect([await world.jobs(), replica.problems().join()]).toEqual([[], expect.stringContaining('both answer KernelDeadlock True')]);
    expect(replica.shown, 'the metric counts what is wrong with the Configurations too').toBe(replica.problems().length);
  });
});
