import { awsVolume } from '../../agents/aws/definition.ts';
import { ACCESS_KEY, awsCloud, volumesOf } from '../../src/testbed/devices/cloud/aws.ts';
import { cloudProfile } from './cloud-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /vol-0bbbb00\d at \/dev\/xvdba (?:attached|detaching|busy)|no volume is attached/u;

testFaultProfile(
  cloudProfile({
    agent: awsVolume,
    kind: awsCloud,
    parameters: ({ url, variables }) => ({
      region: 'eu-central-1',
      endpoint: url,
      access_key: ACCESS_KEY,
      secret_key: variables['AWS_SECRET_ACCESS_KEY'] ?? '',
    }),
    refusal: {
      requests: ['DetachVolume'],
      status: 403,
      code: 'UnauthorizedOperation',
      message: 'You are not authorized to perform this operation.',
    },
    pending: { stopping: 'detaching', starting: 'attaching' },
    // A volume that is detached all the same is shown no more, whatever it is called.
    faults: { 'state-pending': { shows: 'detaching', ignoresSet: true } },
    flows: (service, plug) => volumesOf(service).attachedTo(plug).length > 0,
    words: {
      'accepts-and-lies': SAID,
      refuses: /UnauthorizedOperation: You are not authorized/u,
      'wrong-credentials': /AuthFailure: AWS was not able to validate/u,
      garbage: /an answer that is none of EC2/u,
      'state-unknown': /vol-0bbbb000 at \/dev\/xvdba peculiar/u,
      'state-null': /vol-0bbbb000 at \/dev\/xvdba \(none\)/u,
      'state-pending': /vol-0bbbb000 at \/dev\/xvdba detaching/u,
      'flips-back-on': SAID,
      'one-plug-stuck': SAID,
      'rate-limited': /RequestLimitExceeded|vol-0bbbb000|no volume is attached/u,
      'late-after-deadline': /vol-0bbbb000|no volume is attached|no complete answer within/u,
    },
    oddities: (spawn) => [
      {
        name: 'stays busy, for its system does not let it go',
        like: 'accepts-and-lies',
        words: /vol-0bbbb000 at \/dev\/xvdba busy/u,
        spawn: (isOn) => spawn(isOn, { sticksInStopping: true }),
      },
      {
        name: 'is in another region or account',
        like: 'wrong-machine',
        words: /it is no proof that it is off/u,
        spawn: (isOn) => spawn(isOn, { isReplaced: true }),
      },
    ],
  }),
);
