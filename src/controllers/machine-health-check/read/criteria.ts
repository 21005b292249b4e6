import { parseGoDuration } from '../../shared/go-duration.ts';
import { DEFAULT_STARTUP_TIMEOUT_MS, FORBIDDEN_MACHINE_CONDITIONS, MIN_STARTUP_TIMEOUT_MS } from '../names.ts';
import type { UnhealthyCondition } from '../snapshot.ts';
import { faultOf } from '../threshold.ts';
import type { IntOrPercent, Trigger } from '../threshold.ts';
import type { Dialect } from './dialects.ts';
import type { Fields } from './fields.ts';

const CONDITIONS_MAX = 100;

/** A time by its name without the suffix that v1beta2 gives it; undefined where there is none, or none that can be read. */
function readTime(fields: Fields, name: string, dialect: Dialect): number | undefined {
  if (dialect.times === 'seconds') {
    const seconds = fields.number(name);
    return seconds === undefined ? undefined : seconds * 1_000;
  }
  const text = fields.text(name);
  const ms = text === undefined ? undefined : parseGoDuration(text);
  if (text !== undefined && ms === undefined) fields.invalid(name, text, `time: invalid duration ${JSON.stringify(text)}`);
  return ms;
}

export function readStartupTimeout(spec: Fields, dialect: Dialect): number {
  const fields = dialect.checks(spec);
  const timeoutMs = readTime(fields, dialect.startupTimeout, dialect) ?? DEFAULT_STARTUP_TIMEOUT_MS;
  if (timeoutMs === 0 || timeoutMs >= MIN_STARTUP_TIMEOUT_MS) return timeoutMs;
  fields.invalid(dialect.startupTimeout, fields.raw(dialect.startupTimeout), 'must be at least 30s');
  return timeoutMs;
}

export function readConditions(fields: Fields, name: string, dialect: Dialect, areOfMachines: boolean): UnhealthyCondition[] {
  const items = fields.list(name);
  if (items.length > CONDITIONS_MAX) fields.invalid(name, items.length, `must have at most ${CONDITIONS_MAX} items`);
  const timeout = dialect.times === 'seconds' ? 'timeoutSeconds' : 'timeout';
  return items.map((item) => {
    const [type, status] = [item.text('type') ?? '', item.text('status') ?? ''];
    if (type === '') item.required('type');
    if (status === '') item.required('status');
    if (areOfMachines && FORBIDDEN_MACHINE_CONDITIONS.includes(type)) {
      item.invalid('type', type, `type must not be one of: ${FORBIDDEN_MACHINE_CONDITIONS.join(', ')}`);
    }
    const timeoutMs = readTime(item, timeout, dialect);
    if (timeoutMs === undefined && item.raw(timeout) === undefined) item.required(timeout);
    if (timeoutMs !== undefined && timeoutMs < 0) item.invalid(timeout, item.raw(timeout), 'must not be negative');
    return { type, status, timeoutMs: timeoutMs ?? 0 };
  });
}

function readRange(fields: Fields, name: string): Trigger | undefined {
  const shown = fields.text(name);
  if (shown === undefined || shown === '') return undefined;
  const [, from, to] = /^\[(\d+)-(\d+)\]$/.exec(shown) ?? [];
  if (from === undefined || to === undefined) {
    fields.invalid(name, shown, 'must be a range such as [3-5]');
    return undefined;
  }
  if (Number(to) < Number(from)) {
    fields.invalid(name, shown, `max value ${to} cannot be less than min value ${from} for unhealthyRange`);
    return undefined;
  }
  return { kind: 'range', from: Number(from), to: Number(to), shown };
}

function readMaximum(fields: Fields, dialect: Dialect): Trigger | undefined {
  const raw = fields.raw(dialect.maxUnhealthy);
  if (raw === undefined) return undefined;
  const isNumeric = dialect.readsTextAsNumber && typeof raw === 'string' && /^-?\d+$/.test(raw);
  const value: IntOrPercent = typeof raw === 'number' ? raw : isNumeric ? Number(raw) : typeof raw === 'string' ? raw : JSON.stringify(raw);
  const fault = faultOf(value);
  if (fault !== undefined) {
    fields.invalid(dialect.maxUnhealthy, raw, `must be either an int or a percentage: ${fault}`);
    return undefined;
  }
  // OpenShift takes less than none for none.
  const clamped = dialect.readsTextAsNumber && typeof value === 'number' ? Math.max(0, value) : value;
  return { kind: dialect.isMaximumExcluded ? 'below' : 'at-most', value: clamped, shown: String(value) };
}

/** The range wins over the maximum. Absent: any number may be unhealthy. */
export function readTrigger(spec: Fields, dialect: Dialect): Trigger | undefined {
  const fields = dialect.trigger(spec);
  const maximum = readMaximum(fields, dialect);
  return readRange(fields, dialect.range) ?? maximum;
}
