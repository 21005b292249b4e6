import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { NAMESPACE } from '../../src/manifests/access.ts';
import { FENCER_ROLE, OPERATOR_ROLE } from '../../src/manifests/operator-access.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_STOPS, NODE_LEASE_NAMESPACE } from '../../src/ports/resources.ts';
import { scenario } from './scenario.ts';
import type { Play, ScenarioOptions } from './scenario.ts';
import { DEADLOCK } from '../remedies/configurations.ts';
import { Terminal } from './terminal.ts';
import type { World } from './world.ts';

const PERSON = 'olga';
const TOKEN = randomBytes(18).toString('base64url');
const OPTIONS: ScenarioOptions = { tokens: { [PERSON]: TOKEN }, timeoutMs: 180_000 };
const SECRET_FREE = /password|BEGIN CERTIFICATE/u;

const OPERATOR_PLACES = [NAMESPACE, NODE_LEASE_NAMESPACE];

/** What an administrator binds: the shipped roles, in the cluster and in the namespaces of what is read. */
async function bind({ transport }: World, role = OPERATOR_ROLE): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const path = `/apis/${apiGroup}/v1`;
  const subjects = [{ kind: 'User', apiGroup, name: PERSON }];
  const binding = (bound: string, kind: string): object => ({
    apiVersion: `${apiGroup}/v1`,
    kind: bound,
    metadata: { name: `${PERSON}-${role}` },
    roleRef: { apiGroup, kind, name: role },
    subjects,
  });
  const write = async (where: string, body: object): Promise<void> => {
    const response = await transport.request({ method: 'POST', path: `${path}/${where}`, body, deadlineMs: 5_000 });
    expect(response.status).toBe(201);
  };
  const wanted = [
    { where: 'clusterrolebindings', body: binding('ClusterRoleBinding', 'ClusterRole') },
    ...(role === OPERATOR_ROLE ? OPERATOR_PLACES : []).map((place) => ({
      where: `namespaces/${place}/rolebindings`,
      body: binding('RoleBinding', 'Role'),
    })),
  ];
  await Promise.all(wanted.map(async ({ where, body }) => write(where, body)));
}

async function atTerminal({ world }: Play, work: (terminal: Terminal) => Promise<void>): Promise<void> {
  const terminal = await Terminal.open(world, PERSON, TOKEN);
  try {
    await work(terminal);
  } finally {
    await terminal.close();
  }
}

describe.concurrent('a person at a terminal, with the rights of nodefence-operator and no others', () => {
  scenario(
    'sees, understands and stops a fence before, during and after it',
    { ...OPTIONS, wrote: (files) => files.set({ power_management_delay: '30s' }) },
    async (play) => {
      const { world, operator } = play;
      await bind(world);
      await atTerminal(play, async (terminal) => {
        const before = await terminal.nodefence(['status']);
        expect(before).toMatchObject({ code: 0, stderr: '' });
        expect(before.stdout).toMatch(/leader scenario, renewed \d+s ago/u);
        expect(before.stdout).toMatch(/^a +Ready +-/mu);

        const plan = await terminal.nodefence(['plan', 'a']);
        expect(plan.code).toBe(0);
        expect(plan.stdout).toMatch(/switch off by redfish at 127\.0\.0\.1:\d+ \(redfish-off\)/u);
        expect(plan.stdout).toMatch(/pod default\/db-\d with data-db-\d/u);
        expect(plan.stdout).toContain('Expected: power-off (read-back: nothing runs there).');

        expect((await terminal.nodefence(['problems'])).stdout).toContain('No problem of any node was counted.');
        const folder = mkdtempSync(join(tmpdir(), 'nodefence-remedies-'));
        writeFileSync(join(folder, 'deadlock.yaml'), DEADLOCK);
        expect((await terminal.nodefence(['explain', 'a', '--remedies', folder])).stdout).toContain('row none of remedies of KernelDeadlock=True');
        rmSync(folder, { recursive: true });
        expect(await terminal.nodefence(['explain', 'a', '--remedies', folder])).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(`--remedies ${folder} cannot be read`) as string,
        });

        world.machine('a').panic();
        await operator.seesState('a', 'running');
        const why = await terminal.nodefence(['explain', 'a']);
        expect(why.code).toBe(0);
        expect(why.stdout).toContain('trigger        yes: Ready is Unknown and its lease is silent');
        expect(why.stdout).toContain('row running-delay in state running');
        expect(why.stdout).toMatch(/in \d+s +\d\d:\d\d:\d\dZ, running-power: switch off by redfish at 127\.0\.0\.1/u);

        const stopped = await terminal.nodefence(['stop', 'a', '--reason', 'I am at the console']);
        expect(stopped).toMatchObject({ code: 0, stderr: '' });
        expect(stopped.stdout).toContain('a stays as its fence left it: our cordon.');
        const stop = await world.cluster.get(NODE_FENCE_STOPS, 'stop-a');
        expect(stop?.spec).toEqual({ node: 'a', reason: 'I am at the console' });
        expect((await terminal.nodefence(['stop', 'a', '--reason', 'again'])).stdout).toMatch(
          /It is stopped already\. stop-a: node a since .* by somebody who claims to be olga: I am at the console/u,
        );
        await operator.sees('a', 'stopped', (status) => status.hold?.policy === 'stop');
        expect((await terminal.nodefence(['explain', 'a'])).stdout).toContain('row stopped in state running');

        expect((await terminal.nodefence(['resume', 'a'])).code).toBe(0);
        expect(await world.cluster.list(NODE_FENCE_STOPS)).toEqual([]);
        const whole = await terminal.nodefence(['status', 'a', '-o', 'json']);
        expect(JSON.parse(whole.stdout)).toMatchObject({ row: { node: 'a', ready: 'Unknown', cordoned: true, state: 'running' } });
        for (const { stdout } of [before, plan, why, whole]) expect(stdout).not.toMatch(SECRET_FREE);
      });
    },
  );

  scenario('watches a fence from the panic to the recovery, a line for each change, and ends it with Ctrl-C', OPTIONS, async (play) => {
    await bind(play.world);
    await atTerminal(play, async (terminal) => {
      let isBroken = false;
      const watched = await terminal.nodefence(['status', '-w'], (stdout) => {
        if (!isBroken && stdout.includes('node a: Ready=True')) {
          isBroken = true;
          play.world.machine('a').panic();
        }
        return stdout.includes('outcome=recovered');
      });
      expect(watched).toMatchObject({ code: 0, stderr: '' });
      const states = ['Ready=Unknown', 'fence=new', 'fence=running', 'fence=done', 'fence=final'].map((state) => watched.stdout.indexOf(state));
      expect(states.every((at) => at >= 0)).toBe(true);
      expect(states).toEqual([...states].sort((left, right) => left - right));
      const page = await terminal.nodefence(['status', 'a']);
      expect(page.stdout).toContain('Node a was fenced and recovered (state final, step recovery, incident 1).');
      expect(page.stdout).toMatch(/✓ switch off by redfish at 127\.0\.0\.1:\d+: done/u);
      expect(page.stdout).toMatch(/power-off +read-back: nothing runs there, identity verified/u);
    });
  });

  scenario(
    'acknowledges a machine whose BMC is dead, after being told what that means; the controller lets its workload go',
    { ...OPTIONS, bmcs: { a: { faults: { isSilent: true } } } },
    async (play) => {
      const { world, operator } = play;
      await bind(world);
      await atTerminal(play, async (terminal) => {
        const early = await terminal.nodefence(['ack', 'a', '--reason', 'just so', '--yes']);
        expect(early).toMatchObject({ code: 1, stdout: '' });
        expect(early.stderr).toContain('no fence of node a is open');
        world.machine('a').panic();
        await operator.seesFailure('a');
        world.machine('a').powerOff('restore');
        const unasked = await terminal.nodefence(['ack', 'a', '--reason', 'I hold its cord']);
        expect(unasked.code).toBe(2);
        expect(unasked.stderr).toContain('say --yes when you are sure');
        expect(await world.cluster.list(NODE_FENCE_ACKNOWLEDGEMENTS)).toEqual([]);
        const unentitled = await terminal.nodefence(['ack', 'a', '--reason', 'I hold its cord', '--yes']);
        expect(unentitled.code).toBe(1);
        expect(unentitled.stderr).toContain('Ask an administrator to bind nodefence-fencer to you');
        expect(await world.cluster.list(NODE_FENCE_ACKNOWLEDGEMENTS)).toEqual([]);
        await bind(world, FENCER_ROLE);
        const given = await terminal.nodefence(['ack', 'a', '--reason', 'I hold its cord', '--yes']);
        expect(given.stderr).toContain('both write to the same volumes');
        expect(given.stdout).toContain('ACCEPTED');
        expect(given.code).toBe(0);
        const [word] = await world.cluster.list(NODE_FENCE_ACKNOWLEDGEMENTS);
        expect(word?.spec).toMatchObject({ node: 'a', incident: 1, reason: 'I hold its cord' });
        await operator.sees('a', 'released', (status) => status.released !== undefined);
        const again = await terminal.nodefence(['ack', 'a', '--reason', 'twice', '--yes']);
        expect(again.code).toBe(1);
        expect(again.stderr).toContain('nothing was acknowledged');
      });
    },
  );

  scenario('is told which right is missing and how to get it, before it is bound', OPTIONS, async (play) => {
    await atTerminal(play, async (terminal) => {
      const refused = await terminal.nodefence(['status']);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(/you lack the right to (?:list|get) \w+/u);
      expect(refused.stderr).toMatch(/--(?:cluster)?role=nodefence-operator --user=YOU/u);
      const stop = await terminal.nodefence(['stop', '--all', '--reason', 'x']);
      expect(stop.code).toBe(1);
      expect(stop.stderr).toContain('you lack the right to create nodefencestops');
    });
  });
});
