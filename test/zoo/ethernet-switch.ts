import { ethernetSwitch } from '../../agents/ethernet-switch/definition.ts';
import { keepSpecies } from './keeper.ts';
import { spawnSwitch, SWITCH_WORDS } from './switch-specimen.ts';

keepSpecies({
  agent: ethernetSwitch,
  cannot: { restarts: 'a port shows closed only where it is configured so; what a restart forgets shows open' },
  words: SWITCH_WORDS,
  spawn: (behaviour, isOn) => spawnSwitch(behaviour, isOn, 'eos', ['Ethernet7', 'Ethernet8'], { transport: 'ssh', dialect: 'eos' }),
});
