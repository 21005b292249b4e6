import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../ports/machines.ts';
import { fleetStatus } from '../fleet.ts';
import { describeGuard, picturedPreservation } from '../../preservation/pictured-preservation.ts';
import { pictureOf } from '../../preservation/picture.ts';
import { listed } from '../listed-cluster.ts';
import { PLAIN } from '../terminal/ink.ts';
import { widthOf } from '../terminal/text.ts';
import { ago, listersOf, node, NOW_MS } from '../testing/pictured-cluster.ts';
import { fleetPage } from './fleet-page.ts';
import { describePreserved, preservedParagraph } from './preserved-page.ts';

const PRESERVE = 'node.machine.sapcloud.io/preserve';

function machine(name: string, phase: string, value: string | undefined, inSeconds?: number): Machine {
  const annotations = value === undefined ? {} : { [PRESERVE]: value };
  const currentStatus = {
    phase,
    lastUpdateTime: ago(900),
    ...(inSeconds !== undefined && { preserveExpiryTime: new Date(NOW_MS + inSeconds * 1_000).toISOString() }),
  };
  const labels = { node: name.replace('m-', ''), 'worker.gardener.cloud/pool': 'worker1' };
  return { metadata: { name, namespace: 'shoot', uid: name, labels, annotations, creationTimestamp: ago(90_000) }, status: { currentStatus } };
}

const MACHINES = [
  machine('m-a', 'Failed', 'auto-preserved', 7_200),
  machine('m-b', 'Running', 'now', 250_000),
  machine('m-c', 'Running', 'when-failed'),
  machine('m-d', 'Running', undefined),
  machine('m-e', 'Running', 'perhaps'),
];
const NODES = [node('a', 'Unknown', 900), ...['b', 'c', 'd', 'e'].map((name) => node(name, 'True', 90_000))];
const MODE = {
  mode: 'own',
  readsMachines: true,
  hasExpiryField: true,
  spelling: 'auto-preserve',
  reasons: ['the Machine definition is ours'],
} as const;
const KEPT = {
  mode: MODE,
  machines: listed(MACHINES),
  machineSets: listed<never>([]),
  machineDeployments: listed<never>([]),
  pools: new Map(),
  notes: [],
};
const listers = { ...listersOf({ nodes: NODES }), leaders: listed<never>([]), preservation: KEPT };
const page = (width: number): string =>
  fleetPage(fleetStatus(listers, NOW_MS), { server: 'api:6443', wide: false, all: false }, { ink: PLAIN, width, nowMs: NOW_MS });

describe('preserved machines in nodefence status', () => {
  it('shows who is kept, why and until when, then who is asked to be, then what is wrong', async () => {
    await expect(`${page(100)}\n`).toMatchFileSnapshot('transcripts/preserved.txt');
  });

  it('keeps to a narrow terminal', () => {
    for (const line of page(80).split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(80);
  });

  it('says nothing where preservation is off or nobody is kept', () => {
    const off = { ...KEPT, mode: { ...MODE, mode: 'off' as const } };
    const idle = { ...KEPT, machines: listed(MACHINES.slice(3, 4)) };
    for (const preservation of [off, idle]) {
      const status = fleetStatus({ ...listers, preservation }, NOW_MS);
      expect(fleetPage(status, { server: 'api', wide: false, all: false }, { ink: PLAIN, width: 100, nowMs: NOW_MS })).not.toContain('Preserv');
    }
    expect(fleetStatus({ ...listers, preservation: off }, NOW_MS).preservation).toBeUndefined();
  });

  it('names who has marked a machine, as it is written there', () => {
    const annotations = { [PRESERVE]: 'now', 'nodefence.ha.k8s.io/preserve-requested-by': 'now by olga' };
    const nodes = NODES.map((each) => (each.metadata.name === 'b' ? { ...each, metadata: { ...each.metadata, annotations } } : each));
    const status = fleetStatus({ ...listersOf({ nodes }), leaders: listed<never>([]), preservation: KEPT }, NOW_MS);
    const said = fleetPage(status, { server: 'api', wide: false, all: false }, { ink: PLAIN, width: 1_000, nowMs: NOW_MS });
    expect(said).toContain('mark: Node b is marked now, when is not kept by this API server; its author as written there: now by olga');
    const row = status.preservation?.machines.find(({ node: name }) => name === 'b');
    expect(row?.marks).toEqual([expect.stringContaining('Node b'), expect.stringContaining('Machine m-b')]);
    expect(
      preservedParagraph(row ?? { kind: 'Node', name: '', phase: '', isPreserved: false }, { ink: PLAIN, width: 1_000, nowMs: NOW_MS }),
    ).toContain('now by olga');
  });

  it('is the same in JSON, with what cannot be read', () => {
    const { preservation } = fleetStatus({ ...listers, preservation: { ...KEPT, notes: ['MachineSet'] } }, NOW_MS);
    expect(preservation).toMatchObject({ mode: 'own', unreadable: ['MachineSet'] });
    const until = new Date(NOW_MS + 7_200_000).toISOString();
    expect(preservation?.machines[0]).toMatchObject({
      name: 'm-a',
      node: 'a',
      phase: 'Failed:Preserved',
      cause: 'automatic',
      asked: 'automatic',
      until,
    });
    expect(describePreserved(preservation?.machines[0] ?? { kind: 'Node', name: '', phase: '', isPreserved: false })).toContain(
      `Failed:Preserved, automatic, until ${until}`,
    );
  });
});

describe('what preservation means for the fence of a node', () => {
  const picture = pictureOf({
    mode: MODE,
    nodes: NODES,
    fences: [],
    machines: MACHINES,
    machineSets: [],
    machineDeployments: [],
    pools: new Map(),
    nowMs: NOW_MS,
  });

  it.each([
    ['a', /a fence isolates it, and is then held before power-management \(automatically, until 2026-03-29T04:15:00\.000Z\)/],
    ['b', /preserved and healthy: it is not fenced \(on request/],
    ['c', /nothing: its machine is not preserved/],
  ])('node %s', (name, words) => {
    const guard = picture === undefined ? undefined : picturedPreservation(picture).guardOf(name);
    expect(describeGuard(guard === 'unknown' ? undefined : guard)).toMatch(words);
  });
});
