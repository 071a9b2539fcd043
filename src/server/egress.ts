/** How this deployment calls addresses that workspaces chose. */

import type { Config } from '#config/config'
import type { Log } from '#kernel/log'
import { createEgress, type Egress, type EgressOptions } from '#port/egress/egress'

/** The `host:port` of a URL. */
const pairsOf = (text: string): string[] => {
  const url = URL.parse(text)
  return url ? [`${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`] : []
}

export const egressOf = (
  { egressAllow, publicUrl, nodeUrl }: Config,
  { log, resolve }: { log: Log; resolve?: EgressOptions['resolve'] },
): Egress => {
  if (egressAllow.length > 0)
    log.warn(
      { pairs: egressAllow },
      'EGRESS_ALLOW: webhooks and fetch_url may call these, though they are not public',
    )
  return createEgress({
    rules: { allow: new Set(egressAllow), own: new Set([publicUrl, nodeUrl].flatMap(pairsOf)) },
    ...(resolve ? { resolve } : {}),
  })
}
