import type { ProbeDependencies } from '../controller.ts';

const none = (): void => undefined;

/** A leader that observes, tells nobody, and has nothing else to write. */
export const QUIET = {
  leadership: { isLeading: true },
  recorder: { event: none },
  log: { debug: none, info: none, warn: none, error: none },
  metrics: { devices: none, strangers: none, oldestProbe: none, credentialExpiry: none },
  options: { mode: 'observe' },
  recordedWith: (_node, status) => status,
} satisfies Partial<ProbeDependencies>;
