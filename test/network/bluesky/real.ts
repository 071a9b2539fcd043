/** The real PDS that `npm run network:bluesky` started. */
import type { PdsCase } from '#test/support/network/pds-client'

export const REAL_PDS_VARIABLE = 'TENDRIL_REAL_PDS'

export interface RealPds {
  url: string
  plcUrl: string
  secret: string
  adminPassword: string
}

/** For files that this script runs. */
export const realPds = (): PdsCase => {
  const given = process.env[REAL_PDS_VARIABLE]
  if (!given) throw new Error('run this by npm run network:bluesky')
  const { adminPassword, ...pds } = JSON.parse(given) as RealPds
  const authorization = `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`
  return {
    ...pds,
    async takeDown(did) {
      const answer = await fetch(`${pds.url}/xrpc/com.atproto.admin.updateSubjectStatus`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body: JSON.stringify({
          subject: { $type: 'com.atproto.admin.defs#repoRef', did },
          takedown: { applied: true, ref: 'test' },
        }),
      })
      if (!answer.ok) throw new Error(`taking down ${did}: ${answer.status}`)
    },
  }
}
