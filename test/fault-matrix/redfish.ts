import { testFaultProfile } from './harness.ts';
import { bmcs, outlets } from './redfish-profile.ts';

testFaultProfile(bmcs);
testFaultProfile(outlets);
