import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import { namesIn, numberIn, remember, remembered, textOf } from './reading.ts';
import { counted, ok, problem, unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';

const FOLDER = 'sys/devices/system/edac/mc';
const STATE = 'hardware.json';
/** More rises than these within one window are a problem long before. */
const RISES_MAX = 200;

export interface MemoryErrors {
  corrected: number;
  uncorrected: number;
}

/** Errors by memory controller. */
export type EdacReading = Readonly<Record<string, MemoryErrors>>;

export interface Rise extends MemoryErrors {
  atMs: number;
}

/** What was read before, in this boot. */
export interface EdacHistory {
  bootID: string;
  last: EdacReading;
  rises: readonly Rise[];
}

export interface ErrorLimits {
  windowMs: number;
  /** More than these within the window are a problem. */
  corrected: number;
  uncorrected: number;
}

export const USUAL_LIMITS: ErrorLimits = { windowMs: 24 * 3_600_000, corrected: 9, uncorrected: 0 };

export interface HardwarePorts {
  root: string;
  stateFolder: string;
  clock: Pick<Clock, 'bootMs'>;
}

export async function checkHardware({ root, stateFolder, clock }: HardwarePorts, limits: ErrorLimits): Promise<Verdict> {
  const reading = await readEdac(root);
  if (reading === undefined) return unknown('this kernel counts no memory errors (no EDAC driver)');
  const bootID = (await textOf(root, 'proc/sys/kernel/random/boot_id'))?.trim() ?? '';
  const history = advance(historyOf(await remembered(stateFolder, STATE), bootID), reading, {
    bootID,
    nowMs: clock.bootMs(),
    windowMs: limits.windowMs,
  });
  await remember(stateFolder, STATE, history.next);
  return judgeHardware(history, limits);
}

/** Undefined: no memory controller is counted. */
export async function readEdac(root: string): Promise<EdacReading | undefined> {
  const names = ((await namesIn(root, FOLDER)) ?? []).filter((name) => /^mc\d{1,4}$/u.test(name));
  const reading: Record<string, MemoryErrors> = {};
  for (const name of names) {
    const [corrected, uncorrected] = await Promise.all(
      ['ce_count', 'ue_count'].map(async (attribute) => numberIn(await textOf(root, join(FOLDER, name, attribute)))),
    );
    if (corrected !== undefined && uncorrected !== undefined) reading[name] = { corrected, uncorrected };
  }
  return Object.keys(reading).length === 0 ? undefined : reading;
}

export interface Advanced {
  next: EdacHistory;
  isBaseline: boolean;
}

/** The first reading of a controller is a baseline. A counter that fell was reset, and has counted what it shows since. */
export function advance(
  history: EdacHistory | undefined,
  reading: EdacReading,
  { bootID, nowMs, windowMs }: { bootID: string; nowMs: number; windowMs: number },
): Advanced {
  const rise = { atMs: nowMs, corrected: 0, uncorrected: 0 };
  for (const [name, now] of Object.entries(reading)) {
    const before = history?.last[name];
    if (before === undefined) continue;
    rise.corrected += since(before.corrected, now.corrected);
    rise.uncorrected += since(before.uncorrected, now.uncorrected);
  }
  const kept = (history?.rises ?? []).filter(({ atMs }) => nowMs - atMs <= windowMs && atMs <= nowMs);
  const rises = rise.corrected + rise.uncorrected === 0 ? kept : [...kept, rise].slice(-RISES_MAX);
  return { next: { bootID, last: reading, rises }, isBaseline: history === undefined };
}

function since(before: number, now: number): number {
  return now >= before ? now - before : now;
}

export function judgeHardware({ next, isBaseline }: Advanced, limits: ErrorLimits): Verdict {
  if (isBaseline) return ok('first reading of the memory errors: a baseline');
  const hours = Math.round(limits.windowMs / 360_000) / 10;
  const [corrected, uncorrected] = (['corrected', 'uncorrected'] as const).map((kind) => next.rises.reduce((total, rise) => total + rise[kind], 0));
  const words = (count: number, kind: string): string => `${counted(count, `${kind} memory error`)} in ${hours} h`;
  if (uncorrected !== undefined && uncorrected > limits.uncorrected)
    return problem(`${words(uncorrected, 'uncorrected')}, more than ${limits.uncorrected}`);
  if (corrected !== undefined && corrected > limits.corrected) return problem(`${words(corrected, 'corrected')}, more than ${limits.corrected}`);
  return ok(words(corrected ?? 0, 'corrected'));
}

/** Undefined: nothing, of another boot, or not whole. */
export function historyOf(value: unknown, bootID: string): EdacHistory | undefined {
  const fields = fieldsOf(value);
  const last = fieldsOf(fields?.['last']);
  const rises = fields?.['rises'];
  if (fields?.['bootID'] !== bootID || last === undefined || !Array.isArray(rises) || rises.length > RISES_MAX) return undefined;
  if (!Object.values(last).every(isErrors)) return undefined;
  if (!rises.every((rise) => isErrors(rise) && 'atMs' in rise && typeof rise.atMs === 'number')) return undefined;
  return { bootID, last: last as EdacReading, rises: rises as Rise[] };
}

function isErrors(value: unknown): value is MemoryErrors {
  const fields = fieldsOf(value);
  return (['corrected', 'uncorrected'] as const).every((kind) => Number.isSafeInteger(fields?.[kind]) && Number(fields?.[kind]) >= 0);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}
