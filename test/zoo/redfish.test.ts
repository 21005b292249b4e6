import { keepSpecies } from './keeper.ts';
import { bmcs } from './redfish-species.ts';

keepSpecies(bmcs);
