import type { Cloud } from '../shared/cloud/instance-agent.ts';
import { VsphereAccount } from './account.ts';
import { settingsOf, type VsphereSettings } from './parameters.ts';

export const vsphereCloud: Cloud<VsphereSettings> = {
  settingsOf,
  open: (settings, reach) => new VsphereAccount(settings, reach),
};
