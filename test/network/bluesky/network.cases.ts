import { marksCases } from '#test/cases/marks'
import { type NetworkCase, networkCases } from '#test/cases/network'
import { blueskyCase } from '#test/support/network/bluesky-case'
import { newPdsUser } from '#test/support/network/pds-client'
import { realPds } from './real.ts'

const pds = realPds()

const opening = async (): Promise<NetworkCase> => ({
  ...(await blueskyCase({ ...pds, account: () => newPdsUser(pds) })),
  async [Symbol.asyncDispose]() {},
})

// A PDS alone counts nothing: that is for an AppView.
networkCases('bluesky, on a real PDS', opening, { counts: false })
marksCases('bluesky, on a real PDS', opening)
