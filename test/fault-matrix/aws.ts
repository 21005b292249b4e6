import { aws } from '../../agents/aws/definition.ts';
import { ACCESS_KEY, awsCloud } from '../../src/testbed/devices/cloud/aws.ts';
import { cloudProfile } from './cloud-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /state=(?:running|stopped|stopping|pending) \(\d+\)/u;

testFaultProfile(
  cloudProfile({
    agent: aws,
    kind: awsCloud,
    parameters: ({ url, variables }) => ({
      region: 'eu-central-1',
      endpoint: url,
      access_key: ACCESS_KEY,
      secret_key: variables['AWS_SECRET_ACCESS_KEY'] ?? '',
    }),
    refusal: {
      requests: ['StopInstances', 'StartInstances'],
      status: 403,
      code: 'UnauthorizedOperation',
      message: 'You are not authorized to perform this operation.',
    },
    pending: { stopping: '64', starting: '0' },
    words: {
      'accepts-and-lies': SAID,
      refuses: /UnauthorizedOperation: You are not authorized/u,
      'wrong-credentials': /AuthFailure: AWS was not able to validate/u,
      garbage: /an answer that is none of EC2/u,
      'state-unknown': /state=\(none\) \(peculiar\)/u,
      'state-null': /state=\(none\) \(\(none\)\)/u,
      'state-pending': /state=\(none\) \((?:64|0)\)/u,
      'flips-back-on': SAID,
      'one-plug-stuck': SAID,
      'rate-limited': /RequestLimitExceeded|state=/u,
      'late-after-deadline': /state=|no complete answer within/u,
    },
    oddities: (spawn) => [
      {
        name: 'sticks in stopping, as the host of the instance is in trouble',
        like: 'accepts-and-lies',
        words: SAID,
        spawn: (isOn) => spawn(isOn, { sticksInStopping: true, ...(isOn ? {} : { ignoresSet: true }) }),
      },
      {
        name: 'is in another region or account',
        like: 'wrong-machine',
        words: /it is no proof that it is off/u,
        spawn: (isOn) => spawn(isOn, { isReplaced: true }),
      },
      { name: 'is ahead of our clock by an hour', like: 'honest', spawn: (isOn) => spawn(isOn, { aheadMs: 3_600_000 }) },
    ],
  }),
);
