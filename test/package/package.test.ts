import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedWorld } from '../scenarios/served-world.ts';
import { CONTROLLER_USER } from '../scenarios/witness.ts';
import { NoRegistry, run, type Ended } from './installation.ts';
import { begun, followed } from './service.ts';
import type { Machine } from './service.ts';

const SET_UP_DEADLINE_MS = 700_000;
/** What a drill takes on a loaded machine, several times over: no test here is about speed. */
const DRILL_DEADLINE_MS = 300_000;

interface Drilled {
  expected: boolean;
  problems: string[];
  outcome: string;
  controller: { rssMb: number };
}

describe('the published package, installed elsewhere', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-package-'));
  let home = '';
  let served: ServedWorld | undefined;
  let machine: Machine | undefined;
  let noRegistry: string | undefined;

  beforeAll(async () => {
    try {
      served = await ServedWorld.start();
      machine = await followed(folder, served.kubeconfig('service', CONTROLLER_USER));
      ({ home } = machine);
    } catch (error) {
      if (!(error instanceof NoRegistry) || process.env['CI'] === 'true') throw error;
      noRegistry = `the registry cannot be reached: ${error.message}`;
    }
  }, SET_UP_DEADLINE_MS);

  afterAll(async () => {
    await served?.end();
    rmSync(folder, { recursive: true, force: true });
  }, SET_UP_DEADLINE_MS);

  /** As npx does: the installed programs first in PATH, and the runtime that came with the package among them. */
  const nodefence = (...rest: string[]): Promise<Ended> => {
    const programs = join(home, 'node_modules', '.bin');
    return run([join(programs, 'nodefence'), ...rest], home, DRILL_DEADLINE_MS, [programs]);
  };

  it('says the version that its manifest has', async (context) => {
    if (noRegistry !== undefined) context.skip(noRegistry);
    const manifest = JSON.parse(readFileSync(join(home, 'node_modules', 'nodefence', 'package.json'), 'utf8')) as { version: string };
    expect(await nodefence('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });

  it('explains the controller', async (context) => {
    if (noRegistry !== undefined) context.skip(noRegistry);
    const { code, stdout } = await nodefence('controller', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('--mode <mode>');
  });

  it('brings the manifests, the units and the pages, and no test', (context) => {
    if (noRegistry !== undefined) context.skip(noRegistry);
    const brought = join(home, 'node_modules', 'nodefence');
    const paths = [
      'config/observe/kustomization.yaml',
      'config/templates/redfish.yaml',
      'config/samples/nodes.yaml',
      'systemd/controller.env',
      'cockpit/nodefence-node/index.html',
      'docs/architecture.md',
    ];
    for (const path of [...paths, 'LICENSE', 'README.md']) expect(existsSync(join(brought, path)), path).toBe(true);
    expect(readdirSync(brought, { recursive: true, encoding: 'utf8' }).filter((path) => /\.test\.|(^|\/)testing\//.test(path))).toEqual([]);
  });

  it(
    'starts as systemd starts the unit, after the commands of its page in a fresh clone, as written',
    async (context) => {
      if (machine === undefined) return context.skip(noRegistry);
      const log = await begun(machine);
      expect(log).toMatch(/"mode":"observe"/u);
      expect(machine.calls).toMatch(/^kubectl apply -k config\/crd\nkubectl apply -k config\/rbac\n[^]*systemctl enable --now nodefence-controller/u);
    },
    DRILL_DEADLINE_MS,
  );

  it(
    'fences a node with its compiled controller, in less memory than promised',
    async (context) => {
      if (noRegistry !== undefined) context.skip(noRegistry);
      const { stdout, stderr } = await nodefence('drill', '--json');
      expect(stdout, stderr).not.toBe('');
      const result = JSON.parse(stdout) as Drilled;
      expect(result).toMatchObject({ expected: true, problems: [], outcome: 'recovered' });
      expect(result.controller.rssMb).toBeGreaterThan(0);
      expect(result.controller.rssMb).toBeLessThan(180);
    },
    DRILL_DEADLINE_MS,
  );
});
