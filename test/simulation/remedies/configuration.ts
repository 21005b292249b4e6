import type { Cluster } from '../../../src/ports/cluster.ts';
import { CONFIG_MAPS } from '../../../src/ports/resources.ts';
import { FENCE_NAMESPACE } from '../configuration.ts';
import type { DrawnRemedy, DrawnThreshold, RemedyWorld } from './remedy-world.ts';

const NAME = 'fence-remedies';
const KEY = 'drawn.yaml';
/** A program that hangs is ended by its Job. */
const WEDGED_SECONDS = 30;

/** By the name of a remedy: the program of its pod, as the kubelets of these worlds know it. */
const PROGRAMS = { mend: 'succeed', 'mend-slowly': 'succeed-slowly', fail: 'fail', wedge: 'hang', 'mend-here': 'succeed-slowly' } as const;
/** That of which the pod is meant for the sick node. */
export const ON_TARGET = 'mend-here';

type Admin = Pick<Cluster, 'get' | 'create' | 'mergePatch' | 'remove'>;

/** What an administrator writes: a ConfigMap, in the words of docs/remedies.md. */
export async function writeRemedies(admin: Admin, world: RemedyWorld, how: 'right' | 'edited' | 'removed' | 'broken'): Promise<void> {
  const isThere = (await admin.get(CONFIG_MAPS, NAME, FENCE_NAMESPACE)) !== undefined;
  if (how === 'removed') {
    await admin.remove(CONFIG_MAPS, NAME, { namespace: FENCE_NAMESPACE });
    return;
  }
  const text = how === 'broken' ? `${textOf(world)}thresholdConfigs: nonsense\n` : textOf(how === 'edited' ? edited(world) : world);
  const data = { [KEY]: text };
  if (isThere) await admin.mergePatch(CONFIG_MAPS, NAME, { data }, { namespace: FENCE_NAMESPACE });
  else await admin.create(CONFIG_MAPS, { metadata: { name: NAME, namespace: FENCE_NAMESPACE }, data });
}

/** The same conditions, answered the other way round, and the last threshold is gone. */
function edited(world: RemedyWorld): RemedyWorld {
  const thresholds = world.thresholds.length > 1 ? world.thresholds.slice(0, -1) : world.thresholds;
  return { ...world, thresholds: thresholds.map((threshold) => ({ ...threshold, remedies: threshold.remedies.toReversed() })) };
}

export function textOf({ nodes, thresholds }: RemedyWorld): string {
  return [
    'apiVersion: node-remedy/v1alpha',
    'kind: Configuration',
    'metadata: { name: drawn }',
    `nodeSelector: kubernetes.io/hostname in (${nodes.join(', ')})`,
    'thresholdConfigs:',
    ...thresholds.flatMap(linesOf),
    'remedyConfigs:',
    ...Object.entries(PROGRAMS).flatMap(([name, program]) => podOf(name, program)),
    '  - name: methods',
    '    fenceMethods: [cordon]',
    '  - name: cycle',
    '    fenceMethods: [bmc-off, bmc-on]',
    '  - name: whole',
    '    fence: true',
    '',
  ].join('\n');
}

function podOf(name: string, program: string): string[] {
  return [
    `  - name: ${name}`,
    ...(name === ON_TARGET ? ['    runOn: target'] : []),
    '    podTemplate:',
    '      spec:',
    '        restartPolicy: Never',
    `        activeDeadlineSeconds: ${WEDGED_SECONDS}`,
    '        containers:',
    `          - { name: remedy, image: 'drill/${program}:1' }`,
  ];
}

function linesOf({ condition, status, periodSeconds, heartbeatSeconds, remedies, recovery, maxAttempts, cooldownSeconds }: DrawnThreshold): string[] {
  return [
    `  - nodeConditionType: ${condition}`,
    ...(typeof status === 'string'
      ? [`    nodeConditionStatus: ${status}`]
      : [`    flap: { changes: ${status.changes}, window: ${status.windowSeconds}s }`]),
    `    nodeConditionPeriod: ${periodSeconds}s`,
    `    heartbeatPeriod: ${heartbeatSeconds === 'never' ? 'never' : `${heartbeatSeconds}s`}`,
    `    maxAttempts: ${maxAttempts}`,
    `    cooldown: ${cooldownSeconds}s`,
    ...remedies.flatMap((remedy, index) => remedyLines(remedy, index + 1)),
    ...(recovery === undefined ? [] : ['    recovery:', `      - name: ${recovery}`]),
  ];
}

function remedyLines({ name, periodSeconds, cleans }: DrawnRemedy, number: number): string[] {
  return [`    remedy${number}:`, `      - name: ${name}`, `      - period: ${periodSeconds}s`, ...(cleans ? ['      - clean-resource: true'] : [])];
}
