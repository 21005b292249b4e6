import { keepSpecies } from './keeper.ts';
import { bmcs, outlets } from './redfish-species.ts';

keepSpecies(bmcs);
keepSpecies(outlets);
