import { ethernetSwitch } from '../../agents/ethernet-switch/definition.ts';
import { keepSpecies } from './keeper.ts';
import { spawnSwitch, SWITCH_WORDS } from './switch-specimen.ts';

keepSpecies({
  agent: ethernetSwitch,
  cannot: {},
  words: SWITCH_WORDS,
  spawn: (behaviour, isOn) => spawnSwitch(behaviour, isOn, 'eos', ['Ethernet7', 'Ethernet8'], { transport: 'ssh', dialect: 'eos' }),
});
