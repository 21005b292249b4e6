import { hetzner } from '../../agents/hetzner/definition.ts';
import { hetznerCloud, hetznerOf } from '../../src/testbed/devices/cloud/hetzner.ts';
import { cloudProfile } from './cloud-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /status=(?:running|off) locked=/u;

testFaultProfile(
  cloudProfile({
    agent: hetzner,
    kind: hetznerCloud,
    parameters: (service) => ({ endpoint: `${service.url}/v1`, token: hetznerOf(service).token }),
    refusal: {
      requests: ['POST poweroff', 'POST poweron'],
      status: 403,
      code: 'token_readonly',
      message: 'token is only allowed to perform GET requests',
    },
    pending: { stopping: 'stopping', starting: 'starting' },
    words: {
      'accepts-and-lies': SAID,
      refuses: /HTTP 403: token_readonly: .*with the permission to read and write/u,
      'wrong-credentials': /HTTP 401: unauthorized: unable to authenticate/u,
      garbage: /an answer that is no server of Hetzner Cloud/u,
      'state-unknown': /status=peculiar/u,
      'state-null': /status=\(none\)/u,
      'state-pending': /status=(?:stopping|starting)/u,
      'flips-back-on': SAID,
      'one-plug-stuck': SAID,
      'rate-limited': /rate_limit_exceeded|status=/u,
      'late-after-deadline': /status=|no complete answer within/u,
    },
    oddities: (spawn) => [
      {
        name: 'accepts each action, which then ends in an error',
        like: 'accepts-and-lies',
        words: /the accepted power(?:off|on) ended in an error: action_failed/u,
        spawn: (isOn) => spawn(isOn, { failsOperation: true }),
      },
      {
        name: 'never ends its power-off',
        like: 'accepts-and-lies',
        words: /status=(?:running|off|stopping) locked=/u,
        spawn: (isOn) => spawn(isOn, { sticksInStopping: true, ...(isOn ? {} : { ignoresSet: true }) }),
      },
      { name: 'is ahead of our clock by an hour', like: 'honest', spawn: (isOn) => spawn(isOn, { aheadMs: 3_600_000 }) },
      {
        name: 'is not found, as another project has it',
        like: 'wrong-machine',
        words: /it is no proof that it is off/u,
        spawn: (isOn) => spawn(isOn, { isReplaced: true }),
      },
    ],
  }),
);
