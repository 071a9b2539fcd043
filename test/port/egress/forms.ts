/** Spellings of forbidden addresses; `:P` is the canary's port. */

const v4 = `127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 00000177.0.0.1 127.0.0.1. 127.255.255.254 0 0.0.0.0
  10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 100.64.0.1
  100.100.100.200 192.0.0.192 198.18.0.1 224.0.0.1 255.255.255.255 168.63.129.16 192.0.2.1 198.51.100.7 203.0.113.9 240.0.0.1`

const v6 = `[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:a9fe:a9fe] [::127.0.0.1] [::7f00:1] [64:ff9b::7f00:1] [64:ff9b:1::1]
  [2002:7f00:1::] [2001:0:7f00:1::] [fe80::1] [fec0::1] [fc00::1] [fd00:ec2::254] [ff02::1] [::ffff:0:127.0.0.1] [2001:db8::1] [3fff::1]
  [5f00::1] [100::1] [0:0:0:0:0:0:0:1] [::0001] [fe80::1%25lo] [::1%25lo]`

const names = `localhost LOCALHOST localhost. a.localhost a.b.localhost. 127.0.0.1 ①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1 ⓛocalhost
  metadata.google.internal metadata.google.internal. instance-data router.lan printer.local db db.`

/** Used as hosts in `https://…:P/`. */
export const hosts: string[] = [v4, v6, names].flatMap((list) => list.split(/\s+/))

/**
 * Names that the tests' resolver knows, with their addresses. A CNAME shows only in where it ends.
 */
export const resolving: Record<string, string[]> = {
  'private.example.com': ['127.0.0.1'],
  'mixed.example.com': ['93.184.215.14', '127.0.0.1'],
  'mixed-last.example.com': ['127.0.0.1', '93.184.215.14'],
  'cname-to-localhost.example.com': ['127.0.0.1', '::1'],
  'only-aaaa.example.com': ['fd00:ec2::254'],
  'loopback6.example.com': ['::1'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'translated.example.com': ['64:ff9b::7f00:1'],
  'metadata.example.com': ['169.254.169.254'],
  'zone.example.com': ['fe80::1%lo'],
  'nowhere.example.com': [],
  'garbage.example.com': ['not an address'],
}

/** Complete URLs. */
export const urls: string[] = [
  'https://user@127.0.0.1:P/',
  'https://user:word@public.example.com:P/',
  'https://public.example.com@127.0.0.1:P/',
  'https://public.example.com\\@127.0.0.1:P/',
  'https://127.0.0.1:P#@public.example.com/',
  'https://127.0.0.1:P\\@public.example.com/',
  'https://127.0.0.1:P%2f@public.example.com/',
  'https:127.0.0.1:P',
  'https:///127.0.0.1:P',
  'https://///127.0.0.1:P/',
  'https:/\t/127.0.0.1:P/',
  'https://127.0.0.1\t:P/',
  ' https://127.0.0.1:P/',
  'https://1.1.1.1 &@2.2.2.2# @127.0.0.1:P/',
  'https://127.0.0.1:P\r\nHost: public.example.com',
  'https://public.example.com:P/a\r\nX-Header: value',
  'https://public.example.com:P/\u0000',
  'https://%31%32%37.0.0.1:P/',
  'https://[::1%25lo]:P/',
  'https://[::1:P/',
  'https://:P/',
  'https://',
  '//127.0.0.1:P/',
  '127.0.0.1:P',
  'http://127.0.0.1:P/',
  'http:127.0.0.1:P',
  'http:///127.0.0.1:P',
  'http://public.example.com/',
  'HTTP://PUBLIC.EXAMPLE.COM/',
  'ws://127.0.0.1:P/',
  'wss://127.0.0.1:P/',
  'file:///etc/passwd',
  'file://127.0.0.1:P/etc/passwd',
  'gopher://127.0.0.1:P/_x',
  'ftp://127.0.0.1:P/',
  'data:text/plain,x',
  'blob:https://127.0.0.1:P/x',
  'javascript:1',
  'unix:///var/run/docker.sock',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/x',
  'https+unix://127.0.0.1:P/',
  ...[
    21, 22, 23, 25, 53, 80, 110, 143, 445, 465, 587, 993, 2375, 3306, 5432, 6379, 9200, 10250,
    11211, 27017,
  ].map((port) => `https://public.example.com:${port}/`),
  'https://public.example.com:0/',
  'https://public.example.com:65536/',
  `https://public.example.com/${'a'.repeat(3_000)}`,
  // The service itself.
  'https://tendril.example.com/webhooks',
  'https://tendril.example.com./webhooks',
  'https://TENDRIL.example.com:443/webhooks',
  'https://node.example.com:7443/internal/letters',
]
