import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { advance, checkHardware, historyOf, judgeHardware } from './hardware.ts';
import type { EdacHistory, EdacReading } from './hardware.ts';
import { MachineFolder } from './testing/machine-folder.ts';
import type { Verdict } from './verdict.ts';

const HOUR = 3_600_000;
const LIMITS = { windowMs: 24 * HOUR, corrected: 9, uncorrected: 0 };
let machine: MachineFolder;
let clock: ManualClock;
beforeEach(() => {
  machine = new MachineFolder();
  clock = new ManualClock({ bootMs: 100 * HOUR });
  machine.write({ 'proc/sys/kernel/random/boot_id': 'boot-1\n' });
});
afterEach(() => machine.remove());

function edac(corrected: number, uncorrected = 0, controller = 'mc0'): void {
  const folder = `sys/devices/system/edac/mc/${controller}`;
  machine.write({
    [`${folder}/ce_count`]: `${corrected}\n`,
    [`${folder}/ue_count`]: `${uncorrected}\n`,
    'sys/devices/system/edac/mc/power/control': 'auto\n',
  });
}
const check = async (): Promise<Verdict> => checkHardware({ root: machine.root, stateFolder: machine.stateFolder, clock }, LIMITS);

/** One reading an hour of one controller. */
function hourly(...readings: (readonly [corrected: number, uncorrected: number])[]): Verdict {
  let history: EdacHistory | undefined;
  let verdict: Verdict | undefined;
  readings.forEach(([corrected, uncorrected], hour) => {
    const advanced = advance(history, { mc0: { corrected, uncorrected } }, { bootID: 'b', nowMs: hour * HOUR, windowMs: LIMITS.windowMs });
    history = advanced.next;
    verdict = judgeHardware(advanced, LIMITS);
  });
  return verdict ?? { health: 'unknown', sentence: '' };
}

describe('memory errors', () => {
  it('are counted from the first reading on', async () => {
    edac(1_000, 3);
    expect(await check()).toEqual({ health: 'ok', sentence: 'first reading of the memory errors: a baseline' });
    expect(await check()).toEqual({ health: 'ok', sentence: '0 corrected memory errors in 24 h' });
  });

  it('are a problem above nine corrected ones in the window', async () => {
    edac(5);
    await check();
    edac(14);
    expect(await check()).toEqual({ health: 'ok', sentence: '9 corrected memory errors in 24 h' });
    edac(15);
    expect(await check()).toEqual({ health: 'problem', sentence: '10 corrected memory errors in 24 h, more than 9' });
  });

  it('are a problem with the first uncorrected one', async () => {
    edac(0);
    await check();
    edac(0, 1);
    expect(await check()).toEqual({ health: 'problem', sentence: '1 uncorrected memory error in 24 h, more than 0' });
  });

  it('are forgotten when the window is over', () => {
    expect(hourly([0, 0], [10, 1])).toMatchObject({ health: 'problem' });
    const quiet = Array.from({ length: 24 }, () => [10, 1] as const);
    expect(hourly([0, 0], [10, 1], ...quiet)).toMatchObject({ health: 'problem' });
    expect(hourly([0, 0], [10, 1], ...quiet, [10, 1])).toMatchObject({ health: 'ok' });
  });

  it('are counted anew after a counter fell: it was reset', () => {
    expect(hourly([1_000, 2], [3, 0])).toMatchObject({ health: 'ok', sentence: '3 corrected memory errors in 24 h' });
    expect(hourly([1_000, 2], [10, 0])).toMatchObject({ health: 'problem' });
    expect(hourly([1_000, 2], [3, 1])).toMatchObject({ health: 'problem' });
  });

  it('of a controller that was not there before are a baseline', async () => {
    edac(0);
    await check();
    edac(500, 5, 'mc1');
    expect(await check()).toMatchObject({ health: 'ok', sentence: '0 corrected memory errors in 24 h' });
  });

  it('of another boot are no beginning', async () => {
    edac(0);
    await check();
    machine.write({ 'proc/sys/kernel/random/boot_id': 'boot-2\n' });
    edac(50);
    expect(await check()).toMatchObject({ health: 'ok', sentence: 'first reading of the memory errors: a baseline' });
  });

  it('are unknown without a driver', async () => {
    expect(await check()).toEqual({ health: 'unknown', sentence: 'not checked: this kernel counts no memory errors (no EDAC driver)' });
    machine.write({ 'sys/devices/system/edac/mc/mc0/ce_count': 'many\n', 'sys/devices/system/edac/mc/mc0/ue_count': '-1\n' });
    expect(await check()).toMatchObject({ health: 'unknown' });
  });

  it.each(['', '{', 'null', '{"bootID":"boot-1","last":{"mc0":{"corrected":"1"}},"rises":[]}', '{"bootID":"boot-1","last":{},"rises":[{}]}'])(
    'begin anew where what was remembered is not whole: %j',
    async (text) => {
      machine.write({ 'run/nodefence/checks/hardware.json': text });
      edac(3);
      expect(await check()).toMatchObject({ sentence: 'first reading of the memory errors: a baseline' });
    },
  );

  it('never count less than what a counter rose by, nor more than it shows', () => {
    const counts = fc.array(fc.nat(50), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(counts, (values) => {
        let history: EdacHistory | undefined;
        for (const corrected of values) {
          const reading: EdacReading = { mc0: { corrected, uncorrected: 0 } };
          history = advance(history, reading, { bootID: 'b', nowMs: 0, windowMs: HOUR }).next;
          expect(historyOf(JSON.parse(JSON.stringify(history)), 'b')).toEqual(history);
        }
        const total = history?.rises.reduce((sum, { corrected }) => sum + corrected, 0) ?? -1;
        expect(total).toBeGreaterThanOrEqual(Math.max(0, (values.at(-1) ?? 0) - (values[0] ?? 0)));
        expect(total).toBeLessThanOrEqual(values.slice(1).reduce((sum, value) => sum + value, 0));
      }),
    );
  });
});
