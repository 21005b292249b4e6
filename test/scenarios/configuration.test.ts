import { describe, expect } from 'vitest';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { TRUSTED_CA } from './bmc.ts';
import { SECRET, TEMPLATE } from './configuration.ts';
import { condition, journal } from './operator.ts';
import { scenario } from './scenario.ts';
import type { Play } from './scenario.ts';

/** Node a has panicked; its power step can not be done as it is written. It is cordoned, nothing is sent to any device, nothing is freed. */
async function failsUnsent({ world, operator }: Play): Promise<NodeFenceStatus> {
  const podsBefore = await world.podsOn('a');
  world.machine('a').panic();
  const status = await operator.seesFailure('a');
  expect(journal(status)).toEqual(['mark-unschedulable run succeeded']);
  expect(condition(status, 'ConfigurationValid')).toBe('False PlanHasErrors');
  expect(condition(status, 'PoweredOff')).toBe('False NoProof');
  expect(status.message).toContain('Nothing was released');
  expect(world.witness.deviceEvents('a')).toEqual([]);
  expect(world.witness.releases()).toEqual([]);
  expect(await world.podsOn('a')).toEqual(podsBefore);
  return status;
}

describe.concurrent('a wrong configuration fails the step that needs it, in words, and nothing is sent (P7)', () => {
  scenario(
    'an agent that does not exist is named, and already while the node is healthy',
    { wrote: (files) => files.edit(TEMPLATE, 'template.properties', (text) => text.replace('=redfish', '=redfihs')) },
    async (play) => {
      const warning = await play.operator.hears('Node', 'a', 'FenceConfigurationInvalid');
      expect(warning).toContain('redfihs');
      const status = await failsUnsent(play);
      expect(status.message).toContain('redfihs');
      expect(status.message).toContain(TEMPLATE);
    },
  );

  scenario('a template that is not there is named', { wrote: (files) => files.removeConfigMap(TEMPLATE) }, async (play) => {
    const status = await failsUnsent(play);
    expect(status.message).toContain(TEMPLATE);
    expect(status.message).toContain('fence-config-a, key fence-method-redfish-off');
  });

  scenario('a Secret that is not there is named', { wrote: (files) => files.removeSecret(SECRET) }, async (play) => {
    const status = await failsUnsent(play);
    expect(status.message).toContain(`Secret ${SECRET} does not exist`);
  });

  scenario(
    'a Secret without a password names the missing parameter',
    { wrote: (files) => files.writeSecret(SECRET, { username: 'fence' }) },
    async (play) => {
      const status = await failsUnsent(play);
      expect(status.message).toContain('password');
    },
  );

  scenario(
    'a method without the address of its BMC names the missing parameter, ConfigMap, key and line',
    { wrote: (files) => files.edit('fence-config-a', 'fence-method-redfish-off', (text) => text.replace(/^ip=.*\n/m, '')) },
    async (play) => {
      const status = await failsUnsent(play);
      expect(status.message).toMatch(/ConfigMap fence-config-a, key fence-method-redfish-off.*: ip /);
    },
  );

  scenario(
    'a method without an action is an error, not a guess',
    { wrote: (files) => files.edit('fence-config-a', 'fence-method-redfish-off', (text) => text.replace('action=off\n', '')) },
    async (play) => {
      const status = await failsUnsent(play);
      expect(status.message).toContain('action is missing: write action=');
    },
  );

  scenario(
    'the plug of another node is refused, and names both nodes',
    {
      wrote: (files, world) => {
        const port = (node: string): string => String(world.bmc(node).server.port);
        for (const action of ['off', 'on'])
          files.edit('fence-config-a', `fence-method-redfish-${action}`, (text) => text.replace(port('a'), port('b')));
      },
    },
    async (play) => {
      const status = await failsUnsent(play);
      expect(status.message).toContain("names another machine's plug");
      expect(status.message).toContain('fence-config-b');
      expect(play.world.witness.deviceEvents('b')).toEqual([]);
    },
  );

  scenario(
    'a step that names a method nobody has written is an error',
    { wrote: (files) => files.edit('fence-config-a', 'config.properties', (text) => text.replace('redfish-off redfish-on', 'ipmi-off redfish-on')) },
    async (play) => {
      const status = await failsUnsent(play);
      expect(status.message).toContain('ipmi-off');
    },
  );

  scenario(
    'a timing that breaks an inequality spoils what switches something, with the numbers filled in; the node is cordoned all the same',
    { wrote: (files) => files.set({ settle: '1s' }) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesFailure('a');
      expect(journal(status)).toEqual(['mark-unschedulable run succeeded']);
      expect(status.message).toContain('NF006 ConfigurationInvalid: power-management: ConfigMap fence-cluster-config, key config.properties, line ');
      expect(status.message).toContain('settle 1 s must be at least 1.01 · (set_deadline 3 s + 2 s for the intent) = 5.05 s');
      expect(world.witness.deviceEvents('a')).toEqual([]);
      expect((await operator.node('a')).spec.unschedulable).toBe(true);
      expect(world.witness.releases()).toEqual([]);
    },
  );

  scenario(
    'what was mended is read by the next restart, and the fence then goes through',
    {
      wrote: (files) => {
        files.set({ max_restarts: '5', restart_backoff: '500ms' });
        files.removeSecret(SECRET);
      },
    },
    async ({ world, operator, password }) => {
      world.machine('a').panic();
      await operator.seesState('a', 'error');
      expect(world.witness.sets('a')).toEqual([]);
      await operator.writeSecret(SECRET, { username: 'fence', password, ca: TRUSTED_CA });
      await operator.seesRecovery('a');
      expect(world.witness.sets('a')).toEqual(['off 204', 'on 204']);
    },
  );
});
