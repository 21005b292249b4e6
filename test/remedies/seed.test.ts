import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { Manifests } from '../../src/config/manifests/manifests.ts';
import { namedOnly } from '../../src/config/node-facts.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { BatchJob } from '../../src/ports/batch.ts';
import { MINUTE_MS, RemedyShellWorld, SECOND_MS } from './shell-world.ts';

const fixture = (path: string): string => readFileSync(new URL(`../../src/config/fixtures/${path}`, import.meta.url), 'utf8');

/** The seed's Configuration; only the images have names. */
const CONFIGURATION = fixture('node-remedy.yaml').replaceAll('IMAGE:VERSION', 'example/remedy:1');

/** Keys of the Secrets that stand beside those: no password is read from a ConfigMap. */
const SECRET = ['username', 'password', 'known_hosts', 'community'];

/** The plan that its bare-metal ConfigMaps make. */
function bareMetal(): Plan {
  const path = 'dialects/l4-seed.yaml';
  const { configMaps } = new Manifests([{ path, text: fixture(path) }], 'default');
  const configuration = configurationOf(
    configMaps.map(({ metadata, data = {} }) => ({ name: metadata.name, data })),
    standardRegistry(),
  );
  return resolvePlan({ node: namedOnly('node-a'), configuration, secretKeys: () => SECRET });
}

let world: RemedyShellWorld;

beforeEach(async () => {
  world = await RemedyShellWorld.create();
  world.plan = bareMetal();
  await world.addNode('node-a', { type: 'compute' });
  await world.addNode('node-b', { type: 'accelerated' });
  await world.configure(CONFIGURATION);
});

afterEach(async () => {
  await world.end();
});

async function jobOf(remedy: string): Promise<BatchJob> {
  const found = (await world.jobs()).filter(({ metadata }) => metadata.name.startsWith(`nr-${remedy}-`));
  if (found.length !== 1) throw new Error(`${found.length} Jobs of ${remedy}: ${(await world.position('node-a')) ?? 'nothing is written'}`);
  return found[0]!;
}

async function silent(name: string): Promise<void> {
  world.silentSinceMs.set(name, 0);
  await world.says(name, { Ready: 'Unknown' });
}

describe('the Configuration and the bare-metal ConfigMaps of the seed', () => {
  it('repair a node by a Job, terminate it by another, let its pods go when its own devices read off, and bring it back', async () => {
    const replica = world.start();
    await world.addPod('p', 'node-a');
    await world.pass(6 * SECOND_MS);
    await silent('node-a');
    await silent('node-b');
    await world.pass(9 * SECOND_MS);
    const repair = await jobOf('repair');
    const [container] = repair.spec.template.spec.containers;
    expect(container).toMatchObject({
      ...{ name: 'repair', image: 'example/remedy:1', command: ['binary', 'clean node command'] },
      envFrom: [{ secretRef: { name: 'secret-key' } }, { configMapRef: { name: 'fence-method-config' } }],
      env: expect.arrayContaining([{ name: 'NODE_NAME', value: 'node-a' }]) as unknown,
    });
    expect(await world.remedies('node-b')).toBeUndefined();
    await world.podFor(repair);
    await world.ends(repair, 'Failed');

    await world.pass(2 * MINUTE_MS);
    expect(await world.jobs()).toHaveLength(1);
    await world.pass(MINUTE_MS + 10 * SECOND_MS);
    const terminate = await jobOf('terminate');
    await world.podFor(terminate);
    await world.ends(terminate, 'Complete');
    await world.pass(3 * SECOND_MS);
    expect((await world.remedies('node-a'))?.positions?.[0]?.message).toContain('eaton-off (192.0.2.25:161 1) reads on, not off');
    expect(await world.fence('node-a')).toBeUndefined();

    world.device = { state: 'off' };
    await world.pass(6 * SECOND_MS);
    const spec = (await world.fence('node-a'))?.spec;
    expect(spec).toMatchObject({ ending: 'off', requestedBy: { kind: 'RemedyConfiguration', name: 'Ready=False' } });

    world.silentSinceMs.delete('node-a');
    await world.says('node-a', { Ready: 'True' }, 'boot-2');
    await world.pass(12 * SECOND_MS);
    await world.fenced('node-a', { state: 'final', outcome: 'recovered', timeline: { finalAt: world.now() } });
    await world.pass(10 * SECOND_MS);
    expect([await world.position('node-a'), (await world.fence('node-a'))?.spec.requestedBy]).toEqual(['recovered 1', undefined]);
    expect(replica.ended.map((words) => words.replace(/^\S+ /u, ''))).toEqual(['repair failed', 'terminate succeeded', 'recovery succeeded']);
    expect(await world.jobs()).toHaveLength(2);
  });
});
