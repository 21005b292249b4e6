import type { ProbeDependencies } from '../controller.ts';

const none = (): void => undefined;

/** A leader that observes, and tells nobody. */
export const QUIET = {
  leadership: { isLeading: true },
  recorder: { event: none },
  log: { debug: none, info: none, warn: none, error: none },
  metrics: { devices: none, strangers: none, oldestProbe: none, credentialExpiry: none },
  options: { mode: 'observe' },
} satisfies Partial<ProbeDependencies>;
