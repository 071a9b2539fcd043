import { BlockList, isIP } from 'node:net'

type Range = [prefix: string, bits: number]

/**
 * Ranges that are not public, or not ordinary hosts: IANA's special-purpose registry, and the
 * address of Azure's own services.
 */
const SPECIAL_V4: Range[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/**
 * All public IPv6 addresses. The ranges outside it that map or translate IPv4 addresses are refused
 * with the rest.
 */
const GLOBAL_V6: Range = ['2000::', 3]

/**
 * Special ranges inside it: protocol assignments including Teredo, documentation, and 6to4, which
 * can lead to any IPv4 address.
 */
const SPECIAL_V6: Range[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const listOf = (family: 'ipv4' | 'ipv6', ranges: Range[]): BlockList => {
  const list = new BlockList()
  for (const [prefix, bits] of ranges) list.addSubnet(prefix, bits, family)
  return list
}

const specialV4 = listOf('ipv4', SPECIAL_V4)
const globalV6 = listOf('ipv6', [GLOBAL_V6])
const specialV6 = listOf('ipv6', SPECIAL_V6)

/**
 * Whether an IP address belongs to the public internet. Takes addresses in the form that resolvers
 * and the URL parser produce.
 */
export const isPublicAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !specialV4.check(address, 'ipv4')
    case 6:
      return globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6')
    default:
      return false
  }
}
