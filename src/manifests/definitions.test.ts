import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FENCE_STATES, LIMITS } from '../domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../domain/node-fence.ts';
import { DEFAULT_TIMING, STEPS } from '../domain/plan.ts';
import type { PlanMethod } from '../domain/plan.ts';
import { CONTROLLER_ACCESS } from './access.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NODE_FENCE_DEFINITION, NODE_FENCE_REPORT_DEFINITION, NODE_FENCE_STOP_DEFINITION } from './definitions.ts';
import type { JsonSchema } from './schema.ts';
import { violations } from './violations.ts';

const AT = '2026-11-21T10:00:00.000Z';

const METHOD: Required<PlanMethod> = {
  name: 'bmc-off',
  agent: 'redfish',
  kind: 'power',
  action: 'off',
  device: '192.0.2.7:443',
  plug: '1',
  parameters: { ip: '192.0.2.7' },
  secret: 'secret-fence-method-bmc-off-node-a',
  secretFile: 'rack-3/bmc-a',
  secretProgram: 'vault',
  storage: 'san-1',
  storageMatch: 'driver:rbd.csi.ceph.com',
  identity: 'unverified',
  deviceMaxLatencyMs: 30_000,
  evidence: 'host-off',
  whileOff: true,
  runMaxMs: 60_000,
  diagWaitMs: 10_000,
};

const RUN: Required<JournalEntry> = {
  id: 'bmc-off-9cf8f46e-f44b-11e7-8977-68f728ac95ea',
  step: 'power-management',
  level: 1,
  operation: 'off:0',
  method: 'bmc-off',
  agent: 'redfish',
  device: '192.0.2.7:443',
  plug: '',
  action: 'off',
  attempt: 1,
  restart: 0,
  runner: 'in-process',
  epoch: 4,
  startedAt: AT,
  deadlineMs: 8000,
  edgeUnseen: true,
  offSent: true,
  restarted: ['bmc-off'],
  bootID: 'b',
  finishedAt: AT,
  result: 'succeeded',
  message: 'PowerState=Off',
};

/** Every field that a status can have. */
const STATUS: Required<NodeFenceStatus> = {
  fenceUID: 'f',
  state: 'running',
  step: 'power-management',
  level: 1,
  incident: 3,
  epoch: 4,
  frozen: {
    nodeUID: 'u',
    systemUUID: 's',
    providerID: 'p',
    bootID: 'b',
    plan: {
      source: 'node',
      isolation: [],
      powerManagement: [{ level: 1, methods: [METHOD] }],
      recovery: [],
      timing: DEFAULT_TIMING,
      stepRetries: 5,
      maxRestarts: -1,
      trigger: 'not-ready',
      release: 'auto',
      preserved: 'power-off',
      podsPerMinute: 6,
      priorityOrder: ['gold'],
      minimumEvidence: ['power-off', 'ack'],
      identity: 'verified',
      supplies: 2,
      problems: [
        { step: 'isolation', severity: 'warning', where: 'ConfigMap fence-config-a, key config.properties, line 3', message: 'unknown key' },
      ],
    },
    asked: { methods: ['bmc-off'], lastStep: 'isolation' },
  },
  ending: 'off',
  lastStep: 'isolation',
  retries: 0,
  restarts: 0,
  outcome: 'recovered',
  trigger: { kind: 'node-condition', conditionType: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', since: AT, bootID: 'b' },
  jobs: [RUN.id],
  journal: [RUN],
  evidence: [
    {
      kind: 'power-off',
      grade: 'read-back',
      source: RUN.id,
      detail: '4 reads',
      identity: 'verified',
      observedAt: AT,
      bootID: 'b',
      deviceTime: AT,
      storages: ['san-1'],
      terminated: false,
      voidedAt: AT,
      voidedBecause: 'lease renewed',
    },
  ],
  hold: { reason: 'observe', policy: '', message: 'mode observe', since: AT },
  slotGivenAway: true,
  restore: {
    cordoned: true,
    taints: [{ key: 'k', value: '', effect: 'NoExecute' }],
    annotations: { a: 'b' },
    edges: [{ method: 'bmc-off', agent: 'redfish', device: 'd', plug: '', state: 'off' }],
  },
  released: {
    by: 'out-of-service',
    at: AT,
    pods: 2,
    evidence: RUN.id,
    left: 1,
    batch: 2,
    names: ['web/a'],
    volumesDetachedAt: AT,
    timedOut: false,
    voidedAt: AT,
  },
  storageRelease: { at: AT, pods: 1, evidence: RUN.id, left: 0, batch: 1, names: ['web/b'], storages: ['san-1'], bootID: 'b' },
  timeline: {
    failedAt: AT,
    noticedAt: AT,
    isolatedAt: AT,
    poweredOffAt: AT,
    releasedAt: AT,
    volumesDetachedAt: AT,
    poweredOnAt: AT,
    readyAt: AT,
    finalAt: AT,
  },
  conditions: [{ type: 'Isolated', status: 'True', reason: 'Cordoned', message: '', lastTransitionTime: AT }],
  history: [{ incident: 2, outcome: 'recovered', from: AT, to: AT, summary: 'off by redfish, back after 90 s' }],
  message: 'waits for the node',
};

function schemaOf(definition: (typeof CUSTOM_RESOURCE_DEFINITIONS)[number], part: 'spec' | 'status'): JsonSchema {
  return definition.spec.versions[0]?.schema.openAPIV3Schema.properties[part] as JsonSchema;
}

const status = schemaOf(NODE_FENCE_DEFINITION, 'status');
const spec = schemaOf(NODE_FENCE_DEFINITION, 'spec');

describe('the NodeFence schema', () => {
  it('admits every field that the controller can write', () => {
    expect(violations(STATUS, status)).toEqual([]);
  });

  it.each<[string, Partial<Record<keyof NodeFenceStatus, unknown>>, string]>([
    ['a state that does not exist', { state: 'paused' }, 'state'],
    ['a negative count', { retries: -1 }, 'retries'],
    ['a count that is a text', { retries: '3' }, 'retries'],
    ['a field that nobody knows', { surprise: 1 } as never, 'surprise'],
    ['a journal beyond its bound', { journal: Array.from({ length: LIMITS.journal + 1 }, () => RUN) }, 'journal'],
    ['a message that is too long', { journal: [{ ...RUN, message: 'x'.repeat(LIMITS.message + 1) }] }, 'journal[0].message'],
    ['a run without an id', { journal: [{ ...RUN, id: undefined }] }, 'journal[0].id'],
    ['evidence of an unknown kind', { evidence: [{ ...STATUS.evidence[0], kind: 'hope' }] }, 'evidence[0].kind'],
    ['a time that is none', { timeline: { failedAt: 'yesterday' } }, 'timeline.failedAt'],
  ])('refuses %s', (_what, change, path) => {
    expect(violations({ ...STATUS, ...change }, status).map((violation) => violation.path)).toContain(path);
  });

  it('refuses a spec without a node, or with a name that no Node can have', () => {
    expect(violations({}, spec)).toHaveLength(1);
    expect(violations({ node: 'Not A Node' }, spec)).toHaveLength(1);
    expect(violations({ node: 'k8s-host1.example.com' }, spec)).toEqual([]);
  });

  it('names the states and steps of the domain, in order', () => {
    expect(status.properties?.['state']?.enum).toEqual(FENCE_STATES);
    expect(status.properties?.['step']?.enum).toEqual(STEPS);
  });

  it('bounds what grows as the domain does, and replaces the journal as a whole', () => {
    for (const name of ['journal', 'evidence', 'history', 'conditions'] as const) expect(status.properties?.[name]?.maxItems).toBe(LIMITS[name]);
    expect(status.properties?.['journal']?.['x-kubernetes-list-type']).toBe('atomic');
    expect(status.properties?.['conditions']?.['x-kubernetes-list-map-keys']).toEqual(['type']);
  });

  it('gives a new object a complete status', () => {
    expect(Object.keys(status.default as object)).toEqual(expect.arrayContaining(status.required ?? []));
    expect(violations(status.default, status)).toEqual([]);
    expect(status.default).toMatchObject({ state: 'new', step: 'isolation', retries: 0, restarts: 0 });
  });

  it('lets texts be empty on servers that take them for null, but for keys of lists', () => {
    const run = status.properties?.['journal']?.items?.properties;
    expect([run?.['plug']?.nullable, run?.['action']?.nullable]).toEqual([true, undefined]);

    expect(schemaOf(NODE_FENCE_REPORT_DEFINITION, 'status').properties?.['conditions']?.items?.properties).toMatchObject({
      type: expect.not.objectContaining({ nullable: true }) as object,
      message: { nullable: true },
    });
  });

  it('prints NODE STEP STATUS RETRIES HOLD OUTCOME AGE, and the last of JOBS when asked for more', () => {
    const columns = NODE_FENCE_DEFINITION.spec.versions[0]?.additionalPrinterColumns ?? [];
    const named = (isWide: boolean): string[] =>
      columns.filter((column) => (column.priority === 1) === isWide).map((column) => column.name.toUpperCase());
    expect(named(false)).toEqual(['NODE', 'STEP', 'STATUS', 'RETRIES', 'HOLD', 'OUTCOME', 'AGE']);
    expect(named(true)).toEqual(['LAST JOB']);
  });
});

describe('the NodeFenceStop schema', () => {
  const stop = schemaOf(NODE_FENCE_STOP_DEFINITION, 'spec');
  it('wants one node or all of them, and a reason', () => {
    expect(violations({ node: 'a', reason: 'maintenance' }, stop)).toEqual([]);
    expect(violations({ all: true, reason: 'maintenance' }, stop)).toEqual([]);
    expect(violations({ reason: 'maintenance' }, stop)).not.toEqual([]);
    expect(violations({ node: 'a', all: true, reason: 'maintenance' }, stop)).not.toEqual([]);
    expect(violations({ all: false, reason: 'maintenance' }, stop)).not.toEqual([]);
    expect(violations({ node: 'a' }, stop)).not.toEqual([]);
  });
});

describe('every definition', () => {
  const walk = (schema: JsonSchema, path: string): [string, JsonSchema][] => [
    [path, schema],
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => walk(property, `${path}.${name}`)),
    ...(schema.items === undefined ? [] : walk(schema.items, `${path}[]`)),
  ];
  const fields = CUSTOM_RESOURCE_DEFINITIONS.flatMap((definition) =>
    (['spec', 'status'] as const)
      .filter((part) => part in (definition.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {}))
      .flatMap((part) => walk(schemaOf(definition, part), `${definition.spec.names.kind}.${part}`)),
  );

  it('describes every field, so that kubectl explain reads like documentation', () => {
    expect(fields.length).toBeGreaterThan(150);
    expect(fields.filter(([, schema]) => schema.description.length < 3).map(([path]) => path)).toEqual([]);
  });

  it('bounds every list and every text', () => {
    const unbounded = fields.filter(
      ([, schema]) =>
        (schema.type === 'array' && schema.maxItems === undefined) ||
        (schema.type === 'string' && schema.maxLength === undefined && schema.enum === undefined && schema.format === undefined),
    );
    expect(unbounded.map(([path]) => path)).toEqual([]);
  });

  it('may stand under k8s.io', () => {
    for (const { metadata } of CUSTOM_RESOURCE_DEFINITIONS)
      expect(metadata.annotations?.['api-approved.kubernetes.io']).toBe('unapproved, nodefence');
  });
});

describe('the shipped manifests', () => {
  it('let the controller write only what fencing takes, and Secrets and ConfigMaps only be read, in its own namespace', () => {
    const rules = CONTROLLER_ACCESS.flatMap((object) => ('rules' in object ? object.rules.map((rule) => ({ kind: object.kind, ...rule })) : []));
    const verbsOf = (resource: string): string[] => rules.flatMap((rule) => (rule.resources.includes(resource) ? rule.verbs : []));
    expect(rules.some(({ verbs, resources, apiGroups }) => [...verbs, ...resources, ...apiGroups].includes('*'))).toBe(false);
    expect(rules.filter(({ resources }) => resources.includes('secrets'))).toMatchObject([{ kind: 'Role', verbs: ['get', 'list', 'watch'] }]);
    expect(verbsOf('nodes')).toEqual(['get', 'list', 'watch', 'patch']);
    expect(verbsOf('nodefencestops')).toEqual(['list', 'watch']);
  });

  it('observe until somebody says enforce', () => {
    const read = (path: string): string => readFileSync(new URL(`../../config/${path}`, import.meta.url), 'utf8');
    expect(read('controller/deployment.yaml')).toMatch(/args:\s+- controller\s+- --mode\s+- observe/);
    expect(read('enforce/kustomization.yaml')).toContain('value: enforce');
  });
});
