import { describe, expect, it } from 'vitest';
import { ROWS } from '../../src/domain/automaton.ts';
import type { Plan } from '../../src/domain/plan.ts';
import { method } from '../../src/domain/testing/model.ts';
import { search } from './search.ts';
import { SHORT, shortPlan } from './walker.ts';

const LATENCY = { deviceMaxLatencyMs: 5_000 };
const BMC = { ...LATENCY, device: 'bmc' };

const PLANS: readonly (readonly [string, Plan])[] = [
  ['off and on by one BMC, with one restart', shortPlan()],
  ['no retry, no restart', shortPlan({ stepRetries: 0, maxRestarts: 0 })],
  ['off on purpose', shortPlan({ powerManagement: [{ level: 1, methods: [method('off', 'redfish', 'off', BMC)] }] })],
  [
    'a BMC, then two supplies of a PDU',
    shortPlan({
      stepRetries: 0,
      powerManagement: [
        { level: 1, methods: [method('cycle', 'redfish', 'reboot', BMC)] },
        { level: 2, methods: ['1', '2'].map((plug) => method(`outlet-${plug}`, 'pdu', 'reboot', { ...LATENCY, device: 'pdu', plug })) },
      ],
    }),
  ],
  ['nothing configured', shortPlan({ isolation: [], powerManagement: [], recovery: [], release: 'none' })],
  [
    'wrong configuration',
    shortPlan({ problems: [{ step: 'power-management', severity: 'error', where: 'ConfigMap fence-config-a, line 2', message: 'no agent redfsh' }] }),
  ],
];

/** The heart alone: off, release, on; nothing repeated, short ends. */
const CORE = shortPlan({
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

describe('every run of the automaton with few things out of the ordinary', () => {
  const rows = new Set<string>();

  it.each(PLANS)('keeps the laws and comes to an end wherever one thing goes wrong: %s', (_name, plan) => {
    const found = search(plan, 1, true);
    for (const row of found.rows) rows.add(row);
    expect(Object.fromEntries(found.violations)).toEqual({});
    expect(found.endless).toEqual([]);
    expect(found.states).toBeGreaterThan(500);
  });

  it('reaches every row of the table: none is dead', () => {
    expect(ROWS.map((row) => row.id).filter((id) => !rows.has(id))).toEqual([]);
  });

  it('keeps the laws and comes to an end wherever two things go wrong: more than 40,000 states', { timeout: 120_000 }, () => {
    const found = search(CORE, 2, false);
    expect(Object.fromEntries(found.violations)).toEqual({});
    expect(found.endless).toEqual([]);
    expect(found.states).toBeGreaterThan(40_000);
  });
});
