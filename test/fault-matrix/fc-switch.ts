import { fcSwitch } from '../../agents/fc-switch/definition.ts';
import { testFaultProfile } from './harness.ts';
import { spawnSwitch, SWITCH_WORDS } from './switch-fixture.ts';

testFaultProfile({
  agent: fcSwitch,
  cannot: { restarts: 'a port shows closed only where it is configured so; what a restart forgets shows open' },
  words: SWITCH_WORDS,
  spawn: (behaviour, isOn) => spawnSwitch(behaviour, isOn, 'fos', ['7', '8'], { transport: 'ssh' }),
});
