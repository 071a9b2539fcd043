import { createEgress, type Egress } from '#port/egress/egress'

/** Calls these addresses on loopback and no others that are not public. */
export const egressTo = (...urls: string[]): Egress =>
  createEgress({ rules: { allow: new Set(urls.map((url) => new URL(url).host)), own: new Set() } })
