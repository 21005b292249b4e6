import { expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from './configuration.ts';
import { resolvePlan } from './resolve-plan.ts';
import type { Plan } from '../domain/plan.ts';

function planWith(method: string, recovery = ''): Plan {
  const data = {
    'config.properties': `isolation=m\npower_management=\nrecovery=${recovery}`,
    'fence-method-m': `${method}\nplug=i-0123456789abcdef0\naction=off`,
    'fence-method-registered': 'agent_name=unfence',
  };
  const configuration = configurationOf([{ name: 'fence-config-worker-1', data }], standardRegistry());
  const node = { name: 'worker-1', labels: {}, annotations: {}, addresses: [], providerID: 'aws:///eu-central-1a/i-0123456789abcdef0' };
  return resolvePlan({ node, configuration, secretKeys: () => undefined });
}

const GROUP = 'agent_name=aws-security-group\ngroup=sg-0123456789abcdef0';
const STORAGE = 'storage=ebs\nstorage_match=driver:ebs.csi.aws.com';

it('a security group is no way to a storage, and a method of it that says so is left out', () => {
  const plan = planWith(`${GROUP}\n${STORAGE}`);
  expect(plan.problems.filter(({ severity }) => severity === 'error')).toMatchObject([
    { where: expect.stringContaining('fence-method-m, line 3') as string, message: expect.stringContaining('storage= may not stand here') as string },
  ]);
  expect(plan.isolation.flatMap(({ methods }) => methods)).toEqual([]);
});

it('a security group isolates without a storage, and something has to open it again', () => {
  const plan = planWith(GROUP);
  expect(plan.isolation.flatMap(({ methods }) => methods)).toMatchObject([{ agent: 'aws-security-group', device: 'aws eu-central-1' }]);
  expect(plan.problems.map(({ message }) => message)).toContainEqual(expect.stringContaining('no later method opens it'));
});

it.for([
  { recovery: 'uncordon', warned: [expect.stringContaining('no later method opens it: name one of agent unfence in recovery')] },
  { recovery: 'registered uncordon', warned: [] },
])('a registration that was taken away is put back by the daemon of the node alone: $recovery', ({ recovery, warned }) => {
  const scsi = `agent_name=scsi\nip=192.0.2.50\nusername=root\npassword=change-me\nhost_key_fingerprint=SHA256:uNiVztksCsDhcc0u9e8BrB6rqIVu3JWLmUVYOhFf4Yc\ndevices=/dev/sda\nkey=0x1\nstorage=san\nstorage_match=class:san`;
  const messages = planWith(scsi, recovery).problems.map(({ message }) => message);
  expect(messages.filter((message) => message.includes('closed by'))).toEqual(warned);
});

it('volumes have to say which storage they are, and nothing has to open them again', () => {
  expect(planWith('agent_name=aws-volume').problems).toContainEqual(
    expect.objectContaining({ severity: 'error', message: expect.stringContaining('storage= is missing') as string }),
  );
  const plan = planWith(`agent_name=aws-volume\n${STORAGE}`);
  expect(plan.problems).toEqual([]);
  expect(plan.isolation.flatMap(({ methods }) => methods)).toMatchObject([{ agent: 'aws-volume', storage: 'ebs', device: 'aws eu-central-1' }]);
});
