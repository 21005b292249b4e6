import { DEFAULT_STANDS } from '../domain/plan-problems.ts';
import type { Setting, Settings } from './configuration.ts';
import type { Problems } from './problems.ts';
import { parseBoolean, parseDuration } from './properties.ts';

const DURATION_MAX_MS = 366 * 86_400_000;

/** Reads typed values from layers of settings, the first that has a key wins. Bad values are told and leave the default. */
export class SettingReader {
  readonly #layers: readonly Settings[];
  readonly #problems: Problems;
  readonly #isLenient: boolean;

  /** `isLenient`: a bad value is told and keeps nobody from being fenced. */
  constructor(layers: readonly Settings[], problems: Problems, isLenient = false) {
    this.#layers = layers;
    this.#problems = problems;
    this.#isLenient = isLenient;
  }

  find(key: string): Setting | undefined {
    return this.#layers.find((layer) => layer.has(key))?.get(key);
  }

  duration(key: string, otherwise: number, minimumMs = 0, maximumMs = DURATION_MAX_MS): number {
    const most = maximumMs === DURATION_MAX_MS ? 'a year' : `${maximumMs} ms`;
    return this.#read(key, otherwise, `must be a duration such as 5s, 3m, 1h30m or 500ms, from ${minimumMs} ms to ${most}`, (value) => {
      const ms = parseDuration(value);
      return ms === undefined || ms < minimumMs || ms > maximumMs ? undefined : ms;
    });
  }

  integer(key: string, otherwise: number, minimum: number, maximum: number): number {
    return this.#read(key, otherwise, `must be a whole number from ${minimum} to ${maximum}`, (value) => {
      const number = /^-?\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
      return number >= minimum && number <= maximum ? number : undefined;
    });
  }

  choice<T extends string>(key: string, otherwise: T, values: readonly T[]): T {
    return this.#read(key, otherwise, `must be one of ${values.join(', ')}`, (value) =>
      values.find((candidate) => candidate === value.toLowerCase()),
    );
  }

  boolean(key: string, otherwise: boolean): boolean {
    return this.#read(key, otherwise, 'must be yes or no', parseBoolean);
  }

  #read<T>(key: string, otherwise: T, rule: string, parse: (value: string) => T | undefined): T {
    const setting = this.find(key);
    if (setting === undefined) return otherwise;
    const parsed = parse(setting.value);
    if (parsed !== undefined) return parsed;
    const message = `${key}=${setting.value.slice(0, 60)} ${rule}`;
    if (this.#isLenient) this.#problems.warning(setting.where, `${message}; ${DEFAULT_STANDS}`);
    else this.#problems.error(setting.where, message);
    return otherwise;
  }
}
