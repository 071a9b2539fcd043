import { networkCases } from '#test/cases/network'
import { blueskyCase } from '#test/support/network/bluesky-case'
import { newPdsUser } from '#test/support/network/pds-client'
import { realPds } from './real.ts'

const pds = realPds()

// A PDS alone counts nothing: that is for an AppView.
networkCases(
  'bluesky, on a real PDS',
  async () => ({
    ...(await blueskyCase({ ...pds, account: () => newPdsUser(pds) })),
    async [Symbol.asyncDispose]() {},
  }),
  { counts: false },
)
