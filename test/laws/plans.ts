import { READ_BACK_EVIDENCE } from '../../src/domain/evidence.ts';
import type { Plan } from '../../src/domain/plan.ts';
import { method } from '../../src/domain/testing/model.ts';
import { narrowed } from './narrowed.ts';
import { SHORT, shortPlan } from './short-plan.ts';
import type { Walker } from './walker.ts';

const LATENCY = { deviceMaxLatencyMs: 5_000 };
const BMC = { ...LATENCY, device: 'bmc' };

const PORT = { ...LATENCY, kind: 'fabric', device: 'switch' } as const;

/** A world to begin with. */
export interface World {
  name: string;
  plan: Plan;
  /** How it stands at the beginning; absent: the node has just failed. */
  begin?: (walker: Walker) => void;
}

/** Worlds whose every run is searched: together they have every kind of step, level, trigger and end. */
export const WORLDS: readonly World[] = [
  { name: 'off and on by one BMC, with one restart', plan: shortPlan() },
  { name: 'no retry, no restart', plan: shortPlan({ stepRetries: 0, maxRestarts: 0 }) },
  { name: 'off on purpose', plan: shortPlan({ powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', BMC)] }] }) },
  {
    name: 'a BMC, then two supplies of a PDU',
    plan: shortPlan({
      stepRetries: 0,
      powerManagement: [
        { level: 1, methods: [method('cycle', 'redfish', 'reboot', BMC)] },
        { level: 2, methods: ['1', '2'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { ...LATENCY, device: 'pdu', plug })) },
      ],
    }),
  },
  {
    name: 'two supplies of a PDU, then a BMC',
    plan: shortPlan({
      stepRetries: 0,
      maxRestarts: 0,
      powerManagement: [
        { level: 1, methods: ['1', '2'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { ...LATENCY, device: 'pdu', plug })) },
        { level: 2, methods: [method('cycle', 'redfish', 'reboot', BMC)] },
      ],
    }),
  },
  {
    name: 'an instance that is restarted or else deleted',
    plan: shortPlan({
      stepRetries: 0,
      maxRestarts: 0,
      powerManagement: [
        { level: 1, methods: [method('cycle', 'redfish', 'reboot', BMC)] },
        { level: 2, methods: [method('end', 'aws', 'delete', BMC)] },
      ],
    }),
    begin: (walker) => (walker.removesNodes = true),
  },
  {
    name: 'two supplies of a PDU, then the watchdog of a machine that somebody asks to fence',
    plan: shortPlan({
      stepRetries: 0,
      maxRestarts: 0,
      minimumEvidence: [...READ_BACK_EVIDENCE, 'watchdog'],
      powerManagement: [
        { level: 1, methods: ['1', '2'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { ...LATENCY, device: 'pdu', plug })) },
        { level: 2, methods: [method('dog', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog' })] },
      ],
    }),
    begin: (walker) => {
      walker.ask(true);
    },
  },
  { name: 'nothing configured', plan: shortPlan({ isolation: [], powerManagement: [], recovery: [], release: 'none' }) },
  {
    name: 'wrong configuration',
    plan: shortPlan({
      problems: [{ step: 'power-management', severity: 'error', where: 'ConfigMap fence-config-a, line 2', message: 'no agent redfsh' }],
    }),
  },
  {
    name: 'a healthy node that somebody asks to fence',
    plan: shortPlan({ maxRestarts: 0 }),
    begin: (walker) => {
      walker.speak('True');
      walker.ask(true);
    },
  },
  { name: 'a BMC that does not show whose machine it switches', plan: shortPlan({ identity: 'unverified', stepRetries: 0, maxRestarts: 0 }) },
  { name: 'pods one by one', plan: shortPlan({ release: 'delete-pods', podsPerMinute: 60, stepRetries: 0, maxRestarts: 0 }) },
  { name: 'under disruption budgets', plan: shortPlan({ release: 'evict', stepRetries: 0, maxRestarts: 0 }) },
  {
    name: 'two ways to storage that are revoked first',
    plan: shortPlan({
      stepRetries: 0,
      maxRestarts: 0,
      isolation: [
        {
          level: 1,
          methods: ['1', '2'].map((plug) => method(`close-${plug}`, 'fc-switch', 'off', { ...PORT, plug, storage: `san-${plug}` })),
        },
      ],
      recovery: [{ level: 1, methods: ['1', '2'].map((plug) => method(`open-${plug}`, 'fc-switch', 'on', { ...PORT, plug })) }],
    }),
  },
  {
    name: 'a hypervisor whose servers are evacuated while it is off',
    plan: shortPlan({
      stepRetries: 0,
      powerManagement: [
        {
          level: 1,
          methods: [method('cycle', 'redfish', 'reboot', BMC), method('evacuate', 'nova-service-down', 'run', { kind: 'action', whileOff: true })],
        },
      ],
    }),
  },
  {
    name: 'an instance that is deleted, and its Node with it',
    plan: shortPlan({ powerManagement: [{ level: 1, methods: [method('end', 'aws', 'delete', BMC)] }] }),
    begin: (walker) => {
      walker.removesNodes = true;
      walker.isPreservable = true;
    },
  },
  {
    name: 'an instance that is deleted or else restarted, while nobody takes its Node away',
    plan: shortPlan({
      stepRetries: 0,
      maxRestarts: 0,
      powerManagement: [
        { level: 1, methods: [method('end', 'aws', 'delete', BMC)] },
        { level: 2, methods: [method('cycle', 'redfish', 'reboot', BMC)] },
      ],
    }),
    begin: (walker) => (walker.isPreservable = true),
  },
  {
    name: 'a preserved machine',
    plan: shortPlan({ stepRetries: 0, maxRestarts: 0 }),
    begin: preserved,
  },
  {
    name: 'a preserved machine whose pods must move where its way to storage stays open',
    plan: shortPlan({
      stepRetries: 0,
      maxRestarts: 0,
      preserved: 'power-off',
      isolation: [{ level: 1, methods: [method('close', 'fc-switch', 'off', { ...PORT, plug: '1', storage: 'san' })] }],
      recovery: [{ level: 1, methods: [method('open', 'fc-switch', 'on', { ...PORT, plug: '1' })] }],
    }),
    begin: preserved,
  },
  {
    name: 'a healthy node that is to end in off',
    plan: shortPlan({ stepRetries: 0, maxRestarts: 1 }),
    begin: (walker) => {
      walker.isPreservable = true;
      walker.speak('True');
      walker.ask(true, { ending: 'off' });
    },
  },
  {
    name: 'a healthy node that is to be isolated only, by one of its methods',
    plan: shortPlan({
      stepRetries: 0,
      maxRestarts: 1,
      isolation: [{ level: 1, methods: [method('cordon', 'cordon', 'run'), method('mark', 'taint', 'run')] }],
    }),
    begin: (walker) => {
      walker.isLimitable = true;
      walker.speak('True');
      walker.model.askedPlan = narrowed(walker.model.plan, ['mark']);
      walker.ask(true, { lastStep: 'isolation', methods: ['mark'] });
    },
  },
];

function preserved(walker: Walker): void {
  walker.isPreservable = true;
  walker.model.preservation = { kind: 'isolate-and-hold', cause: 'user' };
}

/** The heart alone: off, release, on; nothing repeated, short ends. */
export const CORE = shortPlan({
  isolation: [],
  recovery: [],
  stepRetries: 0,
  maxRestarts: 0,
  timing: {
    ...SHORT,
    healthyDelayMs: 2_000,
    probationMs: 4_000,
    historyTtlMs: 4_000,
    readyTimeoutMs: 6_000,
    isolationDelayMs: 0,
    powerManagementDelayMs: 0,
  },
});
