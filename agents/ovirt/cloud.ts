import type { Cloud } from '../shared/cloud/instance-agent.ts';
import { OvirtAccount } from './account.ts';
import { settingsOf, type OvirtSettings } from './parameters.ts';

export const ovirtCloud: Cloud<OvirtSettings> = {
  settingsOf,
  open: (settings, reach) => new OvirtAccount(settings, reach),
};
