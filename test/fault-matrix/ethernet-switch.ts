import { ethernetSwitch } from '../../agents/ethernet-switch/definition.ts';
import { testFaultProfile } from './harness.ts';
import { spawnRestartingSwitch } from './snmp-switch.ts';
import { spawnSwitch, SWITCH_WORDS } from './switch-fixture.ts';

testFaultProfile({
  agent: ethernetSwitch,
  cannot: {
    restarts: 'a command line tells no restart, and shows a port closed only where the running configuration has it so; over SNMP see the oddity',
  },
  words: SWITCH_WORDS,
  oddities: [
    ...['nve1', 'Null0', 'Management1'].map((own) => ({
      name: `is asked for ${own}, an interface of its own`,
      like: 'wrong-machine' as const,
      words: /an interface of the switch itself/u,
      spawn: (isOn: boolean) => spawnSwitch('honest', isOn, 'eos', [own, 'Ethernet8'], { transport: 'ssh', dialect: 'eos' }),
    })),
    {
      name: 'waits at a prompt that its dialect does not know',
      like: 'garbage',
      words: /waits at ".+", which is no prompt of dialect junos/u,
      spawn: (isOn) => spawnSwitch('honest', isOn, 'eos', ['Ethernet7', 'Ethernet8'], { transport: 'ssh', dialect: 'junos' }),
    },
    {
      name: 'restarts when a port is closed over SNMP, and shows closed until it has read what is saved',
      like: 'restarts',
      words: /its sysUpTime started again/u,
      spawn: spawnRestartingSwitch,
    },
  ],
  spawn: (behaviour, isOn) => spawnSwitch(behaviour, isOn, 'eos', ['Ethernet7', 'Ethernet8'], { transport: 'ssh', dialect: 'eos' }),
});
