import type { DummyRuleMap } from 'oxlint';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HIDDEN_MEMBERS } from './hidden-members.ts';

// What code that runs under deterministic simulation may not touch: every source of time, chance and the outside world but the injected ports.

/** Folders whose code is made to run in the simulation, whether a world draws it or not. */
const FOLDERS = [
  'src/{domain,controllers,dispatch,ports,kube,config,manager}/**/*.ts',
  'src/testbed/{apiserver,cluster}/**/*.ts',
  'src/laws/**/*.ts',
  'src/node/core/**/*.ts',
  'agents/{cordon,uncordon,taint}/**/*.ts',
];

const ENTRY = 'test/simulation/run-seed.ts';
const VALUE_IMPORT = /^(?:import|export)\s+(?!type\b)[^;]*?from\s+'(\.[^']+)';/gmu;

/** Files under src that the simulation loads, from the root of the repository. Those of devices' agents are loaded when a device is switched, which it never is. */
function simulatedFiles(root: string): string[] {
  const found = new Set([ENTRY]);
  for (const file of found) {
    for (const [, imported] of readFileSync(join(root, file), 'utf8').matchAll(VALUE_IMPORT)) found.add(join(dirname(file), imported ?? ''));
  }
  return [...found].filter((file) => file.startsWith('src/')).sort();
}

export const SIMULATED = [...FOLDERS, ...simulatedFiles(join(import.meta.dirname, '../..'))];

/** Shells around them, which do touch the world, and tests. */
export const NOT_SIMULATED = [
  '**/*.test.ts',
  'src/kube/**/{https-transport,kubeconfig,exec-credential,exec-credentials,credentials}*.ts',
  'src/kube/{transport,kubeconfig,credentials}/**',
  'src/testbed/apiserver/**/{https,http}-*.ts',
  'src/testbed/apiserver/{http,https}*',
  'src/testbed/apiserver/{http,https,shell}/**',
  // Reads config/ before a world begins.
  'src/testbed/shipped/manifests.ts',
  // The loop by which a world takes its turns.
  'src/testbed/simulation/kernel.ts',
];

const BY_CLOCK = 'time comes from the injected Clock (src/ports/clock.ts)';
const BY_RANDOM = 'randomness comes from the injected Random (src/ports/random.ts)';
const BY_PORT = 'the outside world is reached through a port (src/ports)';

const TIMERS = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate', 'performance', 'process'];
const MODULES = [
  'timers',
  'timers/promises',
  'fs',
  'fs/promises',
  'zlib',
  'dns',
  'dns/promises',
  'net',
  'tls',
  'http',
  'https',
  'http2',
  'dgram',
  'crypto',
  'child_process',
  'worker_threads',
  'cluster',
  'os',
  'perf_hooks',
  'process',
  'vm',
  'readline',
  'repl',
  'inspector',
  'async_hooks',
];

export const simulationRules: DummyRuleMap = {
  'no-restricted-globals': [
    'error',
    ...TIMERS.map((name) => ({ name, message: BY_CLOCK })),
    { name: 'crypto', message: BY_RANDOM },
    ...['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'].map((name) => ({ name, message: BY_PORT })),
    ...['WeakRef', 'FinalizationRegistry'].map((name) => ({ name, message: 'garbage collection is not replayed' })),
    { name: 'globalThis', message: 'name the thing itself, so that these rules see it' },
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Math', property: 'random', message: BY_RANDOM },
    { object: 'Date', property: 'now', message: BY_CLOCK },
    { object: 'AbortSignal', property: 'timeout', message: BY_CLOCK },
    { object: 'AbortSignal', property: 'any', message: 'leaks on long-lived signals and is not replayed: src/runtime/linked-abort.ts' },
    { object: 'Atomics', property: 'wait', message: BY_CLOCK },
  ],
  'nodefence/syntax': [
    'error',
    [
      HIDDEN_MEMBERS,
      { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: BY_CLOCK },
      { selector: 'CallExpression[callee.name="Date"]', message: BY_CLOCK },
      { selector: 'ImportExpression', message: 'a dynamic import settles at a time that is not replayed' },
    ],
  ],
  'no-restricted-imports': [
    'error',
    {
      paths: [...MODULES.flatMap((name) => [name, `node:${name}`]), 'axios', 'p-retry'].map((name) => ({
        name,
        message: BY_PORT,
        allowTypeImports: true,
      })),
    },
  ],
};
