// Emulated clouds; each device runs in this process.
import './aws.ts';
import './aws-volume.ts';
import './aws-security-group.ts';
import './azure.ts';
import './ovirt.ts';
import './vsphere.ts';
import './gce.ts';
import './openstack.ts';
import './hetzner.ts';
import './proxmox.ts';
import { testTogether } from './harness.ts';

testTogether(36);
