import { awsSecurityGroup } from '../../agents/aws/definition.ts';
import { ISOLATION_GROUP } from '../../src/testbed/devices/cloud/aws-interfaces.ts';
import { ACCESS_KEY, awsCloud, interfacesOf } from '../../src/testbed/devices/cloud/aws.ts';
import { cloudProfile } from './cloud-profile.ts';
import { testFaultProfile } from './harness.ts';

const SAID = /eni-0000000\d sg-0000000/u;

testFaultProfile(
  cloudProfile({
    agent: awsSecurityGroup,
    kind: awsCloud,
    parameters: ({ url, variables }) => ({
      region: 'eu-central-1',
      endpoint: url,
      group: ISOLATION_GROUP,
      access_key: ACCESS_KEY,
      secret_key: variables['AWS_SECRET_ACCESS_KEY'] ?? '',
    }),
    prepare: (service, isOn) => {
      if (!isOn) for (const { id } of service.instances) interfacesOf(service).isolate(id, 'nodefence/groups');
    },
    refusal: {
      requests: ['ModifyNetworkInterfaceAttribute'],
      status: 403,
      code: 'UnauthorizedOperation',
      message: 'You are not authorized to perform this operation.',
    },
    pending: { stopping: '', starting: '' },
    cannot: {
      'state-pending': 'an interface has one set of groups or another: on its way is an instance with several, of which a test of its own tells',
    },
    flows: (service, plug) => interfacesOf(service).flows(plug),
    words: {
      'accepts-and-lies': SAID,
      refuses: /UnauthorizedOperation: You are not authorized/u,
      'wrong-credentials': /AuthFailure: AWS was not able to validate/u,
      garbage: /an answer that is none of EC2/u,
      'state-unknown': /no security groups of eni-00000000/u,
      'state-null': /no security groups of eni-00000000/u,
      'flips-back-on': SAID,
      'one-plug-stuck': SAID,
      'rate-limited': /RequestLimitExceeded|eni-00000000/u,
      'late-after-deadline': /eni-00000000|no complete answer within/u,
    },
    oddities: (spawn) => [
      {
        name: 'is in another region or account',
        like: 'wrong-machine',
        words: /it is no proof that it is off/u,
        spawn: (isOn) => spawn(isOn, { isReplaced: true }),
      },
    ],
  }),
);
