import { vsphere } from '../../agents/vsphere/definition.ts';
import { vcenterOf, vsphereCloud } from '../../src/testbed/devices/cloud/vsphere.ts';
import { cloudProfile } from './cloud-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /powerState=powered(?:On|Off), connectionState=connected/u;
/** The first read of a session takes four answers: 6.4 s of the 8 s that a slow device has. */
const SLOW = { answerMs: 1_600, stopMs: 8_000, startMs: 8_000 };

testFaultProfile(
  cloudProfile({
    agent: vsphere,
    kind: vsphereCloud,
    parameters: (service) => ({
      ip: service.url,
      username: 'fence@vsphere.local',
      password: vcenterOf(service).password,
    }),
    refusal: {
      requests: ['PowerOffVM_Task', 'PowerOnVM_Task'],
      status: 500,
      code: 'NoPermission',
      message: 'Permission to perform this operation was denied.',
    },
    pending: { stopping: 'poweredOn VirtualMachine.powerOff', starting: 'poweredOff VirtualMachine.powerOn' },
    cannot: {
      slow: 'the first read takes four answers, so that none may take 2 s: an oddity of 1.6 s stands for it',
      'session-limit': 'a vCenter has 2,000 sessions; how it words the end of them is not known here',
    },
    words: {
      'accepts-and-lies': SAID,
      refuses: /NoPermission: Permission to perform this operation was denied\..*VirtualMachine\.Interact\.PowerOff/u,
      'wrong-credentials': /InvalidLogin: Cannot complete login/u,
      garbage: /no answer of the vSphere API/u,
      'state-unknown': /powerState=peculiar/u,
      'state-null': /powerState=absent/u,
      'state-pending': /powerState=powered(?:On|Off), .*VirtualMachine\.power(?:Off|On) running/u,
      'flips-back-on': SAID,
      'one-plug-stuck': SAID,
      'rate-limited': /HTTP 503|powerState=/u,
      'late-after-deadline': /powerState=|no complete answer within/u,
    },
    oddities: (spawn) => [
      { name: 'takes 1.6 s to answer and 8 s to act', like: 'slow', spawn: (isOn) => spawn(isOn, SLOW) },
      {
        name: 'accepts each task, which then ends in an error',
        like: 'accepts-and-lies',
        words: /ended in an error: GenericVmConfigFault/u,
        spawn: (isOn) => spawn(isOn, { failsOperation: true }),
      },
      {
        name: 'never ends its power-off',
        like: 'accepts-and-lies',
        words: SAID,
        spawn: (isOn) => spawn(isOn, { sticksInStopping: true, ...(isOn ? {} : { ignoresSet: true }) }),
      },
      { name: 'is ahead of our clock by an hour', like: 'honest', spawn: (isOn) => spawn(isOn, { aheadMs: 3_600_000 }) },
      { name: 'is suspended', like: 'state-unknown', words: /resumed, it would write on/u, spawn: (isOn) => spawn(isOn, { shows: 'suspended' }) },
      {
        name: 'is not found, as another vCenter has it',
        like: 'wrong-machine',
        words: /what is not found is not off/u,
        spawn: (isOn) => spawn(isOn, { isReplaced: true }),
      },
    ],
  }),
);
