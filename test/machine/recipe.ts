export const SUITE = 'bookworm';
export const PACKAGES = [
  ...['systemd', 'systemd-sysv', 'dbus', 'udev', 'kmod', 'initramfs-tools', 'linux-image-amd64'],
  ...['containerd', 'runc', 'iproute2', 'util-linux', 'ca-certificates', 'netbase', 'qemu-guest-agent', 'busybox-static'],
];

export const HOST_NAME = 'machine-1';
/** RFC 2544 sets this block aside for tests between networks. */
export const GUEST_ADDRESS = '198.18.200.2';
export const HOST_ADDRESS = '198.18.200.1';
/** Where its container writes its counter: a serial line that QEMU keeps in a file. */
export const COUNTER_DEVICE = '/dev/ttyS1';
export const POD_IMAGE = 'localhost/busybox:test';

/** What is in the machine beside its packages, by path. None of it is the project's own: that is installed as its page says. */
export const FILES: Readonly<Record<string, string>> = {
  'etc/hostname': `${HOST_NAME}\n`,
  'etc/hosts': `127.0.0.1 localhost\n${GUEST_ADDRESS} ${HOST_NAME}\n`,
  'etc/fstab': '/dev/vda / ext4 defaults 0 1\n/dev/vdb /opt/nodefence ext4 defaults 0 0\n',
  'etc/systemd/network/10-wire.network': `[Match]\nName=en* eth*\n[Network]\nAddress=${GUEST_ADDRESS}/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n`,
  'etc/systemd/journald.conf.d/console.conf': '[Journal]\nForwardToConsole=yes\nTTYPath=/dev/ttyS0\nMaxLevelConsole=info\n',
  // As Debian loads what an administrator names.
  'etc/modules-load.d/watchdogs.conf': 'i6300esb\n',
  'etc/containerd/config.toml': [
    'version = 2',
    '[plugins."io.containerd.grpc.v1.cri"]',
    `sandbox_image = "${POD_IMAGE}"`,
    '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]',
    'runtime_type = "io.containerd.runc.v2"',
    '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]',
    'SystemdCgroup = true',
    '',
  ].join('\n'),
  'opt/nodefence/.keep': '',
};

/** Switched on, or to nothing: a machine that may sleep proves nothing, and a login costs time. */
export const UNIT_LINKS: Readonly<Record<string, string>> = {
  'etc/systemd/system/multi-user.target.wants/systemd-networkd.service': '/lib/systemd/system/systemd-networkd.service',
  'etc/systemd/system/sleep.target': '/dev/null',
  'etc/systemd/system/serial-getty@ttyS0.service': '/dev/null',
  'etc/systemd/system/serial-getty@ttyS1.service': '/dev/null',
  'etc/systemd/system/getty@tty1.service': '/dev/null',
  'etc/systemd/system/apt-daily.timer': '/dev/null',
  'etc/systemd/system/apt-daily-upgrade.timer': '/dev/null',
  'etc/systemd/system/e2scrub_all.timer': '/dev/null',
};
