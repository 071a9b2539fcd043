import { pdsCases } from '#test/cases/pds'
import { openPds } from '#test/support/network/pds'
import { use } from '#test/support/use'

const pds = use(openPds)

pdsCases('the fake PDS', {
  get url() {
    return pds.url
  },
  get plcUrl() {
    return pds.plcUrl
  },
  get secret() {
    return pds.secret
  },
  takeDown: async (did) => pds.setStatus(did, 'takendown'),
})
