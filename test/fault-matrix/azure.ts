import { azure } from '../../agents/azure/definition.ts';
import { azureCloud, CLIENT, GROUP, SUBSCRIPTION, TENANT } from '../../src/testbed/devices/cloud/azure.ts';
import { cloudProfile } from './cloud-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /PowerState\/(?:running|stopped|stopping|starting)/u;

testFaultProfile(
  cloudProfile({
    agent: azure,
    kind: azureCloud,
    parameters: ({ url, variables }) => ({
      endpoint: url,
      authority: url,
      subscriptionId: SUBSCRIPTION,
      resourceGroup: GROUP,
      tenantId: TENANT,
      username: CLIENT,
      password: variables['AZURE_CLIENT_SECRET'] ?? '',
    }),
    refusal: { requests: ['POST powerOff', 'POST start'], status: 403, code: 'AuthorizationFailed', message: 'does not have authorization' },
    pending: { stopping: 'stopping', starting: 'starting' },
    cannot: { 'wrong-machine': 'Azure shows no addresses beside a machine: an oddity with another vmId stands for it' },
    words: {
      'accepts-and-lies': SAID,
      refuses: /AuthorizationFailed: does not have authorization/u,
      'wrong-credentials': /invalid_client: AADSTS7000215/u,
      garbage: /an answer that is no token/u,
      'state-unknown': /PowerState\/peculiar/u,
      'state-null': /no PowerState/u,
      'state-pending': SAID,
      'flips-back-on': SAID,
      'one-plug-stuck': SAID,
      'rate-limited': /TooManyRequests|PowerState/u,
      'late-after-deadline': /PowerState|no complete answer within/u,
    },
    oddities: (spawn) => [
      {
        name: 'has another machine of the same name',
        like: 'wrong-machine',
        words: /is another machine: its UUID is/u,
        spawn: (isOn) => spawn(isOn, {}, { identity: { node: 'a', systemUUID: '0f0e0d0c-1111-4222-8333-444444444444' } }),
      },
      { name: 'is ahead of our clock by an hour', like: 'honest', spawn: (isOn) => spawn(isOn, { aheadMs: 3_600_000 }) },
    ],
  }),
);
