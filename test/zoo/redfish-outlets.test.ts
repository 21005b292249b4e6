import { keepSpecies } from './keeper.ts';
import { outlets } from './redfish-species.ts';

keepSpecies(outlets);
