import { describe, expect } from 'vitest';
import { TRUSTED_CA } from './bmc.ts';
import { SECRET } from './configuration.ts';
import { journal } from './operator.ts';
import { scenario } from './scenario.ts';

const OLD = 'the password of last year';
const TALKATIVE = 'correct-horse-battery-staple-42';

describe.concurrent('Secrets', () => {
  scenario(
    'one that is rotated between two attempts is used by the second',
    {
      wrote: (files) => {
        files.set({ max_restarts: '5' });
        files.writeSecret(SECRET, { username: 'fence', password: OLD, ca: TRUSTED_CA });
      },
    },
    async ({ world, operator, password }) => {
      world.machine('a').panic();
      const refused = await operator.sees('a', 'refused once', (status) => journal(status).includes('redfish-off off refused'));
      expect(refused.frozen?.plan.powerManagement[0]?.methods[0]).not.toHaveProperty('parameters.password');
      await operator.writeSecret(SECRET, { username: 'fence', password, ca: TRUSTED_CA });
      const status = await operator.seesRecovery('a');
      expect(journal(status)).toContain('redfish-off off succeeded');
      expect(world.witness.violations([OLD], {})).toEqual([]);
    },
  );

  scenario(
    'a password that the BMC repeats in its answer stands in no object, Event or log',
    {
      password: TALKATIVE,
      bmcs: {
        a: { faults: { failures: [{ method: 'POST', path: '/redfish/v1/Systems', status: 403, message: `fence/${TALKATIVE} may not do this` }] } },
      },
    },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesFailure('a');
      expect(status.message).toContain('may not do this');
      expect(world.witness.sets('a')).toEqual(['off 403']);
      const leaking = world.witness.controllerWrites().filter((write) => JSON.stringify(write).includes(TALKATIVE));
      expect(leaking.map(({ verb, resource, name }) => `${verb} ${resource} ${name ?? ''}`)).toEqual([]);
    },
  );
});
