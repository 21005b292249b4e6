import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlantedTree, ROOT } from './planted-tree.ts';

/** Rule → a file that breaks it and what it imports. */
const PLANTED: readonly (readonly [rule: string, from: string, imported: string])[] = [
  ['domain-is-pure', 'src/domain/a.ts', '../ports/port.ts'],
  ['domain-is-pure', 'src/domain/b.ts', 'node:path'],
  ['domain-is-pure', 'src/domain/c.ts', 'yaml'],
  ['ports-know-the-domain-only', 'src/ports/a.ts', '../kube/client.ts'],
  ['dispatch-reaches-the-world-through-ports', 'src/dispatch/a.ts', '../kube/client.ts'],
  ['controllers-reach-the-world-through-ports', 'src/controllers/fence/a.ts', '../../kube/client.ts'],
  ['controllers-reach-the-world-through-ports', 'src/controllers/fence/b.ts', 'yaml'],
  ['controllers-stand-alone', 'src/controllers/remedy/a.ts', '../fence/controller.ts'],
  ['agents-know-their-device-only', 'agents/pdu/a.ts', '../../src/kube/client.ts'],
  ['agents-stand-alone', 'agents/pdu/b.ts', '../redfish/agent.ts'],
  ['kube-stands-on-ports', 'src/kube/a.ts', '../controllers/fence/controller.ts'],
  ['connectivity-stands-on-ports', 'src/connectivity/a.ts', '../kube/client.ts'],
  ['node-core-reaches-the-world-through-ports', 'src/node/core/a.ts', '../../kube/client.ts'],
  ['node-core-reaches-the-world-through-ports', 'src/node/core/b.ts', 'node:path'],
  ['node-shell-is-light', 'src/node/shell/a.ts', '../../controllers/fence/controller.ts'],
  ['node-shell-is-light', 'src/node/shell/b.ts', 'yaml'],
  ['node-checks-stand-alone', 'src/node/checks/a.ts', '../core/daemon.ts'],
  ['node-checks-stand-alone', 'src/node/checks/b.ts', 'yaml'],
  ['core-knows-no-drill', 'src/dispatch/b.ts', '../drill/device.ts'],
  ['core-knows-no-drill', 'src/manager/a.ts', '../testbed/device.ts'],
  ['core-knows-no-drill', 'src/controllers/fence/d.ts', '../../laws/judge.ts'],
  ['manager-knows-no-command', 'src/manager/b.ts', '../cli/command.ts'],
  ['manager-knows-no-command', 'src/testbed/b.ts', '../cli/command.ts'],
  ['testbed-imports-nothing-it-judges', 'src/testbed/c.ts', '../controllers/fence/controller.ts'],
  ['testbed-imports-nothing-it-judges', 'src/testbed/d.ts', '../../agents/redfish/agent.ts'],
  ['testbed-imports-nothing-it-judges', 'src/testbed/e.ts', '../kube/client.ts'],
  ['testbed-imports-nothing-it-judges', 'src/testbed/f.ts', '../laws/judge.ts'],
  ['testbed-imports-nothing-it-judges', 'src/testbed/g.ts', '../domain/pure.ts'],
  ['laws-stand-alone', 'src/laws/a.ts', '../controllers/fence/controller.ts'],
  ['laws-stand-alone', 'src/laws/b.ts', '../domain/pure.ts'],
  ['laws-stand-alone', 'src/laws/c.ts', '../testbed/device.ts'],
  ['laws-stand-alone', 'src/laws/d.ts', 'node:path'],
  ['nothing-shipped-imports-test-support', 'src/kube/b.ts', './testing/clients.ts'],
  ['shapes-of-kubernetes-in-ports-only', 'src/http/a.ts', '@kubernetes/client-node'],
  ['no-development-packages', 'src/ports/library.ts', '@kubernetes/client-node'],
  ['telemetry-packages-in-telemetry-only', 'src/http/b.ts', 'pino'],
  ['telemetry-packages-in-telemetry-only', 'src/controllers/fence/c.ts', 'prom-client'],
  ['zod-at-the-border-only', 'src/domain/d.ts', 'zod'],
  ['zod-at-the-border-only', 'agents/pdu/c.ts', 'zod'],
  ['no-development-packages', 'src/http/c.ts', 'fast-check'],
  ['resolvable', 'src/http/d.ts', './nothing-there.ts'],
  ['nothing-imports-tests', 'src/http/e.ts', './some.test.ts'],
  ['product-knows-no-bench', 'src/http/f.ts', '../../test/bench/main.ts'],
  ['no-cycles', 'src/http/circle-back.ts', './circle.ts'],
];

const CLEAN: Readonly<Record<string, string>> = {
  'src/domain/pure.ts': 'export const value = 1;\n',
  'src/ports/port.ts': "export { value } from '../domain/pure.ts';\n",
  'src/kube/client.ts': "import { request } from 'node:https';\nexport { value } from '../ports/port.ts';\nexport { request };\n",
  'src/node/core/daemon.ts': "export { value } from '../../ports/port.ts';\n",
  'src/node/shell/run.ts': "import { connect } from 'node:http2';\nexport { value } from '../core/daemon.ts';\nexport { connect };\n",
  'src/node/checks/storage.ts': "import { open } from 'node:fs/promises';\nexport { value } from '../../ports/port.ts';\nexport { open };\n",
  'src/controllers/fence/controller.ts': "export { value } from '../../ports/port.ts';\n",
  'src/drill/device.ts': "export { value } from '../kube/client.ts';\n",
  'src/domain/shape.ts': 'export interface Shape {\n  value: number;\n}\n',
  'src/runtime/clock.ts': 'export const value = 1;\n',
  'src/testbed/device.ts': [
    "import type { Shape } from '../domain/shape.ts';",
    "import type { TraceEvent } from '../laws/trace.ts';",
    "import { request } from 'node:https';",
    "import { parse } from 'yaml';",
    "export { value } from '../ports/port.ts';",
    "export { value as clock } from '../runtime/clock.ts';",
    'export { parse, request };',
    'export type Both = Shape & TraceEvent;\n',
  ].join('\n'),
  'src/laws/trace.ts': 'export interface TraceEvent {\n  at: number;\n}\n',
  'src/laws/judge.ts': [
    "import type { Shape } from '../domain/shape.ts';",
    "import type { TraceEvent } from './trace.ts';",
    'export const value = 1;',
    'export type Both = Shape & TraceEvent;\n',
  ].join('\n'),
  'src/cli/command.ts': "export { value } from '../manager/part.ts';\n",
  'src/manager/part.ts': "export { value } from '../kube/client.ts';\n",
  'src/kube/testing/clients.ts': "export { value } from '../client.ts';\n",
  'src/telemetry/logger.ts': "import { pino } from 'pino';\nexport const logger = pino();\n",
  'src/http/some.test.ts': "export { value } from '../controllers/fence/controller.ts';\n",
  'src/http/circle.ts': "export * from './circle-back.ts';\n",
  'agents/redfish/agent.ts': "export { value } from '../../src/ports/port.ts';\n",
  'agents/redfish/parameters.ts': "import { z } from 'zod';\nexport const schema = z.string();\n",
  'agents/registry.ts': "export const redfish = import('./redfish/agent.ts');\n",
  'test/bench/main.ts': "export { value } from '../../src/domain/pure.ts';\n",
};

interface Report {
  summary: { totalCruised: number; violations: { from: string; rule: { name: string } }[] };
}

describe('dependency-cruiser', () => {
  let tree: PlantedTree;
  let report: Report;

  beforeAll(() => {
    const planted = Object.fromEntries(PLANTED.map(([, from, imported]) => [from, `import * as planted from '${imported}';\nexport { planted };\n`]));
    tree = new PlantedTree({ ...planted, ...CLEAN });
    tree.write(
      'package.json',
      JSON.stringify({
        type: 'module',
        dependencies: { yaml: '*', zod: '*', pino: '*', 'prom-client': '*' },
        devDependencies: { '@kubernetes/client-node': '*', 'fast-check': '*' },
      }),
    );
    const parameters = ['--config', `${ROOT}.dependency-cruiser.mjs`, '--output-type', 'json', 'src', 'agents', 'test'];
    const run = spawnSync(process.execPath, [`${ROOT}node_modules/dependency-cruiser/bin/dependency-cruiser.mjs`, ...parameters], {
      cwd: tree.root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    report = JSON.parse(run.stdout) as Report;
  }, 60_000);
  afterAll(() => tree[Symbol.dispose]());

  it.each(PLANTED)('%s: %s may not import %s', (rule, from) => {
    const rules = report.summary.violations.filter((violation) => violation.from === from).map((violation) => violation.rule.name);
    expect(rules).toContain(rule);
  });

  it('has nothing against imports that point inwards', () => {
    const clean = Object.keys(CLEAN).filter((path) => !path.includes('circle'));
    expect(report.summary.violations.filter(({ from }) => clean.includes(from))).toEqual([]);
  });

  it('sees the modules at all', () => {
    expect(report.summary.totalCruised).toBeGreaterThan(PLANTED.length);
  });
});
