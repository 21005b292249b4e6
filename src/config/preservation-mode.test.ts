import { describe, expect, it } from 'vitest';
import { detectMode, managerActivityOf } from './preservation-mode.ts';
import type { SeenLease } from './foreign-controller.ts';
import type { ManagerFacts, PreservationChoice, PreservationMode } from './preservation-mode.ts';

const NOW = Date.UTC(2026, 2, 29, 2, 15, 0);
const MINUTE = 60_000;
const DEFINED = { isOurs: false, hasExpiryField: true };
const OURS = { isOurs: true, hasExpiryField: true };
const RENEWED: SeenLease = {
  name: 'machine-controller-manager',
  namespace: 'shoot',
  holder: 'mcm-1',
  renewedMs: NOW - 5_000,
  durationMs: 15_000,
  hasMoved: false,
};
const TRACE = { name: 'm1', hasFinalizer: true, operatedMs: NOW - 24 * 60 * MINUTE };

/** Machines of nobody in particular, and no MCM. */
function facts(more: Partial<ManagerFacts> = {}): ManagerFacts {
  return { nowMs: NOW, isServed: true, isReadable: true, definition: DEFINED, leases: [], deployments: [], machines: [], unseen: [], ...more };
}

type Row = [what: string, choice: PreservationChoice, found: Partial<ManagerFacts>, mode: PreservationMode['mode'], reason: RegExp];

const ROWS: readonly Row[] = [
  ['nothing is done when it is switched off, whatever is there', 'off', { leases: [RENEWED] }, 'off', /--preservation off/],
  ['a renewed Lease of an MCM', 'auto', { leases: [RENEWED] }, 'observe', /Lease shoot\/machine-controller-manager is renewed by mcm-1/],
  ['a renewed Lease, though own was asked for', 'own', { leases: [RENEWED] }, 'observe', /is renewed by mcm-1/],
  ['a renewed Lease beside our definition', 'auto', { definition: OURS, leases: [RENEWED] }, 'observe', /is renewed by mcm-1/],
  ['a Lease that moves under a clock that is hours off', 'own', { leases: [{ ...RENEWED, renewedMs: 0, hasMoved: true }] }, 'observe', /is renewed/],
  ['a Lease of a clock that is a minute ahead', 'own', { leases: [{ ...RENEWED, renewedMs: NOW + MINUTE }] }, 'observe', /is renewed/],
  ['a Lease that nobody renews', 'own', { leases: [{ ...RENEWED, renewedMs: NOW - 61_000 }] }, 'own', /no sign of an MCM/],
  [
    'a Lease that looks old, at the first look',
    'own',
    { leases: [{ ...RENEWED, renewedMs: NOW - 61_000, hasMoved: undefined }] },
    'observe',
    /read a second time/,
  ],
  ['a Lease that was given back', 'own', { leases: [{ ...RENEWED, holder: '', hasMoved: undefined }] }, 'own', /no sign of an MCM/],
  ['a Deployment of an MCM, even of no replicas', 'own', { deployments: [{ name: 'mcm', namespace: 's', replicas: 0 }] }, 'observe', /0 replicas/],
  ['a Machine that an MCM worked on', 'own', { machines: [{ ...TRACE, operatedMs: NOW - MINUTE }] }, 'observe', /Machine m1 carries MCM's finalizer/],
  ['a Machine that an MCM worked on long ago, and nobody says that it is gone', 'auto', { machines: [TRACE] }, 'observe', /may come back/],
  ['the same, and somebody says so', 'own', { machines: [TRACE] }, 'own', /no sign of an MCM/],
  ['the same on our definition', 'auto', { definition: OURS, machines: [TRACE] }, 'observe', /finalizer/],
  ['a definition of others', 'auto', {}, 'observe', /not installed by nodefence/],
  ['our definition', 'auto', { definition: OURS }, 'own', /is ours/],
  [
    'what may not be looked at',
    'own',
    { unseen: ['the right to get leases is missing'] },
    'observe',
    /not known.*the right to get leases is missing/,
  ],
  ['what may not be looked at, on our definition', 'auto', { definition: OURS, unseen: ['x'] }, 'observe', /not known/],
  ['an MCM that was there nine minutes ago', 'own', { quietForMs: 9 * MINUTE }, 'observe', /until 9 min ago/],
  ['an MCM that was there ten minutes ago', 'own', { quietForMs: 10 * MINUTE }, 'own', /no sign/],
  ['no Machines', 'auto', { isServed: false }, 'off', /no Machines/],
  ['no Machines, and own was asked for', 'own', { isServed: false }, 'own', /Nodes alone/],
  ['no Machines here, but Nodes of an MCM elsewhere', 'own', { isServed: false, managedNode: 'n1' }, 'observe', /--machines-kubeconfig/],
  ['the same, and nothing was asked for', 'auto', { isServed: false, managedNode: 'n1' }, 'observe', /Node n1/],
  ['no Machines any more, nine minutes after an MCM', 'own', { isServed: false, quietForMs: 9 * MINUTE }, 'observe', /a moment ago/],
  ['no Machines, and only looking was asked for', 'observe', { isServed: false }, 'observe', /--preservation observe/],
  ['Machines that may not be read', 'own', { isReadable: false, unseen: ['no list machines'] }, 'observe', /only Nodes are: no list machines/],
];

describe('the mode of preservation', () => {
  it.each(ROWS)('%s (%s)', (_what, choice, found, mode, reason) => {
    const detected = detectMode(choice, facts(found));
    expect(detected.mode).toBe(mode);
    expect(detected.reasons.join('; ')).toMatch(reason);
  });

  it('is never own beside a sign of an MCM', () => {
    const beside = ROWS.map(([, , found]) => facts(found)).filter((all) => managerActivityOf(all).length > 0 || all.unseen.length > 0);
    expect(beside.length).toBeGreaterThan(10);
    for (const all of beside) {
      const modes = (['auto', 'observe', 'own', 'off'] as const).map((choice) => detectMode(choice, all).mode);
      expect(modes).not.toContain('own');
    }
  });

  it('reads Machines where they are served and may be read, and never when it is off', () => {
    expect(detectMode('observe', facts()).readsMachines).toBe(true);
    expect(detectMode('observe', facts({ isServed: false })).readsMachines).toBe(false);
    expect(detectMode('observe', facts({ isReadable: false })).readsMachines).toBe(false);
    expect(detectMode('off', facts()).readsMachines).toBe(false);
  });

  it('writes as the MCM that is or was there writes, else as the guide does', () => {
    expect(detectMode('auto', facts({ leases: [RENEWED] })).spelling).toBe('auto-preserved');
    expect(detectMode('own', facts({ machines: [TRACE] })).spelling).toBe('auto-preserved');
    expect(detectMode('own', facts()).spelling).toBe('auto-preserve');
  });

  it('tells a definition without the expiry', () => {
    const definition = { isOurs: false, hasExpiryField: false };
    expect(detectMode('own', facts({ definition }))).toMatchObject({ mode: 'own', hasExpiryField: false });
    expect(detectMode('own', facts()).hasExpiryField).toBe(true);
  });
});
